"""
preprocess: what comes first
============================

Joint angles with large offsets, of a motion with three changes.
"""

# %%
# Left alone, the offsets hide the variation. Centred and scaled, the activities are found. With one sample
# in a hundred and fifty, boundaries can only be where a sample is left.
import matplotlib.pyplot as plt
import numpy as np

from seqspan import OSC
from seqspan.datasets import make_motion
from seqspan.plots import STYLE, plot_spans

X, labels = make_motion(1440, 24, n_activities=3, span_seconds=3, noise=6, rng=5)
X += 1000 * np.random.default_rng(0).normal(size=(24, 1))
steps = {
    "too little:\nsubsample:8": "subsample:8",
    "about right:\ncentre,scale,subsample:8": "centre,scale,subsample:8",
    "too much:\ncentre,scale,subsample:150": "centre,scale,subsample:150",
}
found = {
    name: OSC(3, preprocess=chain, n_jobs=1, random_state=0).fit(X.T).labels_ for name, chain in steps.items()
}
plt.style.use(STYLE)
figure, ax = plt.subplots(figsize=(8.5, 3))
plot_spans(ax, {"truth": labels, **found})
plt.show()
