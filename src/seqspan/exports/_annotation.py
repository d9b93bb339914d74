"""Formats that say what happens when: chapters, annotation tiers, label tracks, depth intervals."""

from __future__ import annotations

import csv
import io
import re
from pathlib import Path
from xml.etree import ElementTree

from seqspan.exports._timeline import Timeline

XSI = "http://www.w3.org/2001/XMLSchema-instance"
ELAN_SCHEMA = "http://www.mpi.nl/tools/elan/EAFv3.0.xsd"


def write_chapters(timeline: Timeline) -> str:
    """Write a metadata file for ``ffmpeg -i FILM -i THIS -map_chapters 1 -c copy chaptered.mkv``."""
    lines = [";FFMETADATA1", f"title={_escape_metadata(timeline.name)}"]
    for span in timeline.spans:
        start, end = (round(1000 * timeline.seconds(time)) for time in (span.start_time, span.end_time))
        title = _escape_metadata(timeline.heading(span.label))
        lines += ["[CHAPTER]", "TIMEBASE=1/1000", f"START={start}", f"END={end}", f"title={title}"]
    return "\n".join(lines) + "\n"


def _escape_metadata(text: str) -> str:
    """Put a backslash before characters that mean something to FFmpeg."""
    return re.sub(r"([=;#\\\n])", r"\\\1", text)


def write_audacity(timeline: Timeline) -> str:
    """Write a label track: start and end in seconds, and label."""
    return "".join(
        f"{timeline.seconds(span.start_time):.6f}\t{timeline.seconds(span.end_time):.6f}\t"
        f"{timeline.title(span.label)}\n"
        for span in timeline.spans
    )


def write_elan(timeline: Timeline) -> str:
    """Write an ELAN document with one tier, "spans", in milliseconds."""
    root = ElementTree.Element(
        "ANNOTATION_DOCUMENT",
        {
            "AUTHOR": "seqspan",
            "DATE": "1970-01-01T00:00:00+00:00",  # fixed, so that equal spans give equal files
            "FORMAT": "3.0",
            "VERSION": "3.0",
            "xmlns:xsi": XSI,
            "xsi:noNamespaceSchemaLocation": ELAN_SCHEMA,
        },
    )
    header = ElementTree.SubElement(root, "HEADER", MEDIA_FILE="", TIME_UNITS="milliseconds")
    if timeline.kind == "video":
        url = Path(timeline.source).absolute().as_uri()
        ElementTree.SubElement(header, "MEDIA_DESCRIPTOR", MEDIA_URL=url, MIME_TYPE="video/*")
    _elan_spans(root, timeline)
    ElementTree.SubElement(
        root,
        "LINGUISTIC_TYPE",
        LINGUISTIC_TYPE_ID="default-lt",
        TIME_ALIGNABLE="true",
        GRAPHIC_REFERENCES="false",
    )
    ElementTree.indent(root, " ")
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ElementTree.tostring(root, encoding="unicode") + "\n"


def _elan_spans(root: ElementTree.Element, timeline: Timeline) -> None:
    """Add the times in order, and an annotation from each to the next."""
    order = ElementTree.SubElement(root, "TIME_ORDER")
    tier = ElementTree.SubElement(root, "TIER", LINGUISTIC_TYPE_REF="default-lt", TIER_ID="spans")
    times = [span.start_time for span in timeline.spans] + [timeline.spans[-1].end_time]
    for number, time in enumerate(times, 1):
        milliseconds = str(round(1000 * timeline.seconds(time)))
        ElementTree.SubElement(order, "TIME_SLOT", TIME_SLOT_ID=f"ts{number}", TIME_VALUE=milliseconds)
    for number, span in enumerate(timeline.spans, 1):
        annotation = ElementTree.SubElement(
            ElementTree.SubElement(tier, "ANNOTATION"),
            "ALIGNABLE_ANNOTATION",
            ANNOTATION_ID=f"a{number}",
            TIME_SLOT_REF1=f"ts{number}",
            TIME_SLOT_REF2=f"ts{number + 1}",
        )
        ElementTree.SubElement(annotation, "ANNOTATION_VALUE").text = timeline.title(span.label)


def write_depth(timeline: Timeline) -> str:
    """Write an interval table: from, to, label, and confidence of the upper boundary."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    unit = timeline.time_unit
    writer.writerow([f"from_{unit}", f"to_{unit}", "label", "confidence"])
    for span in timeline.spans:
        confidence = "" if span.confidence is None else f"{span.confidence:.3g}"
        depths = [f"{span.start_time:.10g}", f"{span.end_time:.10g}"]
        writer.writerow([*depths, timeline.title(span.label), confidence])
    return text.getvalue()
