"""Result folders: what is written, fingerprints, caches."""

from seqspan.results.folder import Solved, load_result, write_labels, write_segments

__all__ = ["Solved", "load_result", "write_labels", "write_segments"]
