"""The paper's synthetic data: five subspaces in a row, found again.

Draws the coefficients Z, the affinity W and the labels, and prints the error against the truth.
"""

from pathlib import Path

import matplotlib.pyplot as plt

from seqspan import OSC
from seqspan.affinity import symmetric_affinity
from seqspan.datasets import add_noise, make_subspaces
from seqspan.metrics import clustering_error
from seqspan.plots import plot_matrix, plot_spans

X, labels = make_subspaces(rng=0)
X = add_noise(X, psnr=20, rng=1)
osc = OSC(n_subspaces=5, random_state=0).fit(X.T)

figure, axes = plt.subplots(1, 3, figsize=(11, 3.8), layout="constrained")
plot_matrix(axes[0], osc.coef_, title="coefficients Z")
plot_matrix(axes[1], symmetric_affinity(osc.coef_), title="affinity W = |Z| + |Z|$^T$")
plot_spans(axes[2], {"truth": labels, "found": osc.labels_}, title="labels")

path = Path("out/synthetic.png")
path.parent.mkdir(exist_ok=True)
figure.savefig(path, dpi=120)
print(
    f"clustering error {clustering_error(labels, osc.labels_):.3f}, boundaries at {osc.boundaries_.tolist()}"
)
print(
    f"certified within {100 * osc.dual_gap_:.1f} % of the optimum after {osc.n_iter_} iterations; see {path}"
)
