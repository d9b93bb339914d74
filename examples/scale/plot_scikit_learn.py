"""
With scikit-learn: pipelines and grids
======================================

The estimators follow scikit-learn's conventions: they can be cloned, they accept data frames, and they can be
part of a pipeline. Here we choose the weights on one labelled recording and use them on another.
"""

# %%
# Two recordings of the same three subspaces with strong noise; the second is not looked at until the end. The
# pipeline scales the columns.
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from seqspan import OSC
from seqspan.datasets import add_noise, make_recurring_subspaces
from seqspan.metrics import SegmentationScorer, clustering_error
from seqspan.plots import STYLE, plot_spans

X, labels = make_recurring_subspaces((0, 1, 2, 1, 1, 2, 0, 2), ambient=60, samples_per_span=25, rng=0)
X = add_noise(X, psnr=3, rng=1)
frame = pd.DataFrame(X.T, columns=[f"channel {i}" for i in range(60)])
first, second = slice(0, 100), slice(100, 200)
pipeline = make_pipeline(StandardScaler(with_mean=False), OSC(n_subspaces=3, n_jobs=1, random_state=0))

# %%
# ``SegmentationScorer`` makes ``GridSearchCV`` work. This recording is too short to be divided into folds, so
# the one split has all rows on both sides; the labels are used for the score alone.
grid = {"osc__lambda_1": [0.03, 0.1, 0.3], "osc__lambda_2": [0.01, 0.1, 1.0, 10.0]}
rows = np.arange(100)
search = GridSearchCV(pipeline, grid, scoring=SegmentationScorer(), cv=[(rows, rows)], refit=False)
search.fit(frame[first], labels[first])
errors = 1 - search.cv_results_["mean_test_score"]
best = search.best_params_
print("best on the first recording:", best)

# %%
# The error on the first recording for all settings, and the labels of the second recording with the best one.
found = clone(pipeline).set_params(**best).fit_predict(frame[second])
print(f"mislabelled in the second recording: {clustering_error(labels[second], found):.1%}")

plt.style.use(STYLE)
figure, (left, right) = plt.subplots(1, 2, width_ratios=[5, 6], figsize=(9.5, 3.2))
table = np.reshape(errors, (3, 4))
left.imshow(table, cmap="BuPu", vmin=0, vmax=1)
for (row, column), error in np.ndenumerate(table):
    left.text(column, row, f"{error:.0%}", ha="center", va="center")
left.set(
    xticks=range(4), xticklabels=grid["osc__lambda_2"], yticks=range(3), yticklabels=grid["osc__lambda_1"]
)
left.set(xlabel="$\\lambda_2$", ylabel="$\\lambda_1$", title="mislabelled, first recording")
plot_spans(right, {"truth": labels[second], "found": found}, title="second recording")
plt.show()
