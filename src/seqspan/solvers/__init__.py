"""How a model is minimised: one file per algorithm, one shared loop.

===========  ==========================================================  =====================================
name         algorithm                                                   models
===========  ==========================================================  =====================================
vladmap      v-LADMAP, the paper's Algorithm 1                           squared loss and a coupling
ladmpsap     LADMPSAP, the paper's Algorithm 2                           any model with a coupling
sylvester    the CVPR 2014 ADMM, a Sylvester equation in every step      squared loss and a coupling
splitting    ADMM with a block for every term                            all models
closed_form  one SVD                                                     LRR relaxed and noise-free, LSR
fast         the same ADMM in blocked, multi-threaded sweeps             OSC, SpatSC
===========  ==========================================================  =====================================
"""

from collections.abc import Callable
from typing import Any

from seqspan._core.solution import Progress, Solution
from seqspan.solvers.closed_form import solve_closed_form
from seqspan.solvers.cluster.solver import solve_on_cluster
from seqspan.solvers.fast.solver import solve_fast
from seqspan.solvers.loop import Algorithm, Stopping, run
from seqspan.solvers.published.ladmpsap import solve_ladmpsap
from seqspan.solvers.published.sylvester import solve_sylvester_admm
from seqspan.solvers.published.vladmap import solve_vladmap
from seqspan.solvers.splitting import solve_splitting

#: Solvers by the names used in the estimators and on the command line.
SOLVERS: dict[str, Callable[..., Solution[Any]]] = {
    "vladmap": solve_vladmap,
    "ladmpsap": solve_ladmpsap,
    "sylvester": solve_sylvester_admm,
    "splitting": solve_splitting,
    "closed_form": solve_closed_form,
    "fast": solve_fast,
}

__all__ = ["SOLVERS", "Algorithm", "Progress", "Solution", "Stopping", "run", "solve_on_cluster"]
