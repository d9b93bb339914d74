"""Formats of editing programs, in which every span becomes a clip of the film."""

from __future__ import annotations

import json
from fractions import Fraction
from math import ceil
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from seqspan._core.spans import Span
from seqspan._core.text import noun_of
from seqspan.exports._timeline import Timeline

CLOCK_RATE = 25  # counts per second in the time codes of films whose own rate cannot be one
DROPPED_SHARE = Fraction(1, 1000)  # by which 29.97 frames per second are fewer than 30


def write_edl(timeline: Timeline) -> str:
    """Write a CMX 3600 edit decision list, in non-drop time code."""
    lines = [f"TITLE: {timeline.name}", "FCM: NON-DROP FRAME", ""]
    for number, span in enumerate(timeline.spans, 1):
        times = [_timecode(timeline, time) for time in (span.start_time, span.end_time)]
        lines.append(f"{number:03d}  AX       V     C        {' '.join(times + times)}")
        comment = f"{noun_of(timeline.kind).upper()} {timeline.title(span.label)}"
        lines += [f"* FROM CLIP NAME: {timeline.name}", f"* COMMENT: {comment}", ""]
    return "\n".join(lines)


def _timecode(timeline: Timeline, time: float) -> str:
    """Write hours, minutes, seconds and frames; 29.97 frames per second count as 30.

    A time code counts whole frames per second. A film with another rate, such as one picture every four
    seconds or a varying rate, is timed by the clock, with at least `CLOCK_RATE` counts per second.
    """
    nominal = round(timeline.rate)
    if abs(timeline.rate - nominal) <= DROPPED_SHARE * nominal:
        count = timeline.frame(time)
    else:
        nominal = max(CLOCK_RATE, ceil(timeline.rate))
        count = round(time * nominal)
    seconds, frames = divmod(count, nominal)
    minutes, seconds = divmod(seconds, 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours:02d}:{minutes:02d}:{seconds:02d}:{frames:02d}"


def write_otio(timeline: Timeline) -> str:
    """Write an OpenTimelineIO timeline."""
    track = {
        "OTIO_SCHEMA": "Track.1",
        "name": "spans",
        "kind": "Video",
        "children": [_otio_clip(timeline, span) for span in timeline.spans],
    }
    document = {
        "OTIO_SCHEMA": "Timeline.1",
        "name": timeline.name,
        "global_start_time": None,
        "tracks": {"OTIO_SCHEMA": "Stack.1", "name": "tracks", "children": [track]},
    }
    return json.dumps(document, indent=1)


def _otio_clip(timeline: Timeline, span: Span) -> dict[str, Any]:
    """Describe a span as a clip that refers to the film."""
    whole = timeline.spans[0].start_time, timeline.spans[-1].end_time
    media = {
        "OTIO_SCHEMA": "ExternalReference.1",
        "target_url": Path(timeline.source).absolute().as_uri(),
        "available_range": _otio_range(timeline, *whole),
    }
    details = {"label": span.label, "confidence": span.confidence}
    return {
        "OTIO_SCHEMA": "Clip.2",
        "name": timeline.heading(span.label),
        "source_range": _otio_range(timeline, span.start_time, span.end_time),
        "media_references": {"DEFAULT_MEDIA": media},
        "active_media_reference_key": "DEFAULT_MEDIA",
        "metadata": {"seqspan": details},
    }


def _otio_range(timeline: Timeline, start: float, end: float) -> dict[str, Any]:
    """Describe the time from start to end in frames."""
    first, last = timeline.frame(start), timeline.frame(end)

    def frames(value: int) -> dict[str, Any]:
        return {"OTIO_SCHEMA": "RationalTime.1", "value": float(value), "rate": float(timeline.rate)}

    return {"OTIO_SCHEMA": "TimeRange.1", "start_time": frames(first), "duration": frames(last - first)}


def write_fcpxml(timeline: Timeline) -> str:
    """Write a Final Cut Pro project with the spans in order."""
    root = ElementTree.Element("fcpxml", version="1.8")
    total = _fcp_time(timeline, timeline.spans[-1].end_time)
    _fcp_resources(ElementTree.SubElement(root, "resources"), timeline, total)
    event = ElementTree.SubElement(ElementTree.SubElement(root, "library"), "event", name=timeline.name)
    project = ElementTree.SubElement(event, "project", name=timeline.name)
    sequence = ElementTree.SubElement(project, "sequence", format="r1", duration=total, tcFormat="NDF")
    spine = ElementTree.SubElement(sequence, "spine")
    first = timeline.frame(timeline.spans[0].start_time)
    for span in timeline.spans:
        start, end = timeline.frame(span.start_time), timeline.frame(span.end_time)
        ElementTree.SubElement(
            spine,
            "asset-clip",
            name=timeline.heading(span.label),
            ref="r2",
            offset=_fcp_frames(timeline, start - first),
            start=_fcp_frames(timeline, start),
            duration=_fcp_frames(timeline, end - start),
        )
    ElementTree.indent(root, " ")
    head = '<?xml version="1.0" encoding="UTF-8"?>\n<!DOCTYPE fcpxml>\n'
    return head + ElementTree.tostring(root, encoding="unicode") + "\n"


def _fcp_resources(resources: ElementTree.Element, timeline: Timeline, total: str) -> None:
    """Add the format of the frames, and the film."""
    width, height = timeline.size
    frame = _fcp_frames(timeline, 1)
    ElementTree.SubElement(
        resources, "format", id="r1", frameDuration=frame, width=str(width), height=str(height)
    )
    url = Path(timeline.source).absolute().as_uri()
    asset = {"name": timeline.name, "src": url, "start": "0s", "duration": total, "hasVideo": "1"}
    ElementTree.SubElement(resources, "asset", id="r2", format="r1", attrib=asset)


def _fcp_time(timeline: Timeline, time: float) -> str:
    """Write a time, rounded to frames."""
    return _fcp_frames(timeline, timeline.frame(time))


def _fcp_frames(timeline: Timeline, frames: int) -> str:
    """Write a number of frames as rational seconds, as the format requires."""
    seconds = Fraction(frames) / timeline.rate
    return f"{seconds}s"
