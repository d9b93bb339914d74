"""
Spans for other programs
========================

A segmentation is seldom the end of the work. Here we hand one to Audacity and ELAN, save it as CSV, and
use its spans as arrays. Films go to editing programs in the same way (``edl``, ``otio``, ``fcpxml``,
``chapters``), drill cores as ``depth`` intervals. On the command line, ``--export`` does the same.
"""

# %%
# A recording knows what was measured and when, which annotation formats need. ``read`` makes one from a file;
# this one is made by hand.
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import seqspan
from seqspan.datasets import make_motion
from seqspan.plots import COLOURS, STYLE

X, _ = make_motion(1440, 20, span_seconds=3, rng=4)
names = tuple(f"joint {i}" for i in range(20))
times = np.arange(360) / 30
walk = seqspan.Recording(
    X=X.T[::4], times=times, time_unit="s", feature_names=names, kind="mocap", source="walk.npy"
)
found = seqspan.segment(walk)

# %%
# ``export`` writes one format; ``save`` writes a folder that ``Segmentation.load`` reads.
with tempfile.TemporaryDirectory() as folder:
    found.export("audacity", Path(folder) / "walk.txt")
    found.export("elan", Path(folder) / "walk.eaf")
    found.save(Path(folder) / "walk.seqspan")
    print((Path(folder) / "walk.txt").read_text())
    print((Path(folder) / "walk.seqspan" / "segments.csv").read_text())
    print(seqspan.Segmentation.load(Path(folder) / "walk.seqspan"))

# %%
# The spans as arrays, for whatever comes next: here the mean speed in each.
for rows, span in zip(np.split(walk.X, found.boundaries), found.spans, strict=True):
    speed = 30 * np.abs(np.diff(rows, axis=0)).mean()
    print(f"{span.start_time:5.2f} to {span.end_time:5.2f} s: {speed:.0f} degrees per second and joint")

# %%
# The labels over three of the joints, as an annotation program would show them.
plt.style.use(STYLE)
figure, ax = plt.subplots(figsize=(9, 3.6))
for joint, style in zip(range(3), ["-", "--", ":"], strict=True):
    ax.plot(times, walk.X[:, joint], style, color="0.2", linewidth=1, label=names[joint])
for span in found.spans:
    ax.axvspan(span.start_time, span.end_time, color=COLOURS[span.label], alpha=0.3, linewidth=0)
    middle = (span.start_time + span.end_time) / 2
    ax.text(middle, 1.01, "ABCDEFGH"[span.label], transform=ax.get_xaxis_transform())
ax.set(xlabel="seconds", ylabel="degrees", xlim=(0, times[-1]))
ax.legend(loc="center left", bbox_to_anchor=(1, 0.5))
plt.show()
