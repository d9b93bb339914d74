"""
penalty and zero_diagonal: what coefficients should look like
=============================================================

The same samples with sparse coefficients, with sparse coefficients and no sample representing itself, and
with coefficients of low rank.
"""

# %%
# Sparse coefficients pick a few samples; coefficients of low rank are spread over nearly all of them. With a
# zero diagonal every sample has to be represented by others.
import matplotlib.pyplot as plt
import numpy as np

from seqspan import OSC
from seqspan.datasets import add_noise, make_subspaces
from seqspan.plots import STYLE, plot_matrix

X, labels = make_subspaces(5, 4, 60, (10, 24, 12, 24, 10), rng=0)
X = add_noise(X, psnr=8, rng=0)
settings = {
    'penalty="l1"': {},
    "zero_diagonal=True": {"zero_diagonal": True},
    'penalty="nuclear"': {"penalty": "nuclear", "solver": "splitting"},
}
plt.style.use(STYLE)
figure, axes = plt.subplots(1, 3, figsize=(9.5, 3.9), sharey=True)
for ax, (name, given) in zip(axes, settings.items(), strict=True):
    Z = OSC(5, random_state=0, **given).fit(X.T).coef_
    rank = np.linalg.matrix_rank(Z, 1e-3 * np.abs(Z).max())
    title = f"{name}\n{np.mean(np.abs(Z) > 1e-3):.0%} not zero, rank {rank}"
    plot_matrix(ax, Z, title=title).label_outer()
plt.show()
