"""
How many spans?
===============

Every further boundary describes a recording better. The ordered cut weighs that against what would be
explained by chance. This page looks at both: the cost of the best division into *k* spans, and how sure
the least sure of its boundaries is.
"""

# %%
# Fifteen seconds of motion with five changes of activity; every fifth frame is used.
from itertools import pairwise

import matplotlib.pyplot as plt
import numpy as np

from seqspan import OSC
from seqspan._core.spans import boundaries_from_labels
from seqspan.cuts import make_cutter
from seqspan.datasets import make_motion
from seqspan.plots import STYLE, plot_spans

X, labels = make_motion(1800, 30, span_seconds=3, rng=0)
X, labels = X[:, ::5] - X.mean(axis=1, keepdims=True), labels[::5]
osc = OSC(cut="ordered", random_state=0).fit(X.T)
print("true ", boundaries_from_labels(labels).tolist())
print("found", osc.boundaries_.tolist())

# %%
# A cutter divides one recording into any number of spans without computing anything twice.
# Its ``cost`` says what a span costs, in nats: the negative log evidence that its samples are draws of one
# Gaussian.
unit = X / np.linalg.norm(X, axis=0)
cutter = make_cutter("ordered", unit, osc.coef_, rng=0)
counts = range(1, 13)
cuts = {k: cutter.cut(n_spans=k) for k in counts}


def cost(boundaries):
    """Sum of the costs of all spans."""
    edges = [0, *boundaries.tolist(), len(labels)]
    return sum(cutter.cost.error(start, end) for start, end in pairwise(edges))


costs = np.array([cost(cuts[k].boundaries) for k in counts])
chosen = len(osc.boundaries_) + 1

# %%
# Up to the right number each span saves a lot. From there on the gain is small, and some boundary is not
# believed any more.
plt.style.use(STYLE)
figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.4))
left.plot(counts, (costs - costs[0]) / len(labels), marker="o")
left.set(xlabel="number of spans", ylabel="nats per sample", title="cost against one span")
right.plot(counts[1:], [cutter.confidence(cuts[k].boundaries).min() for k in counts[1:]], marker="o")
right.set(xlabel="number of spans", ylabel="confidence", ylim=(-0.03, 1.03), title="least sure boundary")
for ax in (left, right):
    ax.axvline(chosen, color="0.6", linewidth=1, linestyle="--", label="chosen")
    ax.set_xticks(counts)
right.legend(loc="lower left")

# %%
# The best divisions themselves. The first boundaries hardly move when more are asked for; past the right
# number the blends between activities become spans of their own.
figure, ax = plt.subplots(figsize=(9, 3.6))
timelines = {f"{k} spans": cuts[k].sample_labels(len(labels)) for k in (2, 3, 4, 5, 6, 8)}
plot_spans(ax, {"truth": labels, **timelines})
ax.set(xlabel="sample, 24 a second")
plt.show()
