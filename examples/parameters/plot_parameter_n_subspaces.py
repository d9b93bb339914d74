"""
n_subspaces: how many labels
============================

The number of distinct labels, on three subspaces, two of which return.
"""

# %%
# With too few labels, different spans share one. With too many, a span is divided, or gets another label when
# it returns.
import matplotlib.pyplot as plt

from seqspan import OSC
from seqspan.datasets import add_noise, make_recurring_subspaces
from seqspan.plots import STYLE, plot_spans

X, labels = make_recurring_subspaces(
    (0, 1, 0, 2, 1), ambient=60, samples_per_span=(30, 20, 25, 30, 20), rng=0
)
X = add_noise(X, psnr=10, rng=0)
counts = {"too few: 2": 2, "right: 3": 3, "too many: 6": 6}
found = {name: OSC(k, random_state=0).fit(X.T).labels_ for name, k in counts.items()}
plt.style.use(STYLE)
figure, ax = plt.subplots(figsize=(8.5, 2.8))
plot_spans(ax, {"truth": labels, **found})
plt.show()
