"""A missing package is named together with the extra that installs it."""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path

import pytest

from seqspan._core.extras import EXTRAS, MissingPackageError, import_optional, require_optional

ROOT = Path(__file__).parents[2]
#: Distributions whose name is not that of the package they install.
PACKAGES = {"cupy-cuda12x": "cupy"}


def test_every_extra_installs_what_the_error_says():
    """The table of the code and the extras of pyproject.toml are the same."""
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    for_users = ("video", "plots", "mocap", "spectra", "matlab", "gpu", "cluster")
    names = {re.match(r"[\w-]+", line)[0]: extra for extra in for_users for line in extras[extra]}
    assert {PACKAGES.get(name, name): extra for name, extra in names.items()} == EXTRAS


def test_all_is_everything_but_the_gpu():
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    assert extras["all"] == ["seqspan[video,plots,mocap,spectra,matlab,cluster]"]


@pytest.mark.parametrize("package", EXTRAS)
def test_a_missing_package_is_named_with_its_extra(package, monkeypatch):
    monkeypatch.setitem(sys.modules, package, None)
    remedy = f"pip install 'seqspan[{EXTRAS[package]}]'"
    message = re.escape(f"dancing needs the package {package}, which is not installed: {remedy}")
    for check in (import_optional, require_optional):
        with pytest.raises(MissingPackageError, match=f"^{message}$"):
            check(f"{package}.steps", "dancing")


def test_a_package_that_is_there_is_imported():
    assert import_optional("matplotlib.colors", "painting").to_hex("red") == "#ff0000"
    assert require_optional("matplotlib.colors", "painting") is None


def test_a_package_that_fails_while_it_is_imported_is_not_called_missing(tmp_path, monkeypatch):
    (tmp_path / "pybvh.py").write_text("raise ImportError('libbvh.so.1: cannot open shared object file')")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "pybvh", raising=False)
    with pytest.raises(ImportError, match=r"libbvh\.so\.1") as caught:
        import_optional("pybvh", "reading BVH files")
    assert not isinstance(caught.value, MissingPackageError)
