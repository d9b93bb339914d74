"""
min_length: how short a span may be
===================================

The number of samples in the shortest span that the ordered cut allows, on a motion whose shortest span has
20.
"""

# %%
# The motion has six spans, and eight are asked for. If spans may be short, the two extra ones are transitions
# between activities. If they must be long, short activities take samples from their neighbours.
import matplotlib.pyplot as plt

from seqspan import OSC
from seqspan.datasets import make_motion
from seqspan.plots import STYLE, plot_spans

X, labels = make_motion(1800, 30, span_seconds=3, rng=0)
samples, labels = (X - X.mean(axis=1, keepdims=True)).T[::5], labels[::5]
lengths = {"too little: 2": 2, "about right: 18": 18, "too much: 45": 45}
found = {
    name: OSC(cut="ordered", n_spans=8, min_length=length, n_jobs=1, random_state=0).fit(samples).labels_
    for name, length in lengths.items()
}
plt.style.use(STYLE)
figure, ax = plt.subplots(figsize=(8.5, 2.8))
plot_spans(ax, {"truth": labels, **found})
plt.show()
