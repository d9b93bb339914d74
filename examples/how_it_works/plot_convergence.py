"""
How fast, and how sure
======================

All solvers of OSC minimise the same objective, and the model, not the solver, computes how far from the
optimum they can be at most: the duality gap. So one axis fits all. The published algorithms need
thousands of steps where the default solver needs a hundred.
"""

# %%
# ``tol`` is the gap at which a solver stops, relative to the objective. ``history_`` holds what was known
# on the way.
import warnings

import matplotlib.pyplot as plt
from sklearn.exceptions import ConvergenceWarning

from seqspan import OSC
from seqspan.datasets import make_subspaces
from seqspan.plots import STYLE, plot_convergence

X, _ = make_subspaces(3, 4, 60, 20, rng=0)
budget = {"sylvester": 150, "ladmpsap": 800, "vladmap": 800, "fast": 400}
histories = {}
for solver, iterations in budget.items():
    osc = OSC(n_subspaces=3, solver=solver, tol=1e-5, n_jobs=1, random_state=0)
    with warnings.catch_warnings():
        # a solver that runs out of iterations warns; that is what is shown here
        warnings.simplefilter("ignore", ConvergenceWarning)
        osc.set_params(max_iter=5).fit(X.T)  # compiled and warm before the clock starts
        histories[solver] = osc.set_params(max_iter=iterations).fit(X.T).history_

for solver, history in histories.items():
    print(f"{solver:10} gap {history[-1].gap:.1e} after {history[-1].iteration} iterations")

# %%
# A gap of 0.01, the default ``tol``, means that the optimum is at most 1 % below what was reached.
plt.style.use(STYLE)
figure, ax = plt.subplots(figsize=(7.5, 4.2))
plot_convergence(ax, histories)
ax.axhline(1e-2, color="0.5", linewidth=1, linestyle="--")
ax.annotate(
    "tol = 0.01", (0.01, 1e-2), xycoords=("axes fraction", "data"), xytext=(0, 3), textcoords="offset points"
)
ax.set(title="certified distance from the optimum")
plt.show()
