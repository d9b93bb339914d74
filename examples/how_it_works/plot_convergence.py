"""
How fast, and how sure
======================

All solvers of OSC minimise the same objective and are judged by the same number, the duality gap of the
model: how far they can be from the optimum at most. So their curves can be compared. The published
algorithms need thousands of iterations where the default solver needs a hundred.
"""

# %%
# ``tol`` is the gap at which a solver stops, relative to the objective. ``history_`` records the gaps on the
# way there.
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
        # a solver that runs out of iterations warns, and here all of them may
        warnings.simplefilter("ignore", ConvergenceWarning)
        osc.set_params(max_iter=5).fit(X.T)  # compile before the clock starts
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
