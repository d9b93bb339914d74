"""
n_landmarks: how many atoms
===========================

The number of atoms with ``dictionary="landmarks"``, on a motion of 600 samples.
"""

# %%
# Too few atoms cannot represent all activities. More than needed cost time and memory and change nothing.
import matplotlib.pyplot as plt

from seqspan import OSC
from seqspan.datasets import make_motion
from seqspan.metrics import clustering_error
from seqspan.plots import STYLE, plot_matrix

X, labels = make_motion(2400, 40, noise=5, rng=0)
samples, labels = (X - X.mean(axis=1, keepdims=True)).T[::4], labels[::4]
plt.style.use(STYLE)
figure, axes = plt.subplots(1, 3, figsize=(9.5, 3.4))
for ax, (name, count) in zip(
    axes, {"too little": 3, "about right": 40, "too much": 500}.items(), strict=True
):
    osc = OSC(4, dictionary="landmarks", n_landmarks=count, n_jobs=1, random_state=0).fit(samples)
    error = clustering_error(labels, osc.labels_)
    plot_matrix(ax, osc.coef_, title=f"{name}: {count}\n{error:.0%} mislabelled").set(
        ylabel="", aspect="auto"
    )
axes[0].set(ylabel="landmark", yticks=range(3))
plt.show()
