"""How good the segmentations are: seqspan's variants and its peers on labelled sets.

    python -m benchmarks.quality --data DIR

sets -> lanes (workers run methods: variants, peers) -> scores -> rows -> tables, timelines.
"""
