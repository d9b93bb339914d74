"""
What Z looks like for each model
================================

OSC, SpatSC, SSC and LRR represent every sample by the others, and differ in what they ask of the
coefficients. On the same noisy samples you can see the difference: OSC, which makes neighbours in time
alike, gives stripes; SpatSC with its small default weight gives dots and dashes, SSC dots, and LRR a haze.
"""

# %%
# Five subspaces of 20 samples each, with noise. All coefficients are cut in the same way, into five groups.
import matplotlib.pyplot as plt

from seqspan import LRR, OSC, SSC, SpatSC
from seqspan.datasets import add_noise, make_subspaces
from seqspan.metrics import clustering_error
from seqspan.plots import STYLE, plot_matrix

X, labels = make_subspaces(rng=0)
X = add_noise(X, psnr=10, rng=1)

# %%
# OSC makes whole columns of Z alike over time, SpatSC each entry separately; SSC asks for few coefficients
# and LRR for few directions. The weights are those of the paper's experiments, which are the defaults.
models = {
    "OSC: columns change seldom": OSC(5, random_state=0),
    "SpatSC: entries change seldom": SpatSC(5, random_state=0),
    "SSC: few entries": SSC(5, random_state=0),
    "LRR: few directions": LRR(5, random_state=0),
}
plt.style.use(STYLE)
figure, axes = plt.subplots(2, 2, figsize=(7.4, 7.6), sharex=True, sharey=True)
for ax, (name, model) in zip(axes.flat, models.items(), strict=True):
    model.fit(X.T)
    error = clustering_error(labels, model.labels_)
    plot_matrix(ax, model.coef_, title=f"{name}\n{error:.0%} of the samples mislabelled").label_outer()
plt.show()

# %%
# The darker, the larger the coefficient. Each panel has its own scale.
