"""
How much noise each model tolerates
===================================

A small version of the paper's experiment: the same subspaces under growing noise, and the share of samples
with a wrong label when the number of subspaces is given. ``seqspan reproduce synthetic`` runs all of it.
"""

# %%
# The noise is given as the peak signal-to-noise ratio: at 0 dB its standard deviation equals the largest
# entry of the data.
import matplotlib.pyplot as plt
import numpy as np

from seqspan import LRR, OSC, SSC, SpatSC
from seqspan.datasets import add_noise, make_subspaces
from seqspan.metrics import clustering_error
from seqspan.plots import STYLE

levels = [12, 8, 4, 0]
models = {"OSC": OSC(5), "SpatSC": SpatSC(5), "SSC": SSC(5), "LRR": LRR(5)}
errors = {name: np.zeros((len(levels), 3)) for name in models}
for draw in range(3):
    X, labels = make_subspaces(5, 4, 60, 16, rng=draw)
    for row, level in enumerate(levels):
        samples = add_noise(X, psnr=level, rng=draw).T
        for name, model in models.items():
            model.set_params(random_state=0).fit(samples)
            errors[name][row, draw] = clustering_error(labels, model.labels_)

# %%
# Lines are means of three draws, and the bands reach from the best to the worst. OSC lets neighbours in time
# share their coefficients, so noise that differs from sample to sample averages out. SpatSC does the same
# with a much smaller weight.
plt.style.use(STYLE)
figure, ax = plt.subplots(figsize=(7.5, 4.2))
for (name, table), marker in zip(errors.items(), "osD^", strict=True):
    (line,) = ax.plot(levels, table.mean(axis=1), marker=marker, label=name)
    ax.fill_between(
        levels, table.min(axis=1), table.max(axis=1), color=line.get_color(), alpha=0.15, linewidth=0
    )
ax.set(
    xlabel="peak signal-to-noise ratio (dB), noisier to the right",
    ylabel="mislabelled samples",
    xticks=levels,
)
ax.invert_xaxis()
ax.yaxis.set_major_formatter("{x:.0%}")
ax.legend(loc="upper left")
plt.show()
