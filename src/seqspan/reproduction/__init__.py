"""The paper's experiments, which ``seqspan reproduce`` runs.

An experiment is a grid of independent cases; each gives a row of a CSV file (``_experiment``, ``_rows``).
Cases run in a batch that can be killed and resumed (``_batch``). Figures and summaries are made from the
rows (``_results``). Four experiments differ only in their description (``_noise``):
:mod:`~seqspan.reproduction.synthetic`, :mod:`~seqspan.reproduction.spectra`,
:mod:`~seqspan.reproduction.video` and :mod:`~seqspan.reproduction.mocap`. The fifth,
:mod:`~seqspan.reproduction.runtime`, measures time.
"""

from seqspan.reproduction._experiment import Experiment
from seqspan.reproduction.mocap import MOCAP
from seqspan.reproduction.runtime import RUNTIME
from seqspan.reproduction.spectra import SPECTRA
from seqspan.reproduction.synthetic import SYNTHETIC
from seqspan.reproduction.video import VIDEO

__all__: list[str] = []  # ``seqspan reproduce`` is the way in

#: Every experiment by name, in the order in which ``seqspan reproduce all`` runs them.
EXPERIMENTS: dict[str, Experiment] = {
    experiment.name: experiment for experiment in (SYNTHETIC, SPECTRA, RUNTIME, VIDEO, MOCAP)
}
