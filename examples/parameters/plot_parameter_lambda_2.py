"""
lambda_2: how often coefficients change
=======================================

The weight of the change over time, on five subspaces in a row with noise.
"""

# %%
# With too small a weight every sample represents itself; with too large a weight the same few samples
# represent all others.
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
    axes, {"too little": 0.03, "about right": 1.0, "too much": 20.0}.items(), strict=True
):
    osc = OSC(5, lambda_2=weight, random_state=0).fit(X.T)
    error = clustering_error(labels, osc.labels_)
    plot_matrix(ax, osc.coef_, title=f"{name}: {weight}\n{error:.0%} mislabelled").label_outer()
plt.show()
