from __future__ import annotations

import numpy as np
import pytest

from seqspan._core.checks import check_choice, check_count, check_weight, check_weights


def test_weights():
    assert check_weight("w", 2) == 2.0
    assert check_weight("w", np.float32(0.5)) == 0.5
    assert check_weight("w", 0, positive=False) == 0.0
    np.testing.assert_array_equal(check_weights("w", [1, 2], 2), [1.0, 2.0])
    assert check_weights("w", 3, 2) == 3.0
    for bad in (True, "1", None, -1, 0, np.nan):
        with pytest.raises(ValueError, match="w must be"):
            check_weight("w", bad)
    with pytest.raises(ValueError, match="w must be"):
        check_weight("w", -1, positive=False)


def test_choices_and_counts():
    assert check_choice("c", "a", ("a", "b")) == "a"
    with pytest.raises(ValueError, match="c must be one of 'a', 'b'; got 3"):
        check_choice("c", 3, ("a", "b"))
    assert check_count("k", np.int64(3), 3, "3 things") == 3
    assert check_count("k", "auto", 3, "3 things", ("auto",)) == "auto"
    for bad in (0, 4, 1.0, True, "auto", None):
        with pytest.raises(ValueError, match=r"k must be an int in \[1, 3\] for 3 things; got"):
            check_count("k", bad, 3, "3 things")
