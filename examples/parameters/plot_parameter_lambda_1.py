"""
lambda_1: how many samples represent one
========================================

The weight of the size of the coefficients, on five subspaces in a row with noise.
"""

# %%
# Too small a weight lets samples of other subspaces in. With too large a weight no coefficient is left, and
# the normalised cut, which also links neighbours in time, divides time evenly.
import matplotlib.pyplot as plt

from seqspan import OSC
from seqspan.datasets import add_noise, make_subspaces
from seqspan.metrics import clustering_error
from seqspan.plots import STYLE, plot_matrix

X, labels = make_subspaces(5, 4, 60, (10, 24, 12, 24, 10), rng=0)
X = add_noise(X, psnr=8, rng=0)
plt.style.use(STYLE)
figure, axes = plt.subplots(1, 3, figsize=(9.5, 3.9), sharey=True)
for ax, (name, weight) in zip(
    axes, {"too little": 0.0003, "about right": 0.1, "too much": 0.8}.items(), strict=True
):
    osc = OSC(5, lambda_1=weight, random_state=0).fit(X.T)
    error = clustering_error(labels, osc.labels_)
    plot_matrix(ax, osc.coef_, title=f"{name}: {weight}\n{error:.0%} mislabelled").label_outer()
plt.show()
