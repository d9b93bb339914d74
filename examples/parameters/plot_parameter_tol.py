"""
tol and max_iter: when to stop
==============================

``tol`` is the certified distance from the optimum at which a solver stops, as a fraction of the objective.
"""

# %%
# Stopped too early, the coefficients are not yet what the model asks for. A smaller ``tol`` than needed costs
# iterations, and the picture stays the same. ``max_iter`` is only a safeguard: reaching it raises a warning
# that says which gap was reached.
import matplotlib.pyplot as plt

from seqspan import OSC
from seqspan.datasets import add_noise, make_subspaces
from seqspan.metrics import clustering_error
from seqspan.plots import STYLE, plot_matrix

X, labels = make_subspaces(5, 4, 60, (10, 24, 12, 24, 10), rng=0)
X = add_noise(X, psnr=6, rng=0)
plt.style.use(STYLE)
figure, axes = plt.subplots(1, 3, figsize=(9.5, 4.1), sharey=True)
for ax, (name, tol) in zip(
    axes, {"too loose": 0.9, "about right": 0.01, "too strict": 1e-6}.items(), strict=True
):
    osc = OSC(5, tol=tol, solver="vladmap", random_state=0).fit(X.T)
    error = clustering_error(labels, osc.labels_)
    title = f"{name}: {tol:g}\n{osc.n_iter_} iterations, {error:.0%} mislabelled"
    plot_matrix(ax, osc.coef_, title=title).label_outer()
plt.show()
