"""All OSC solvers on one problem: the certified gap against time.

The published algorithms and the fast one minimise the same objective; the gap is computed by the model,
not by the solver, so one axis fits all.
"""

from pathlib import Path

import matplotlib.pyplot as plt

from seqspan import OSC
from seqspan.datasets import make_subspaces
from seqspan.plots import plot_convergence

X, _ = make_subspaces(rng=0)
histories = {}
for solver, iterations in {"sylvester": 300, "ladmpsap": 3000, "vladmap": 3000, "fast": 300}.items():
    osc = OSC(n_subspaces=5, solver=solver, tol=1e-6, max_iter=iterations, n_jobs=1)
    osc.set_params(max_iter=10).fit(X.T)  # compile and warm up outside the clock
    histories[solver] = osc.set_params(max_iter=iterations).fit(X.T).history_

figure, ax = plt.subplots(figsize=(6.5, 4), layout="constrained")
plot_convergence(ax, histories)

path = Path("out/convergence.png")
path.parent.mkdir(exist_ok=True)
figure.savefig(path, dpi=120)
for solver, history in histories.items():
    last = history[-1]
    print(f"{solver:10} gap {last.gap:.1e} after {last.iteration} iterations and {last.seconds:.2f} s")
print(f"see {path}")
