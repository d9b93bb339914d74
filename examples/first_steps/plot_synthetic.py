"""
Five subspaces in a row
=======================

The paper's synthetic data: 100 samples of 100 features, 20 from each of five random subspaces of
dimension four, one after the other. This page goes all the way from samples to labels.
"""

# %%
# Rows are samples, in order. ``OSC`` represents every sample by the others, with coefficients that seldom
# change over time, and cuts the coefficients into groups. Here the number of groups, five, is given.
import matplotlib.pyplot as plt

from seqspan import OSC
from seqspan.cuts import affinity
from seqspan.datasets import add_noise, make_subspaces
from seqspan.metrics import clustering_error
from seqspan.plots import STYLE, plot_matrix, plot_spans

X, labels = make_subspaces(rng=0)  # one sample per column, as in the paper
X = add_noise(X, psnr=20, rng=1)
osc = OSC(n_subspaces=5, random_state=0).fit(X.T)

# %%
# ``boundaries_`` are the starts of the spans, so ``np.split(X.T, osc.boundaries_)`` yields the spans.
# ``dual_gap_`` is the certificate: the optimum of the objective is at most this fraction below the value
# that was reached.
print(f"boundaries {osc.boundaries_.tolist()}, mislabelled {clustering_error(labels, osc.labels_):.0%}")
print(f"within {osc.dual_gap_:.1%} of the optimum after {osc.n_iter_} iterations")

# %%
# Column *j* of Z shows which samples represent sample *j*: the darker, the larger the coefficient. Samples of
# one subspace represent each other, so there are blocks along the diagonal. The normalised cut looks at the
# affinity W.
plt.style.use(STYLE)
figure, axes = plt.subplots(1, 3, figsize=(10.5, 3.6))
plot_matrix(axes[0], osc.coef_, title="coefficients Z")
plot_matrix(axes[1], affinity(osc.coef_), title="affinity W = |Z| + |Z|$^T$")
plot_spans(axes[2], {"truth": labels, "found": osc.labels_}, title="labels, one colour each")
plt.show()
