"""
A sensor table with gaps
========================

A CSV file of a machine's sensors, with values missing here and there, is read, segmented and written back
as a table of spans. Nothing is told: neither how many spans there are, nor how many states of the
machine.
"""

# %%
# The file
# --------
# A pump is in one of three states, and returns to them. In each state its eight sensors move together in
# another way. One sensor drops out for twenty seconds, and single values are missing.
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from scipy.ndimage import gaussian_filter1d

from seqspan import OSC, read
from seqspan._core.spans import make_spans
from seqspan.plots import STYLE, plot_spans
from seqspan.results import write_segments

rng = np.random.default_rng(0)
states = np.repeat([0, 1, 2, 1, 0, 2], [70, 90, 60, 80, 50, 100])
level, mixing = rng.normal(0, 4, (3, 8)), rng.normal(0, 1, (3, 2, 8))
drivers = gaussian_filter1d(rng.normal(0, 2.5, (len(states), 2)), 2, axis=0)  # slow swings
values = 20 + level[states] + np.einsum("tk,tkf->tf", drivers, mixing[states])
values += rng.normal(0, 0.3, values.shape)
values[100:120, 3] = np.nan
values[rng.random(values.shape) < 0.005] = np.nan

temporary = tempfile.TemporaryDirectory()
folder = Path(temporary.name)
names = ["flow", "pressure", "current", "torque", "inlet", "outlet", "bearing", "housing"]
table = np.column_stack([np.arange(len(values)), values])
np.savetxt(
    folder / "pump.csv", table, fmt="%.3f", delimiter=",", header="time_s," + ",".join(names), comments=""
)

# %%
# Reading
# -------
# ``read`` finds delimiter, header and the column of times by itself. A missing value is an error unless it
# is said what to do with it; whatever was filled in or left out stands in the notes.
sequence = read(folder / "pump.csv", missing="interpolate")
print(f"{len(sequence)} samples of {len(sequence.feature_names)} features, times in {sequence.time_unit}")
print("\n".join(sequence.notes))

# %%
# Segmenting
# ----------
# ``preprocess="auto"`` decides whether to centre and scale the columns, ``cut="ordered"`` finds the number
# of spans and of states.
osc = OSC(cut="ordered", preprocess="auto", random_state=0).fit(sequence.X)
true = np.flatnonzero(np.diff(states)) + 1
print("steps taken:", [step["step"] for step in osc.preprocess_])
print("found", osc.boundaries_.tolist(), "true", true.tolist())

# %%
# Writing
# -------
# ``confidence`` is that of the boundary at which a span starts.
spans = make_spans(osc.labels_, osc.boundaries_, sequence.times, osc.confidence_)
write_segments(folder / "segments.csv", spans)
print((folder / "segments.csv").read_text())
temporary.cleanup()

# %%
# Four of the sensors above, the spans below; a state that returns has its colour again.
plt.style.use(STYLE)
figure, (top, bottom) = plt.subplots(2, height_ratios=[3, 1], sharex=True, figsize=(9, 4.6))
for column, style in zip(range(4), ["-", "--", "-.", ":"], strict=True):
    top.plot(sequence.times, sequence.X[:, column], style, color="0.25", linewidth=1, label=names[column])
for boundary in osc.boundaries_:
    top.axvline(boundary, color="0.7", linewidth=0.8)
top.set(ylabel="reading", xlim=(0, len(states)))
top.legend(ncols=4, loc="lower center", bbox_to_anchor=(0.5, 1))
plot_spans(bottom, {"truth": states, "found": osc.labels_})
bottom.set(xlabel="seconds")
plt.show()
