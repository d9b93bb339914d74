"""
Layers of a drill core
======================

A core is scanned from top to bottom, one spectrum every ten centimetres. In each layer a few minerals mix in
varying amounts, so its spectra lie in a subspace. Two of the four kinds of rock return further down. This
page also shows what to do if fewer layers are found than there are: ask for more, and look at the confidence.
"""

# %%
# Twelve made-up mineral spectra between 8 and 12 micrometres, each with a few absorption features. Each kind
# of rock is a mixture of three of them, and the amounts resemble those of the neighbouring samples.
import matplotlib.pyplot as plt
import numpy as np

import seqspan
from seqspan.datasets import add_noise
from seqspan.plots import STYLE, plot_spans

rng = np.random.default_rng(0)
wavelengths = np.linspace(8, 12, 120)
library = np.full((120, 12), 0.9)
for mineral in range(12):
    for _ in range(rng.integers(2, 5)):
        place, width, depth = rng.uniform(8, 12), rng.uniform(0.06, 0.3), rng.uniform(0.1, 0.5)
        library[:, mineral] -= depth * np.exp(-((wavelengths - place) ** 2) / (2 * width**2))

rocks, thickness = [0, 1, 2, 1, 3, 0], [60, 45, 30, 40, 70, 55]
layers = []
for rock, count in zip(rocks, thickness, strict=True):
    noise = rng.standard_normal((3, count + 1))
    amounts = 0.2 + 0.0224 * (noise[:, 1:] + noise[:, :-1])
    layers.append(library[:, 3 * rock : 3 * rock + 3] @ amounts)
X = add_noise(np.hstack(layers), psnr=30, rng=rng)
truth = np.repeat(rocks, thickness)
print("layers begin at sample", (np.flatnonzero(np.diff(truth)) + 1).tolist())

# %%
# All spectra share a bright background, which makes all samples look alike; centring removes it. With no
# numbers given, the ordered cut is cautious and merges the thin layers in the middle.
found = seqspan.segment(X.T, preprocess="centre")
print("no numbers given:", found.boundaries.tolist())

# %%
# If you ask for six or eight spans, it has to place more boundaries, and says how sure each of them is. The
# five boundaries of six spans are sure; the two further ones of eight spans are not. ``recut`` solves nothing
# again.
for n_spans in (8, 6):
    recut = found.recut(n_spans=n_spans)
    print(f"{n_spans} spans:", "  ".join(f"{span.start} ({span.confidence:.2f})" for span in recut.spans[1:]))

# %%
# The scan from top to bottom, and the log beside it with one colour for each kind of rock.
plt.style.use(STYLE)
figure, (scan, log) = plt.subplots(1, 2, width_ratios=[5, 4], figsize=(8.5, 5), sharey=True)
extent = (wavelengths[0], wavelengths[-1], len(truth), 0)
scan.imshow(X.T, aspect="auto", cmap="cividis", extent=extent, interpolation="nearest")
scan.set(title="spectra, bright is high", xlabel="wavelength (µm)")
plot_spans(log, {"truth": truth, "no numbers\ngiven": found.labels, "six spans": recut.labels}, vertical=True)
log.set(title="log", ylabel="")
scan.set(ylabel="depth (m)", yticks=range(0, 301, 50), yticklabels=range(0, 31, 5), ylim=(len(truth), 0))
plt.show()
