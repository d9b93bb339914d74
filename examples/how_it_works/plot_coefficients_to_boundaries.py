"""
From coefficients to boundaries
===============================

There are three ways from the coefficients Z to spans. Peaks of the change from one column to the next give
boundaries and nothing else. The normalised cut groups samples and forgets the order of time. The ordered cut
divides time first, and then decides which spans belong together.
"""

# %%
# Three subspaces, the first of which returns twice. The noise is strong enough to make it hard.
import matplotlib.pyplot as plt
import numpy as np

from seqspan import OSC
from seqspan.cuts import boundaries_from_labels, boundary_strength
from seqspan.datasets import add_noise, make_recurring_subspaces
from seqspan.plots import STYLE, plot_spans

X, labels = make_recurring_subspaces((0, 1, 0, 2, 0), samples_per_span=(40, 30, 30, 40, 30), rng=3)
X = add_noise(X, psnr=3, rng=0)
true = boundaries_from_labels(labels)

# %%
# Z is the same in all three cases; only the cut differs. Peaks and the ordered cut are given the number of
# spans, 5, the normalised cut the number of labels, 3.
peaks = OSC(cut="peaks", n_spans=5).fit(X.T)
ncut = OSC(cut="ncut", n_subspaces=3, random_state=0).fit(X.T)
ordered = OSC(cut="ordered", n_spans=5, random_state=0).fit(X.T)

# %%
# The curve is the mean change of the coefficients from one sample to the next. Only one of the true
# boundaries (grey lines) stands out here, and peaks of the noise are mistaken for the others. Peaks also give
# each span a label of its own. Both cuts look at more than neighbours: they find all boundaries, and that the
# first subspace returns.
plt.style.use(STYLE)
figure, (top, bottom) = plt.subplots(2, height_ratios=[2, 3], figsize=(9, 4.8), sharex=True)
top.plot(np.arange(1, len(labels)), boundary_strength(peaks.coef_))
for boundary in true:
    top.axvline(boundary, color="0.75", linewidth=1, zorder=0)
top.set(xlim=(0, len(labels)), ylabel="mean |ZR|", title="change of the coefficients")
found = {
    "truth": labels,
    "peaks": peaks.labels_,
    "normalised cut": ncut.labels_,
    "ordered cut": ordered.labels_,
}
plot_spans(bottom, found, title="spans, one colour per label")
plt.show()
