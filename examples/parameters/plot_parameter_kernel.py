"""
normalize and kernel: what counts as different
==============================================

Spans that differ only in size: all samples lie near one line through the origin, at two places on it.
"""

# %%
# Scaled to unit norm, all samples are alike, and noise decides. With their own norms, a linear model sees a
# difference, but one line is one subspace. A Gaussian kernel looks at distances, so two places are different.
import matplotlib.pyplot as plt
import numpy as np

from seqspan import OSC
from seqspan.plots import STYLE, plot_spans

rng = np.random.default_rng(0)
labels = np.repeat([0, 1, 0, 1], [30, 20, 25, 45])
samples = np.where(labels, 3, 1)[:, None] * rng.normal(size=10) + rng.normal(0, 0.05, (120, 10))
settings = {
    "unit norm, linear": {"normalize": True, "kernel": "linear"},
    "own norm, linear": {"normalize": False, "kernel": "linear"},
    "own norm, rbf": {"normalize": False, "kernel": "rbf"},
}
found = {name: OSC(2, random_state=0, **given).fit(samples).labels_ for name, given in settings.items()}
plt.style.use(STYLE)
figure, ax = plt.subplots(figsize=(8.5, 2.8))
plot_spans(ax, {"truth": labels, **found})
plt.show()
