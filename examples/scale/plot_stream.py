"""
Streams
=======

``partial_fit`` extends a segmentation while samples arrive, and forgets the distant past. A boundary may
still move at first; it is final once ``delay_`` more samples have arrived. This page shows when boundaries
are found and when they become final.
"""

# %%
# Two minutes of motion at 30 frames per second, in blocks of two seconds. ``time_scale`` is the number of
# samples in which something can happen: a second. The mean of a stream is not known in advance, so nothing is
# centred; here we pretend to know it from an earlier recording.
import matplotlib.pyplot as plt
import numpy as np

from seqspan import OSC
from seqspan.cuts import boundaries_from_labels
from seqspan.datasets import make_motion
from seqspan.plots import STYLE

X, labels = make_motion(14_400, 20, span_seconds=8, rng=1)
X, labels = (X - X.mean(axis=1, keepdims=True))[:, ::4].T, labels[::4]

osc = OSC(time_scale=30, n_jobs=1)
history = []
for block in np.array_split(X, len(X) // 60):
    osc.partial_fit(block)
    history.append((osc.n_samples_seen_, osc.boundaries_.copy(), osc.n_final_))
osc.partial_fit(block[:0], last=True)  # no more samples: everything becomes final
print(f"final after {osc.delay_} samples, {osc.delay_ / 30:.0f} s")
print(f"{len(osc.boundaries_)} boundaries found, {len(boundaries_from_labels(labels))} true")

# %%
# Time runs upwards. Samples left of the solid line have arrived; boundaries left of the dashed line cannot
# move any more.
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
ax.plot(now, now + osc.delay_ / 30, color="black", linewidth=1, linestyle="--", label="now minus the delay")
ax.set(xlim=now, ylim=now, xlabel="boundary (s); true ones in grey", ylabel="arrived so far (s)")
ax.legend(loc="center left", bbox_to_anchor=(1, 0.5))
plt.show()
