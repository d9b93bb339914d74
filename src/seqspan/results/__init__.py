"""Result folders: what is written, fingerprints, caches."""

from seqspan.results.folder import (
    Solved,
    Span,
    edge_times,
    load_result,
    make_spans,
    write_labels,
    write_segments,
)

__all__ = ["Solved", "Span", "edge_times", "load_result", "make_spans", "write_labels", "write_segments"]
