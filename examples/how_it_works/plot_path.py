"""
A path through the weights
==========================

How strongly should coefficients be kept from changing over time? ``path`` fits a series of weights
``lambda_2``, each starting where the one before ended. Believe the changes that survive large weights.
"""

# %%
# Four spans, with noise.
import matplotlib.pyplot as plt
import numpy as np

from seqspan import OSC
from seqspan.cuts import boundaries_from_labels, boundary_strength
from seqspan.datasets import add_noise, make_subspaces
from seqspan.plots import STYLE

X, labels = make_subspaces(4, 4, 60, [30, 20, 40, 30], rng=0)
X = add_noise(X, psnr=14, rng=0)
weights = np.geomspace(20, 0.05, 20)

# %%
# ``path`` yields the same estimator every time, so copy what you want to keep.
strengths, iterations = [], []
for osc in OSC(cut="peaks", n_spans=4, n_jobs=1).path(X.T, weights):
    strengths.append(boundary_strength(osc.coef_))
    iterations.append(osc.n_iter_)
print(f"{sum(iterations)} iterations for {len(weights)} weights")

# %%
# Each row is a weight, each column a sample; it is dark where coefficients change. With small weights they
# change everywhere, with large weights only at the true boundaries (triangles).
plt.style.use(STYLE)
figure, ax = plt.subplots(figsize=(8.5, 4.2))
samples = np.arange(len(labels) - 1) + 1
strengths = np.array(strengths)
image = ax.pcolormesh(
    samples, weights, strengths, cmap="BuPu", vmax=np.percentile(strengths, 99), shading="nearest"
)
true = boundaries_from_labels(labels)
ax.plot(true, np.full(len(true), 22), "v", color="black", clip_on=False)
ax.set(yscale="log", ylim=(0.048, 21), xlabel="sample", ylabel="weight $\\lambda_2$")
ax.axhline(1.0, color="0.3", linewidth=1, linestyle="--")
ax.annotate("the paper's weight", (1, 1.08), color="0.3")
figure.colorbar(image, ax=ax, pad=0.01, label="change of the coefficients, mean |ZR|")
plt.show()
