"""
time_scale: how fast things happen in a stream
==============================================

The number of samples over which neighbours say the same, for ``partial_fit``, on a motion at 30 frames per
second. By default it is found out while samples arrive.
"""

# %%
# No span of a stream is shorter than the time scale, and four places for boundaries are tried in it. Too
# large a scale misses short activities; a smaller one than needed only takes time.
import matplotlib.pyplot as plt
import numpy as np

from seqspan import OSC
from seqspan.cuts import labels_from_boundaries
from seqspan.datasets import make_motion
from seqspan.plots import STYLE, plot_spans

X, labels = make_motion(7200, 20, span_seconds=6, rng=1)
samples, labels = X.T[::4], labels[::4]
found = {}
for scale in (2, "auto", 400):
    osc = OSC(preprocess="centre", time_scale=scale, n_jobs=1)
    for block in np.array_split(samples, 10):
        osc.partial_fit(block)
    spans = labels_from_boundaries(osc.boundaries_, len(samples))
    found[f"{scale}: {osc.time_scale_:.0f} samples"] = osc.span_labels_[spans]
plt.style.use(STYLE)
figure, ax = plt.subplots(figsize=(9, 3))
plot_spans(ax, {"truth": labels, **found})
plt.show()
