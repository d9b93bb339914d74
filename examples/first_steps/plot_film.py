"""
The scenes of a film
====================

A clip of four seconds is rendered: the camera moves over two photographs, with noise, and its first scene
returns at the end. ``read`` turns it into one row per frame; the ordered cut finds where scenes change
and which of them are the same.
"""

# %%
# The clip is half of the one of ``seqspan demo``, real pixels in an MP4 file. A picture in grey of 48 x 36
# pixels is enough to tell scenes apart.
import tempfile
from itertools import islice, pairwise
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from seqspan import OSC, read
from seqspan.cli.demo import render, true_labels, write_clip
from seqspan.plots import COLOURS, STYLE, plot_spans

with tempfile.TemporaryDirectory() as folder:
    clip = Path(folder) / "clip.mp4"
    write_clip(clip, islice(render(np.random.default_rng(0)), 0, None, 2))  # every second frame
    film = read(clip, size=(48, 36))
print(f"{len(film)} frames of {film.X.shape[1]} pixels, the last at {film.times[-1]:.2f} {film.time_unit}")

# %%
# Frames stay bytes until the estimator takes them. It is told nothing.
osc = OSC(cut="ordered", random_state=0).fit(film.X)
for start, sure in zip(osc.boundaries_, osc.confidence_, strict=True):
    print(f"a scene begins at {film.times[start]:.2f} s, confidence {sure:.3f}")

# %%
# The middle frame of every scene, framed in the colour of its label. ``film.view`` shows the frames as they
# were read, whatever was done to the rows since.
edges = np.concatenate([[0], osc.boundaries_, [len(film)]])
plt.style.use(STYLE)
figure, axes = plt.subplot_mosaic(
    [list(range(len(edges) - 1)), ["timeline"] * (len(edges) - 1)], height_ratios=[3, 2], figsize=(9, 3.8)
)
for scene, (start, end) in enumerate(pairwise(edges)):
    ax = axes[scene]
    ax.imshow(film.view.sample((start + end) // 2), cmap="gray")
    ax.set(xticks=[], yticks=[], title=f"{film.times[start]:.1f} to {film.times[end - 1]:.1f} s")
    ax.spines[:].set(visible=True, color=COLOURS[osc.labels_[start]], linewidth=5)
plot_spans(axes["timeline"], {"rendered": true_labels()[::2], "found": osc.labels_})
axes["timeline"].set(xlabel="frame")
plt.show()
