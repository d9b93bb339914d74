"""
How many subspaces?
===================

If an affinity falls into *k* blocks, *k* eigenvalues of its normalised Laplacian are near zero. Noise blurs
the line between near and far. The library has eight rules to draw it; ``n_subspaces="auto"`` with the
normalised cut is the one called ``soft_gap``.
"""

# %%
# Five subspaces under three strengths of noise, and the smallest eigenvalues that follow from W.
import matplotlib.pyplot as plt
import numpy as np

from seqspan import OSC
from seqspan.cuts import ESTIMATORS, affinity, estimate_n_subspaces
from seqspan.datasets import add_noise, make_subspaces
from seqspan.plots import STYLE


def noisy_affinity(psnr, draw):
    """Affinity of five subspaces in a row."""
    X, _ = make_subspaces(5, 4, 60, 16, rng=draw)
    osc = OSC(n_subspaces=5, n_jobs=1, random_state=0).fit(add_noise(X, psnr, rng=draw).T)
    return affinity(osc.coef_)


def smallest_eigenvalues(W, count):
    """Of the normalised Laplacian I - D^-1/2 W D^-1/2."""
    scale = 1 / np.sqrt(W.sum(axis=1))
    return np.linalg.eigvalsh(np.eye(len(W)) - scale[:, None] * W * scale)[:count]


plt.style.use(STYLE)
figure, ax = plt.subplots(figsize=(7, 3.8))
levels = {20: "o", 8: "s", 4: "D"}
for psnr, marker in levels.items():
    ax.plot(
        range(1, 13), smallest_eigenvalues(noisy_affinity(psnr, 0), 12), marker=marker, label=f"{psnr} dB"
    )
ax.axvline(5.5, color="0.7", linewidth=1)
ax.set(xlabel="eigenvalue number", ylabel="eigenvalue", xticks=range(1, 13))
ax.set_title("left of the grey line are the five that should be zero")
ax.legend(title="noise")

# %%
# All rules on the same affinities, with four draws for each strength of noise. A number in the table is the
# share of draws in which a rule says five. Four draws are too few to rank the rules where all of them begin
# to fail; ``python -m benchmarks.n_subspaces`` has more. Rules that count values beyond a threshold also
# take another threshold.
names = [name for name in ESTIMATORS if name != "auto"]
right = np.zeros((len(names), len(levels)))
for column, psnr in enumerate(levels):
    for draw in range(4):
        W = noisy_affinity(psnr, draw)
        right[:, column] += [estimate_n_subspaces(W, name) == 5 for name in names]

figure, ax = plt.subplots(figsize=(6, 4.6))
ax.imshow(right / 4, cmap="BuPu", vmin=0, vmax=1.6, aspect="auto")
for (row, column), count in np.ndenumerate(right):
    ax.text(column, row, f"{count / 4:.0%}", ha="center", va="center")
ax.set(xticks=range(len(levels)), xticklabels=[f"{psnr} dB" for psnr in levels], yticks=range(len(names)))
ax.set(yticklabels=names, title="share of draws with the right number")
ax.tick_params(length=0)
ax.spines[:].set_visible(False)
plt.show()
