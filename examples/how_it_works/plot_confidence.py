"""
How sure is a boundary?
=======================

Every boundary comes with a confidence: the share of boundaries as clear as this one that were right in
labelled recordings. Here we cut recordings with known boundaries into more spans than they have, so there
are right and wrong boundaries to compare, under growing noise.
"""

# %%
# Each recording has five spans and is cut into eight, so three of seven boundaries must be wrong. A boundary
# within three samples of a true one counts as right.
import matplotlib.pyplot as plt
import numpy as np

from seqspan import OSC
from seqspan.cuts import boundaries_from_labels
from seqspan.datasets import add_noise, make_subspaces
from seqspan.plots import STYLE

levels = [24, 18, 12, 8, 4]
records = []
for level in levels:
    for draw in range(5):
        X, labels = make_subspaces(5, 4, 60, 30, coefficient_mean=0.3, rng=draw)
        osc = OSC(cut="ordered", n_spans=8, n_jobs=1, random_state=0).fit(add_noise(X, level, rng=draw).T)
        distance = np.abs(osc.boundaries_[:, None] - boundaries_from_labels(labels)).min(axis=1)
        records += [(level, sure, off <= 3) for sure, off in zip(osc.confidence_, distance, strict=True)]
level, sure, right = map(np.array, zip(*records, strict=True))

# %%
# Wrong boundaries get a confidence near zero, whatever the noise. Right ones mostly get more than one half,
# but seldom as much as they deserve: these recordings are short, and the curve was fitted to longer ones.
# Here a threshold of one half keeps all wrong ones out and loses a fifth of the right ones.
plt.style.use(STYLE)
figure, ax = plt.subplots(figsize=(8, 3.8))
rng = np.random.default_rng(0)
for name, kept, shift, marker in (("right", right, -0.2, "o"), ("wrong", ~right, 0.2, "x")):
    place = np.searchsorted(-np.array(levels), -level[kept]) + shift + rng.uniform(-0.1, 0.1, kept.sum())
    ax.plot(place, sure[kept], marker, label=name, alpha=0.7)
ax.axhline(0.5, color="0.6", linewidth=1, linestyle="--")
ax.set(xticks=range(len(levels)), xticklabels=levels, ylim=(-0.03, 1.03))
ax.set(xlabel="peak signal-to-noise ratio (dB), noisier to the right", ylabel="confidence")
ax.legend(loc="center left", bbox_to_anchor=(1, 0.5))
plt.show()

kept = sure >= 0.5
print(f"of {kept.sum()} boundaries with a confidence of one half or more {right[kept].mean():.0%} are right,")
print(f"of the {(~kept).sum()} others {right[~kept].mean():.0%}")
