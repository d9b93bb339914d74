"""
min_length: how short a span may be
===================================

The least number of samples of a span, for the ordered cut, on a motion whose shortest span has 20.
"""

# %%
# The motion has six spans, eight are asked for. Where they may be short, the two that are left over go to
# blends between activities; where they must be long, activities that are shorter are stretched over their
# neighbours.
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
