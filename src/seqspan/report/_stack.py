"""Timelines of several recordings, one below the other, in the same colours and on the same scale."""

from __future__ import annotations

from html import escape

from seqspan._core.spans import Span
from seqspan._core.text import count_of, printable, title_of
from seqspan.plots import COLOURS
from seqspan.report._content import Content
from seqspan.results.tables import write_time

WIDTH = 1000  # units of the drawing: the longest recording
HEIGHT = 24
MANY = 12  # recordings; more of them are thinner, in a box that scrolls
MAX_ROWS = 1000  # more recordings than that are not drawn


def draw_stack(content: Content) -> str:
    """Draw one row for each recording as HTML with inline SVG; empty if there is only one."""
    if not content.several:
        return ""
    longest = max(content.recording.lengths)
    names = content.recording.names
    own: list[list[Span]] = [[] for _ in names]
    for span in content.found.spans:
        own[span.recording].append(span)
    drawn = zip(names[:MAX_ROWS], own[:MAX_ROWS], strict=True)
    rows = "".join(_draw_row(content, name, spans, longest) for name, spans in drawn)
    more = len(names) - MAX_ROWS
    note = f'<p class="quiet">{more} more recordings are in segments.csv.</p>' if more > 0 else ""
    box = 'class="recordings many" tabindex="0"' if len(names) > MANY else 'class="recordings"'
    return f'<div {box} role="list" aria-label="{len(names)} recordings">{rows}</div>{note}'


def _draw_row(content: Content, name: str, own: list[Span], longest: int) -> str:
    """The name of a recording and its spans."""
    first, scale, unit = own[0].start, WIDTH / longest, escape(printable(content.recording.time_unit))
    bars = "".join(
        f'<rect x="{scale * (span.start - first):.2f}" width="{scale * (span.end - span.start):.2f}" '
        f'height="{HEIGHT}" fill="{COLOURS[span.label % len(COLOURS)]}"><title>'
        f"{escape(printable(title_of(span.label, content.found.label_names)))}: "
        f"{write_time(span.start_time)} to {write_time(span.end_time)} {unit}</title></rect>"
        for span in own
    )
    return (
        f'<div class="recording-row" role="listitem"><span>{escape(printable(name))}</span>'
        f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" preserveAspectRatio="none" role="img" '
        f'aria-label="{count_of(len(own), "span")} of {escape(printable(name))}">{bars}</svg></div>'
    )
