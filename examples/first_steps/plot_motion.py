"""
Activities in a motion capture
==============================

Twenty seconds of forty joint angles of a person who does four things in turn and moves smoothly from one to
the next. Neither the number of activities nor the number of spans is given. Every fourth frame is enough.
"""

# %%
# The data are made up: each activity has its own posture and its own periodic motion, with transitions of a
# quarter of a second. Where an activity begins within a transition is a matter of taste, so a few frames
# more or less are no error.
import matplotlib.pyplot as plt
import numpy as np

import seqspan
from seqspan.cuts import boundaries_from_labels
from seqspan.datasets import make_motion
from seqspan.metrics import boundary_f1, clustering_error
from seqspan.plots import STYLE, plot_spans

X, labels = make_motion(2400, 40, rng=0)  # degrees, 120 frames per second

# %%
# The zero of a joint angle is arbitrary, so the columns are centred; some joints swing more than others, so
# they are scaled. ``labels`` and ``boundaries`` refer to the frames that were given, not to every fourth.
found = seqspan.segment(X.T, preprocess="centre,scale,subsample:4")
true = boundaries_from_labels(labels)
print(f"{found.n_subspaces} activities in {len(found.spans)} spans")
print(f"true boundaries  {true.tolist()}")
print(f"found boundaries {found.boundaries.tolist()}")
print(f"F1 within a tenth of a second {boundary_f1(true, found.boundaries, margin=12):.2f}")
print(f"mislabelled frames {clustering_error(labels, found.labels):.1%}")

# %%
# Angles above, from blue (negative) to red (positive), and the activities below.
plt.style.use(STYLE)
figure, (top, bottom) = plt.subplots(2, height_ratios=[3, 1], figsize=(9, 4.8))
centred = X - X.mean(axis=1, keepdims=True)
limit = np.percentile(np.abs(centred), 99)
image = top.imshow(centred, aspect="auto", cmap="RdBu_r", vmin=-limit, vmax=limit, interpolation="nearest")
top.set(ylabel="joint angle", xticks=[])
figure.colorbar(image, ax=top, label="degrees from the mean", pad=0.01)
plot_spans(bottom, {"truth": labels, "found": found.labels})
bottom.set(xlabel="frame, 120 per second")
plt.show()
