"""
Five subspaces in a row
=======================

The paper's synthetic data: 100 samples of 100 features, 20 from each of five random subspaces of
dimension four, one after the other. This page walks the whole way once, from samples to labels.
"""

# %%
# Rows are samples, in order. ``OSC`` represents every sample by the others, with coefficients that seldom
# change in time, and cuts the coefficients into groups. It is told that there are five.
import matplotlib.pyplot as plt

from seqspan import OSC
from seqspan.cuts.spectral.affinity import symmetric_affinity
from seqspan.datasets import add_noise, make_subspaces
from seqspan.metrics import clustering_error
from seqspan.plots import STYLE, plot_matrix, plot_spans

X, labels = make_subspaces(rng=0)  # one sample per column, as in the paper
X = add_noise(X, psnr=20, rng=1)
osc = OSC(n_subspaces=5, random_state=0).fit(X.T)

# %%
# ``boundaries_`` are the starts of the spans, so that ``np.split(X.T, osc.boundaries_)`` yields them.
# ``dual_gap_`` is the certificate: the optimum of the objective is at most this share lower than what was
# reached.
print(f"boundaries {osc.boundaries_.tolist()}, mislabelled {clustering_error(labels, osc.labels_):.0%}")
print(f"within {osc.dual_gap_:.1%} of the optimum after {osc.n_iter_} iterations")

# %%
# Column *j* of Z says which samples represent sample *j*: dark where the coefficient is large. Samples of
# one subspace represent each other, so that blocks appear along the diagonal. The affinity W is what the
# cut looks at.
plt.style.use(STYLE)
figure, axes = plt.subplots(1, 3, figsize=(10.5, 3.6))
plot_matrix(axes[0], osc.coef_, title="coefficients Z")
plot_matrix(axes[1], symmetric_affinity(osc.coef_), title="affinity W = |Z| + |Z|$^T$")
plot_spans(axes[2], {"truth": labels, "found": osc.labels_}, title="labels, a colour each")
plt.show()
