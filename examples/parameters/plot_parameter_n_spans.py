"""
n_spans: how many stretches of time
===================================

The number of spans of the ordered cut, on a motion with six.
"""

# %%
# With too few spans different activities share one; with too many, blends and noise become spans. The
# number above a boundary is its confidence in percent.
import matplotlib.pyplot as plt
import numpy as np

from seqspan import OSC
from seqspan.datasets import make_motion
from seqspan.plots import STYLE, plot_spans

X, labels = make_motion(1800, 30, span_seconds=3, rng=0)
samples, labels = (X - X.mean(axis=1, keepdims=True)).T[::5], labels[::5]
counts = {"too few: 3": 3, "right: 6": 6, "too many: 10": 10}
fits = {
    name: OSC(cut="ordered", n_spans=k, n_jobs=1, random_state=0).fit(samples) for name, k in counts.items()
}
plt.style.use(STYLE)
figure, ax = plt.subplots(figsize=(9, 3.2))
plot_spans(ax, {"truth": labels} | {name: osc.labels_ for name, osc in fits.items()})
for row, osc in enumerate(fits.values(), start=1):
    gaps = np.diff(osc.boundaries_, prepend=-100, append=1000)
    for boundary, sure, before, after in zip(
        osc.boundaries_, osc.confidence_, gaps[:-1], gaps[1:], strict=True
    ):
        side = (
            "right" if after < 15 else "left" if before < 15 else "center"
        )  # so that numbers do not overlap
        ax.text(boundary, row - 0.37, f"{100 * sure:.0f}", ha=side, va="bottom", fontsize=8)
plt.show()
