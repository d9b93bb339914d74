"""
Values that are simply wrong
============================

Sensor glitches, dead pixels, a camera flash: a few entries that have nothing to do with the rest. With a
squared error each of them distorts the coefficients. ``SSC(noise="outliers")`` gives the error a sparse part
of its own; OSC resists because neighbours in time share coefficients.
"""

# %%
# Four subspaces in a row. Some of the entries are replaced by random values up to three times as large as any
# true one.
import matplotlib.pyplot as plt
import numpy as np

from seqspan import OSC, SSC
from seqspan.datasets import make_subspaces
from seqspan.metrics import clustering_error
from seqspan.plots import STYLE, plot_matrix


def corrupt(X, share, rng):
    """Replace a share of the entries by large random values."""
    wrong = rng.random(X.shape) < share
    return np.where(wrong, 3 * np.abs(X).max() * rng.uniform(-1, 1, X.shape), X)


models = {
    "SSC": SSC(4, random_state=0),
    'SSC(noise="outliers")': SSC(4, noise="outliers", lambda_1=50, lambda_2=0.5, random_state=0),
    "OSC": OSC(4, random_state=0),
}

# %%
# Mean error over three draws for each share. The weight ``lambda_2`` of the sparse error says what an
# outlier costs.
shares = [0, 0.05, 0.1, 0.15, 0.2]
errors = {name: np.zeros((len(shares), 3)) for name in models}
for draw in range(3):
    X, labels = make_subspaces(4, 3, 60, 15, rng=draw)
    for row, share in enumerate(shares):
        samples = corrupt(X, share, np.random.default_rng(draw)).T
        for name, model in models.items():
            errors[name][row, draw] = clustering_error(labels, model.fit(samples).labels_)

plt.style.use(STYLE)
figure, ax = plt.subplots(figsize=(7, 3.8))
for (name, table), marker in zip(errors.items(), "osD", strict=True):
    ax.plot(shares, table.mean(axis=1), marker=marker, label=name)
ax.set(xlabel="share of wrong entries", ylabel="mislabelled samples", xticks=shares)
ax.yaxis.set_major_formatter("{x:.0%}")
ax.xaxis.set_major_formatter("{x:.0%}")
ax.legend()

# %%
# The coefficients when a tenth of the entries is wrong: without a term for outliers you can hardly see the
# four blocks.
X, labels = make_subspaces(4, 3, 60, 15, rng=0)
samples = corrupt(X, 0.1, np.random.default_rng(0)).T
figure, axes = plt.subplots(1, 3, figsize=(9.5, 3.9), sharey=True)
for ax, (name, model) in zip(axes, models.items(), strict=True):
    plot_matrix(ax, model.fit(samples).coef_, title=name).label_outer()
plt.show()
