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


def expected_failed_checks(estimator: SubspaceSegmenter) -> dict[str, str]:
    """Checks of ``sklearn.utils.estimator_checks.check_estimator`` that must fail, with the reason.

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
    >>> sorted({result["status"] for result in results})
    ['passed', 'skipped', 'xfail']
    """
    if isinstance(estimator, SSC):
        order = "check_methods_sample_order_invariance"
        return {"check_methods_subset_invariance": NEIGHBOURS, order: NEIGHBOURS}
    return {} if isinstance(estimator, SpatSC) else {"check_clustering": SHUFFLED_BLOBS}
