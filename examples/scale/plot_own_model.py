"""
A model of your own
===================

A model is a sum of a loss of X - XZ, a penalty on Z and a coupling of its columns. Naming the three terms
is enough to get its value, its duality gap and a general solver. Here we replace the squared loss of OSC by
one that lets single samples be entirely wrong.
"""

# %%
# The loss is the norm of each column of the error, not its square. Small errors count more and large ones
# less, so the error gathers in the samples that fit nothing.
from dataclasses import dataclass

import matplotlib.pyplot as plt
import numpy as np

from seqspan.datasets import make_subspaces
from seqspan.models import Absolute, ColumnNorms, Coupling, Model, Osc
from seqspan.models.differences import Path
from seqspan.plots import STYLE, plot_matrix
from seqspan.solvers import SOLVERS, Stopping


@dataclass(frozen=True)
class RobustOsc(Model):
    """``||X - XZ||_{1,2} + lam1 ||Z||_1 + lam2 ||ZR||_{1,2}``."""

    lam1: float
    lam2: float

    @property
    def loss(self):
        """Sum of the norms of the error's columns."""
        return ColumnNorms(1.0)

    @property
    def penalty(self):
        """Sum of the absolute coefficients."""
        return Absolute(self.lam1)

    @property
    def coupling(self):
        """Sum of the norms of the changes over time."""
        return Coupling(Path(), ColumnNorms(self.lam2))


# %%
# Three subspaces, with six samples replaced by noise. Models and solvers take samples as columns, here of
# unit norm.
rng = np.random.default_rng(0)
X, labels = make_subspaces(3, 3, 40, 20, rng=0)
X /= np.linalg.norm(X, axis=0)
wrong = np.array([7, 15, 28, 33, 46, 52])
X[:, wrong] = rng.standard_normal((40, 6))
X[:, wrong] /= np.linalg.norm(X[:, wrong], axis=0)

solutions = {}
for name, model in {"OSC": Osc(0.1, 1.0), "RobustOsc": RobustOsc(0.3, 1.0)}.items():
    solutions[name] = SOLVERS["splitting"](model, X, stopping=Stopping(tol=1e-3))
    errors = np.linalg.norm(X - X @ solutions[name].Z, axis=0)
    print(f"{name}: within {solutions[name].gap:.2%} of the optimum; error of a good sample", end=" ")
    print(f"{np.delete(errors, wrong).mean():.2f}, of a wrong one {errors[wrong].mean():.2f}")

# %%
# The coefficients above, and below how badly each sample is represented. The six wrong ones are marked.
plt.style.use(STYLE)
figure, axes = plt.subplots(2, 2, figsize=(8, 6), height_ratios=[5, 2], sharex=True)
for (top, bottom), (name, solution) in zip(axes.T, solutions.items(), strict=True):
    plot_matrix(top, solution.Z, title=name).set(xlabel="", aspect="auto")
    errors = np.linalg.norm(X - X @ solution.Z, axis=0)
    bottom.bar(range(len(errors)), errors, width=1, color="0.7")
    bottom.bar(wrong, errors[wrong], width=1, label="wrong samples")
    bottom.set(xlabel="sample", ylim=(0, 1.25))
axes[1, 0].set(ylabel="norm of the error")
axes[1, 0].legend(loc="upper left")
plt.show()
