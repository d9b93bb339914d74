"""
Activities in a motion capture
==============================

Twenty seconds of forty joint angles, of a person who does four things in turn and flows from one into the
next. How many activities there are, and how often they change, is not told. Every fourth frame is enough.
"""

# %%
# The data are made up: a posture and a periodic motion of its own for each activity, blended over a quarter
# of a second. Where an activity "begins" within such a blend is a matter of taste, so that a few frames
# more or less are no error.
import matplotlib.pyplot as plt
import numpy as np

from seqspan import OSC
from seqspan._core.spans import boundaries_from_labels
from seqspan.datasets import make_motion
from seqspan.metrics import boundary_f1, clustering_error
from seqspan.plots import STYLE, plot_spans

X, labels = make_motion(2400, 40, rng=0)  # degrees, 120 frames a second

# %%
# The zero of a joint angle is a convention of the skeleton, so the columns are centred; some joints swing
# more than others, so they are scaled. ``labels_`` and ``boundaries_`` count the frames that were given,
# not every fourth.
osc = OSC(cut="ordered", preprocess="centre,scale,subsample:4", random_state=0).fit(X.T)
true = boundaries_from_labels(labels)
print(f"{osc.n_subspaces_} activities in {len(osc.boundaries_) + 1} spans")
print(f"true boundaries  {true.tolist()}")
print(f"found boundaries {osc.boundaries_.tolist()}")
print(f"F1 within a tenth of a second {boundary_f1(true, osc.boundaries_, margin=12):.2f}")
print(f"mislabelled frames {clustering_error(labels, osc.labels_):.1%}")

# %%
# Angles above, from blue (negative) to red (positive), and the activities below.
plt.style.use(STYLE)
figure, (top, bottom) = plt.subplots(2, height_ratios=[3, 1], figsize=(9, 4.8))
centred = X - X.mean(axis=1, keepdims=True)
limit = np.percentile(np.abs(centred), 99)
image = top.imshow(centred, aspect="auto", cmap="RdBu_r", vmin=-limit, vmax=limit, interpolation="nearest")
top.set(ylabel="joint angle", xticks=[])
figure.colorbar(image, ax=top, label="degrees from the mean", pad=0.01)
plot_spans(bottom, {"truth": labels, "found": osc.labels_})
bottom.set(xlabel="frame, 120 a second")
plt.show()
