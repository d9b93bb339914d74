"""What can be known about the device functions without a GPU: they are there, and sizes agree with Python."""

from __future__ import annotations

import re
from importlib.resources import files

import pytest

from seqspan.solvers.gpu import device_functions as functions
from seqspan.solvers.gpu import pieces

SOURCE = "\n".join(files("seqspan.solvers.gpu").joinpath(name).read_text() for name in functions.SOURCES)
LAUNCHED = re.findall(
    r'"([a-z_]+)", ', files("seqspan.solvers.gpu").joinpath("device_functions.py").read_text()
)


@pytest.mark.parametrize(
    ("name", "value"),
    [("LENGTH", pieces.LENGTH), ("BANDS", functions.BANDS), ("PATH_THREADS", functions.PATH_THREADS)],
)
def test_sizes_are_the_same_on_both_sides(name, value):
    assert re.findall(rf"constexpr int {name} = (\d+);", SOURCE) == [str(value)]


def test_blocks_have_as_many_threads_as_they_are_launched_with():
    assert "constexpr int THREADS = 512 / sizeof(real);" in SOURCE
    assert (
        "self.threads = 512 // np.dtype(dtype).itemsize"
        in files("seqspan.solvers.gpu").joinpath("device_functions.py").read_text()
    )


@pytest.mark.parametrize("name", sorted({name for name in LAUNCHED if name != "seqspan"}))
def test_what_is_launched_is_there(name):
    assert re.search(rf"\b{name}[(,]", SOURCE)  # a comma where a macro defines it
