"""
How many spans?
===============

Every further boundary describes a recording better. The ordered cut weighs that against what is explained by
chance. This page looks at the cost of the best *k* spans, and at how sure the least sure of their boundaries
is.
"""

# %%
# Fifteen seconds of motion with five changes of activity; every fifth frame is used.
from itertools import pairwise

import matplotlib.pyplot as plt
import numpy as np

import seqspan
from seqspan.cuts import boundaries_from_labels
from seqspan.datasets import make_motion
from seqspan.plots import STYLE, plot_spans

X, labels = make_motion(1800, 30, span_seconds=3, rng=0)
X, labels = X[:, ::5], labels[::5]
found = seqspan.segment(X.T, preprocess="centre")
print("true ", boundaries_from_labels(labels).tolist())
print("found", found.boundaries.tolist())

# %%
# ``recut`` divides the same recording into any number of spans. It solves nothing again, and computes the
# costs of spans once. ``cutter.cost`` says what a span costs, in nats: the negative log evidence that its
# samples are draws of one Gaussian.
counts = range(1, 13)
recuts = {k: found.recut(n_spans=k) for k in counts}


def cost(boundaries):
    """Sum of the costs of all spans."""
    edges = [0, *boundaries.tolist(), len(labels)]
    return sum(found.cutter.cost.error(start, end) for start, end in pairwise(edges))


costs = np.array([cost(recuts[k].boundaries) for k in counts])

# %%
# Up to the right number each span saves a lot. Beyond it the gain is small, and at least one boundary is
# unsure.
plt.style.use(STYLE)
figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.4))
left.plot(counts, (costs - costs[0]) / len(labels), marker="o")
left.set(xlabel="number of spans", ylabel="nats per sample", title="cost, compared with one span")
right.plot(counts[1:], [recuts[k].confidence.min() for k in counts[1:]], marker="o")
right.set(xlabel="number of spans", ylabel="confidence", ylim=(-0.03, 1.03), title="least sure boundary")
for ax in (left, right):
    ax.axvline(len(found.spans), color="0.6", linewidth=1, linestyle="--", label="chosen")
    ax.set_xticks(counts)
right.legend(loc="lower left")

# %%
# The spans themselves. The first boundaries hardly move when more are asked for. Beyond the right number the
# transitions between activities become spans of their own.
figure, ax = plt.subplots(figsize=(9, 3.6))
timelines = {f"{k} spans": recuts[k].labels for k in (2, 3, 4, 5, 6, 8)}
plot_spans(ax, {"truth": labels, **timelines})
ax.set(xlabel="sample, 24 per second")
plt.show()
