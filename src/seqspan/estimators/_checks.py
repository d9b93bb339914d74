"""Which checks of scikit-learn cannot hold for samples in order."""

from __future__ import annotations

from seqspan.estimators._base import SubspaceSegmenter
from seqspan.estimators.spatsc import SpatSC
from seqspan.estimators.ssc import SSC

SHUFFLED_BLOBS = (
    "asks for three Gaussian blobs in a plane to be found in shuffled order: neighbours in time then share "
    "nothing, and blobs are no subspaces"
)


NEIGHBOURS = "asks for the same label of a sample without its neighbours: spans are longer than a sample"
#: The data decide whether these fail.
WITHOUT_NEIGHBOURS = dict.fromkeys(
    ("check_methods_subset_invariance", "check_methods_sample_order_invariance"), NEIGHBOURS
)


def expected_failed_checks(estimator: SubspaceSegmenter) -> dict[str, str]:
    """Checks of ``sklearn.utils.estimator_checks.check_estimator`` that fail or may fail, with the reason.

    Parameters
    ----------
    estimator : SubspaceSegmenter

    Returns
    -------
    dict of str to str
        For the argument of the same name of ``check_estimator`` and ``parametrize_with_checks``. All other
        checks pass.

    Examples
    --------
    >>> from sklearn.utils.estimator_checks import check_estimator
    >>> from seqspan import LSR
    >>> lsr = LSR()
    >>> results = check_estimator(lsr, expected_failed_checks=expected_failed_checks(lsr), on_skip=None)
    >>> {result["status"] for result in results} <= {"passed", "skipped", "xfail"}
    True
    """
    blobs = {} if isinstance(estimator, SpatSC | SSC) else {"check_clustering": SHUFFLED_BLOBS}
    return WITHOUT_NEIGHBOURS | blobs
