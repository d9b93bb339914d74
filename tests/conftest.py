"""Selection of tests by what the machine has, and no silent skips where skips are forbidden."""

from __future__ import annotations

import importlib.util
import os
from pathlib import Path

import pytest
from hypothesis import Phase, settings

# beside other workers, threads of BLAS wait for each other; NumPy reads this when it is imported
if "PYTEST_XDIST_WORKER" in os.environ:
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

# a busy machine is not a failing test: examples are limited in number, not in time
settings.register_profile("seqspan", deadline=None)
# a mutation run tries the tests a thousand times, repeats exactly, and asks only whether they fail
settings.register_profile(
    "mutants",
    deadline=None,
    derandomize=True,
    max_examples=25,
    phases=[Phase.explicit, Phase.generate],
)
settings.load_profile(os.environ.get("SEQSPAN_HYPOTHESIS", "seqspan"))


def has_gpu() -> bool:
    if importlib.util.find_spec("cupy") is None:
        return False
    import cupy

    return bool(cupy.cuda.is_available())


#: Examples in docstrings that need the real data sets.
DATA_EXAMPLES = ("seqspan.datasets.real.load_", "seqspan.datasets._real_mocap.load_")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    for item in items:
        if item.name.startswith(DATA_EXAMPLES):
            item.add_marker("data")
    present = {
        "data": "SEQSPAN_DATA" in os.environ,
        "gpu": has_gpu(),
        "otio": importlib.util.find_spec("opentimelineio") is not None,
    }
    missing = {marker for marker, there in present.items() if not there}
    out = [item for item in items if missing & {mark.name for mark in item.iter_markers()}]
    if out:
        config.hook.pytest_deselected(items=out)
        items[:] = [item for item in items if item not in set(out)]


def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if os.environ.get("SEQSPAN_FORBID_SKIPS") and reporter and reporter.stats.get("skipped"):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


@pytest.fixture(scope="session")
def data_dir() -> Path:
    return Path(os.environ["SEQSPAN_DATA"])


@pytest.fixture
def plain_report(monkeypatch: pytest.MonkeyPatch) -> None:
    """A report of one line for tests that are not about it: it takes longer than everything else."""
    monkeypatch.setattr("seqspan.cli.segment.build_report", lambda found, *more, **names: str(found.spans))
