"""
Spans for other programs
========================

A segmentation is seldom the end. This page hands one to Audacity and to ELAN, as CSV, and as a list of
arrays. Films go to editing programs in the same way (``edl``, ``otio``, ``fcpxml``, ``chapters``), drill
cores as ``depth`` intervals; the command line writes all of them with ``--export``.
"""

# %%
# A recording knows what was measured and when, which is what a format of annotations needs.
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from seqspan import OSC
from seqspan._core.spans import make_spans
from seqspan.datasets import make_motion
from seqspan.exports import make_timeline, write_export
from seqspan.plots import COLOURS, STYLE
from seqspan.recording import Recording
from seqspan.results import write_segments

X, _ = make_motion(1440, 20, span_seconds=3, rng=4)
names = tuple(f"joint {i}" for i in range(20))
times = np.arange(360) / 30
walk = Recording(X=X.T[::4], times=times, time_unit="s", feature_names=names, kind="mocap", source="walk.npy")
osc = OSC(cut="ordered", preprocess="centre,scale", random_state=0).fit(walk.X)

# %%
# ``make_spans`` puts boundaries, labels, times and confidence together.
spans = make_spans(osc.labels_, osc.boundaries_, walk.times, osc.confidence_)
recording = make_timeline(walk, spans)
with tempfile.TemporaryDirectory() as folder:
    write_export("audacity", recording, Path(folder) / "walk.txt")
    write_export("elan", recording, Path(folder) / "walk.eaf")
    write_segments(Path(folder) / "segments.csv", spans)
    print((Path(folder) / "walk.txt").read_text())
    print((Path(folder) / "segments.csv").read_text())

# %%
# The spans as arrays, for whatever comes next: here the mean speed of each.
for piece, span in zip(np.split(walk.X, osc.boundaries_), spans, strict=True):
    speed = 30 * np.abs(np.diff(piece, axis=0)).mean()
    print(f"{span.start_time:5.2f} to {span.end_time:5.2f} s: {speed:.0f} degrees a second and joint")

# %%
# The labels over three of the joints, as an annotation program would show them.
plt.style.use(STYLE)
figure, ax = plt.subplots(figsize=(9, 3.6))
for joint, style in zip(range(3), ["-", "--", ":"], strict=True):
    ax.plot(times, walk.X[:, joint], style, color="0.2", linewidth=1, label=names[joint])
for span in spans:
    ax.axvspan(span.start_time, span.end_time, color=COLOURS[span.label], alpha=0.3, linewidth=0)
    ax.text(
        (span.start_time + span.end_time) / 2,
        1.01,
        "ABCDEFGH"[span.label],
        transform=ax.get_xaxis_transform(),
    )
ax.set(xlabel="seconds", ylabel="degrees", xlim=(0, times[-1]))
ax.legend(loc="center left", bbox_to_anchor=(1, 0.5))
plt.show()
