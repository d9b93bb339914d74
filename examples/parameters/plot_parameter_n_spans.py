"""
n_spans: how many spans
=======================

The number of spans of the ordered cut, on a motion with six.
"""

# %%
# With too few, different activities share a span; with too many, transitions and noise become spans. The
# number above a boundary is its confidence in percent.
import matplotlib.pyplot as plt
import numpy as np

import seqspan
from seqspan.datasets import make_motion
from seqspan.plots import STYLE, plot_spans

X, labels = make_motion(1800, 30, span_seconds=3, rng=0)
samples, labels = (X - X.mean(axis=1, keepdims=True)).T[::5], labels[::5]
counts = {"too few: 3": 3, "right: 6": 6, "too many: 10": 10}
found = seqspan.segment(samples)
recuts = {name: found.recut(n_spans=k) for name, k in counts.items()}
plt.style.use(STYLE)
figure, ax = plt.subplots(figsize=(9, 3.2))
plot_spans(ax, {"truth": labels} | {name: recut.labels for name, recut in recuts.items()})
for row, recut in enumerate(recuts.values(), start=1):
    lengths = np.diff(recut.boundaries, prepend=-100, append=1000)
    for span, before, after in zip(recut.spans[1:], lengths[:-1], lengths[1:], strict=True):
        # so that numbers do not overlap
        side = "right" if after < 15 else "left" if before < 15 else "center"
        ax.text(span.start, row - 0.37, f"{100 * span.confidence:.0f}", ha=side, va="bottom", fontsize=8)
plt.show()
