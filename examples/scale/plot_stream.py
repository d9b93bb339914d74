"""
Streams
=======

``partial_fit`` extends a segmentation while samples arrive, and forgets the distant past. A boundary may
still move at first. It is final as soon as all divisions that the evidence leaves in play agree on it. This
page shows when boundaries are found and when they become final.
"""

# %%
# Two minutes of motion at 30 frames per second, in blocks of two seconds. Preprocessing is learned from what
# has arrived.
import matplotlib.pyplot as plt
import numpy as np

from seqspan import OSC
from seqspan.cuts import boundaries_from_labels
from seqspan.datasets import make_motion
from seqspan.plots import STYLE

X, labels = make_motion(14_400, 20, span_seconds=8, rng=1)
X, labels = X[:, ::4].T, labels[::4]

osc = OSC(preprocess="centre", n_jobs=1)
history = []
for block in np.array_split(X, len(X) // 60):
    osc.partial_fit(block)
    history.append((osc.n_samples_seen_, osc.boundaries_.copy(), osc.n_final_))
print(f"final after {np.median(osc.delays_):.0f} samples (median), {np.median(osc.delays_) / 30:.0f} s")
print(f"{len(osc.boundaries_)} boundaries found, {len(boundaries_from_labels(labels))} true")

# %%
# Time runs upwards. Samples left of the line have arrived.
plt.style.use(STYLE)
figure, ax = plt.subplots(figsize=(8, 4.8))
for boundary in boundaries_from_labels(labels) / 30:
    ax.axvline(boundary, color="0.8", linewidth=3, zorder=0)
pending = [(b, seen) for seen, found, n_final in history for b in found[n_final:]]
final = [(b, seen) for seen, found, n_final in history for b in found[:n_final]]
for name, points, marker in (("may still move", pending, "."), ("final", final, "_")):
    place, seen = np.array(points).T / 30
    ax.plot(place, seen, marker, label=name, markersize=5, linestyle="none")
now = np.array([0, len(X)]) / 30
ax.plot(now, now, color="black", linewidth=1, label="now")
ax.set(xlim=now, ylim=now, xlabel="boundary (s); true ones in grey", ylabel="arrived so far (s)")
ax.legend(loc="center left", bbox_to_anchor=(1, 0.5))
plt.show()
