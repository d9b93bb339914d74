"""
Landmarks: faster and smaller
=============================

If all samples are atoms, Z has n x n entries, and time and memory grow with the square of the number of
samples. With ``dictionary="landmarks"`` a few hundred atoms represent all samples. What is lost, and what is
gained?
"""

# %%
# Twenty seconds of motion at 60 frames per second, 1,200 samples. ``dictionary="auto"`` would use landmarks
# above 10,000 samples.
import time

import matplotlib.pyplot as plt
import numpy as np

from seqspan import OSC
from seqspan.datasets import make_motion
from seqspan.metrics import clustering_error
from seqspan.plots import STYLE, plot_matrix

X, labels = make_motion(2400, 40, rng=0)
X, labels = X[:, ::2], labels[::2]
samples = (X - X.mean(axis=1, keepdims=True)).T.astype(np.float32)
full = OSC(n_subspaces=4, random_state=0)
few = {m: OSC(n_subspaces=4, dictionary="landmarks", n_landmarks=m, random_state=0) for m in (16, 64, 256)}
for m, osc in {**few, "all": full}.items():
    osc.fit(samples[:100])  # compile before the clock starts
    start = time.perf_counter()
    osc.fit(samples)
    seconds = time.perf_counter() - start
    error = clustering_error(labels, osc.labels_)
    size = osc.coef_.nbytes / 2**20
    print(f"{m!s:>4} atoms: {seconds:5.2f} s, Z {size:4.1f} MB, {error:.1%} mislabelled")

# %%
# The coefficients, with all samples as atoms above and landmarks below. Here each landmark is the mean of
# a few neighbours in time, so the pictures resemble each other. Each is certified for its own problem.
plt.style.use(STYLE)
figure, axes = plt.subplots(2, 1, figsize=(7, 6.6), sharex=True, height_ratios=[3, 1.2])
plot_matrix(axes[0], full.coef_, title="1,200 atoms").set(xlabel="", aspect="auto")
plot_matrix(axes[1], few[256].coef_, title="256 landmarks").set(ylabel="landmark", aspect="auto")
plt.show()
