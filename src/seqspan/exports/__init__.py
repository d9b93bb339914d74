"""Write spans in the formats of other programs: ``write_export("edl", timeline, path)``.

=========  ======================================================  ==========================
name       opened by                                               available for
=========  ======================================================  ==========================
edl        editing programs (CMX 3600)                             video files
otio       OpenTimelineIO                                          video files
fcpxml     Final Cut Pro, DaVinci Resolve                          video files
chapters   ffmpeg, mkvmerge (FFMETADATA)                           video files
elan       ELAN (.eaf)                                             anything measured in time
audacity   Audacity (label track)                                  anything measured in time
depth      spreadsheets, core-logging programs (interval table)    anything measured in length
=========  ======================================================  ==========================
"""

from __future__ import annotations

from os import PathLike
from pathlib import Path

from seqspan._core.checks import check_choice
from seqspan.exports._annotation import write_audacity, write_chapters, write_depth, write_elan
from seqspan.exports._editing import write_edl, write_fcpxml, write_otio
from seqspan.exports._split import split_video
from seqspan.exports._timeline import SECONDS, Format, Timeline, make_timeline
from seqspan.recording import LENGTH_UNITS

__all__ = ["EXPORTS", "make_timeline", "split_video", "write_export"]

#: What a format needs of a recording.
_REQUIREMENTS = {
    "video": "a video file",
    "time": "samples measured in time",
    "length": "samples measured in length, such as depth",
}

#: Every format by name, as on the command line: its file ending (``suffix``) and what it requires.
EXPORTS: dict[str, Format] = {
    "edl": Format(".edl", write_edl, "video"),
    "otio": Format(".otio", write_otio, "video"),
    "fcpxml": Format(".fcpxml", write_fcpxml, "video"),
    "chapters": Format(".ffmetadata", write_chapters, "video"),
    "elan": Format(".eaf", write_elan, "time"),
    "audacity": Format(".labels.txt", write_audacity, "time"),
    "depth": Format(".depth.csv", write_depth, "length"),
}


def check_export(name: str, timeline: Timeline) -> None:
    """Refuse a format that does not fit a recording.

    Parameters
    ----------
    name : str
        A name in :data:`EXPORTS`.
    timeline : Timeline

    Raises
    ------
    ValueError
        The message lists the formats that fit.

    Examples
    --------
    >>> check_export("elan", Timeline("jumps.amc", "mocap", "s", ()))
    >>> check_export("edl", Timeline("jumps.amc", "mocap", "s", ()))  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    ValueError: jumps.amc: the export 'edl' needs a video file; ... Exports that fit: elan, audacity.
    """
    check_choice("export", name, EXPORTS)
    fitting = [other for other, format in EXPORTS.items() if _fits(format, timeline)]
    if name not in fitting:
        raise ValueError(
            f"{timeline.name}: the export {name!r} needs {_REQUIREMENTS[EXPORTS[name].requires]}; this is "
            f"{timeline.description}. Exports that fit: {', '.join(fitting) or 'none'}."
        )


def _fits(format: Format, timeline: Timeline) -> bool:
    """Whether a recording has what a format requires."""
    if format.requires == "video":
        return timeline.frame_rate is not None
    return timeline.time_unit in (SECONDS if format.requires == "time" else LENGTH_UNITS)


def write_export(name: str, timeline: Timeline, path: str | PathLike[str]) -> None:
    """Write the spans of a recording.

    Parameters
    ----------
    name : str
        A name in :data:`EXPORTS`.
    timeline : Timeline
    path : path
        The file to write.

    Examples
    --------
    >>> import tempfile
    >>> from seqspan._core.spans import Span
    >>> jumps = Timeline("jumps.amc", "mocap", "s", (Span(0, 120, 0.0, 1.0, 0), Span(120, 180, 1.0, 1.5, 1)))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_export("audacity", jumps, Path(folder) / "jumps.txt")
    ...     print((Path(folder) / "jumps.txt").read_text().expandtabs(9))
    0.000000 1.000000 A
    1.000000 1.500000 B
    <BLANKLINE>
    """
    check_export(name, timeline)
    # CMX 3600 and Audacity expect the same line ends on every system
    Path(path).write_text(EXPORTS[name].write(timeline), encoding="utf-8", newline="\n")
