"""
Strata of a drill core
======================

A core is scanned from top to bottom, one spectrum every ten centimetres. Minerals mix in each stratum in
varying amounts, which is what a subspace is. Two of the four kinds of rock return further down. This page
also shows what to do when fewer strata are found than there are: ask for more, and look at the
confidence.
"""

# %%
# Twelve made-up mineral spectra between 8 and 12 micrometres, each with a few absorption features; three of
# them make up each kind of rock.
import matplotlib.pyplot as plt
import numpy as np

from seqspan import OSC
from seqspan.datasets import add_noise, correlated_coefficients
from seqspan.plots import STYLE, plot_spans

rng = np.random.default_rng(0)
wavelengths = np.linspace(8, 12, 120)
library = np.full((120, 12), 0.9)
for mineral in range(12):
    for _ in range(rng.integers(2, 5)):
        place, width, depth = rng.uniform(8, 12), rng.uniform(0.06, 0.3), rng.uniform(0.1, 0.5)
        library[:, mineral] -= depth * np.exp(-((wavelengths - place) ** 2) / (2 * width**2))

rocks, thickness = [0, 1, 2, 1, 3, 0], [60, 45, 30, 40, 70, 55]
strata = [
    library[:, 3 * rock : 3 * rock + 3] @ correlated_coefficients(3, count, mean=0.2, rng=rng)
    for rock, count in zip(rocks, thickness, strict=True)
]
X = add_noise(np.hstack(strata), psnr=30, rng=rng)
truth = np.repeat(rocks, thickness)
print("strata begin at sample", (np.flatnonzero(np.diff(truth)) + 1).tolist())

# %%
# All spectra share a bright background, which would make all samples look alike: centring takes it away.
# Told nothing, the ordered cut is careful and joins the thin strata in the middle.
told_nothing = OSC(cut="ordered", preprocess="centre", random_state=0).fit(X.T)
print("told nothing:", told_nothing.boundaries_.tolist())

# %%
# Asked for six and for eight spans it has to place more boundaries, and says of each how much it explains.
# Up to six spans all are sure; what is added then explains nothing.
for n_spans in (8, 6):
    osc = OSC(cut="ordered", n_spans=n_spans, preprocess="centre", random_state=0).fit(X.T)
    found = zip(osc.boundaries_.tolist(), osc.confidence_.tolist(), strict=True)
    print(f"{n_spans} spans:", "  ".join(f"{start} ({sure:.2f})" for start, sure in found))
six = osc

# %%
# The scan from top to bottom, and the log beside it: one colour for each kind of rock.
plt.style.use(STYLE)
figure, (scan, log) = plt.subplots(1, 2, width_ratios=[5, 4], figsize=(8.5, 5), sharey=True)
extent = (wavelengths[0], wavelengths[-1], len(truth), 0)
scan.imshow(X.T, aspect="auto", cmap="cividis", extent=extent, interpolation="nearest")
scan.set(title="spectra, bright is high", xlabel="wavelength (µm)")
plot_spans(
    log, {"truth": truth, "told nothing": told_nothing.labels_, "six spans": six.labels_}, vertical=True
)
log.set(title="log", ylabel="")
scan.set(ylabel="depth (m)", yticks=range(0, 301, 50), yticklabels=range(0, 31, 5), ylim=(len(truth), 0))
plt.show()
