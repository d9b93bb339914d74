"""
A sensor table with gaps
========================

We read a CSV file of a machine's sensors with missing values, segment it and write the spans to a table. No
numbers are given: neither how many spans there are nor how many states the machine has.
"""

# %%
# The file
# --------
# A pump is in one of three states and returns to them. In each state its eight sensors move together in
# a different way. One sensor drops out for twenty seconds, and single values are missing.
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from scipy.ndimage import gaussian_filter1d

import seqspan
from seqspan.plots import STYLE

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
# ``read`` detects the delimiter, the header and the time column. A missing value is an error unless you say
# what to do about it. Everything that was filled in or left out is in the notes.
recording = seqspan.read(folder / "pump.csv", missing="interpolate")
print(f"{len(recording)} samples of {len(recording.feature_names)} features, times in {recording.time_unit}")
print("\n".join(recording.notes))

# %%
# Segmenting
# ----------
# By default, the data decide whether columns are centred and scaled, and how many spans and states there
# are.
found = seqspan.segment(recording)
true = np.flatnonzero(np.diff(states)) + 1
print("steps applied:", [step["step"] for step in found.representation.steps])
print("found", found.boundaries.tolist(), "true", true.tolist())

# %%
# Writing
# -------
# ``save`` writes a folder with the spans, the labels of all samples, and what was done. The confidence of a
# span is that of the boundary at its start.
found.save(folder / "pump.seqspan")
print((folder / "pump.seqspan" / "segments.csv").read_text())
temporary.cleanup()

# %%
# Four of the sensors above, the spans below. A state that returns has the same colour again.
plt.style.use(STYLE)
figure, (top, bottom) = plt.subplots(2, height_ratios=[3, 1], sharex=True, figsize=(9, 4.6))
for column, style in zip(range(4), ["-", "--", "-.", ":"], strict=True):
    top.plot(recording.times, recording.X[:, column], style, color="0.25", linewidth=1, label=names[column])
for boundary in recording.times[found.boundaries]:
    top.axvline(boundary, color="0.7", linewidth=0.8)
top.set(ylabel="reading")
top.margins(x=0)
top.legend(ncols=4, loc="lower center", bbox_to_anchor=(0.5, 1))
found.plot(bottom)
plt.show()
