"""
time_scale: how fast things happen in a stream
==============================================

The number of samples in which something can happen, for ``partial_fit``, on a motion at 30 frames per second.
"""

# %%
# Too small a scale follows every swing of an arm; too large a scale misses whole activities. It also decides
# how long you wait for a boundary to become final.
import matplotlib.pyplot as plt
import numpy as np

from seqspan import OSC
from seqspan.cuts import labels_from_boundaries
from seqspan.datasets import make_motion
from seqspan.plots import STYLE, plot_spans

X, labels = make_motion(7200, 20, span_seconds=6, rng=1)
samples, labels = (X - X.mean(axis=1, keepdims=True)).T[::4], labels[::4]
scales = {"too little: 3": 3, "about right: 12": 12, "too much: 400": 400}
found = {}
for name, scale in scales.items():
    osc = OSC(time_scale=scale, n_jobs=1)
    for block in np.array_split(samples, 10):
        osc.partial_fit(block)
    osc.partial_fit(block[:0], last=True)
    spans = labels_from_boundaries(osc.boundaries_, len(samples))
    found[f"{name}, final\nafter {osc.delay_} samples"] = osc.span_labels_[spans]
plt.style.use(STYLE)
figure, ax = plt.subplots(figsize=(9, 3))
plot_spans(ax, {"truth": labels, **found})
plt.show()
