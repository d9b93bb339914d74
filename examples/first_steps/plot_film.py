"""
The scenes of a film
====================

We render a clip of four seconds: the camera moves over two photographs, with noise, and the first scene
returns at the end. ``read`` turns it into one row per frame; ``segment`` finds where scenes change and
which of them are the same.
"""

# %%
# The clip is half of the one that ``seqspan demo`` renders, real pixels in an MP4 file. Grey pictures of
# 48 x 36 pixels are enough to tell scenes apart.
import tempfile
from itertools import islice
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import seqspan
from seqspan.cli.demo import render, true_labels, write_clip
from seqspan.plots import COLOURS, STYLE, plot_spans

with tempfile.TemporaryDirectory() as folder:
    clip = Path(folder) / "clip.mp4"
    write_clip(clip, islice(render(np.random.default_rng(0)), 0, None, 2))  # every second frame
    film = seqspan.read(clip, size=(48, 36))
print(f"{len(film)} frames of {film.X.shape[1]} pixels, the last at {film.times[-1]:.2f} {film.time_unit}")

# %%
# ``seqspan.segment(clip)`` would read the file itself, at its default size. No numbers are given.
found = seqspan.segment(film)
print(found)
for span in found.spans[1:]:
    print(f"a scene begins at {span.start_time:.2f} s, confidence {span.confidence:.3f}")

# %%
# The middle frame of every scene, framed in the colour of its label. ``film.view`` shows the frames as they
# were read, whatever preprocessing did to the rows.
plt.style.use(STYLE)
numbers = list(range(len(found.spans)))
figure, axes = plt.subplot_mosaic(
    [numbers, ["timeline"] * len(numbers)], height_ratios=[3, 2], figsize=(9, 3.8)
)
for number, span in zip(numbers, found.spans, strict=True):
    ax = axes[number]
    ax.imshow(film.view.sample((span.start + span.end) // 2), cmap="gray")
    ax.set(xticks=[], yticks=[], title=f"{span.start_time:.1f} to {span.end_time:.1f} s")
    ax.spines[:].set(visible=True, color=COLOURS[span.label], linewidth=5)
plot_spans(axes["timeline"], {"rendered": true_labels()[::2], "found": found.labels})
axes["timeline"].set(xlabel="frame")
plt.show()
