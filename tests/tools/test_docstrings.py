"""Every public name is explained: a docstring with its parameters, an example, a place in the reference."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import re
from functools import cache
from pathlib import Path

import pytest
from numpydoc.validate import validate
from sklearn.base import BaseEstimator

import seqspan

REFERENCE = Path(__file__).parents[2] / "docs" / "reference"
#: Modules of the package that others are built from; a new module is public unless it is named here.
INTERNAL = {
    "backend", "certificate", "checks", "cli", "demo", "evidence", "experiments", "gpu", "jumps",
    "kernel_features", "memory", "needs", "progress", "scatter_cut", "span_labels", "span_search",
    "surrogates",
}  # fmt: skip
#: Packages say in ``__all__`` what is public of the files in them, but for these.
FILES_OF_PACKAGES = ("datasets.real", "exports.split")
#: What numpydoc finds wrong: no docstring; parameters undocumented, unknown, in another order; no example.
WRONG = {"GL08", "PR01", "PR02", "PR03", "EX01"}


def public_modules() -> list[str]:
    found = [module.name for module in pkgutil.iter_modules(seqspan.__path__)]
    names = [name for name in found if name[0] != "_" and name not in INTERNAL]
    return ["seqspan", *(f"seqspan.{name}" for name in (*names, *FILES_OF_PACKAGES))]


@cache
def public_names() -> dict[str, object]:
    """Objects by the shortest name they are imported by."""
    names: dict[str, object] = {}
    for module_name in public_modules():
        module = importlib.import_module(module_name)
        own = [name for name, value in vars(module).items() if _is_defined(value, module_name)]
        for name in getattr(module, "__all__", own):
            value = getattr(module, name)
            if name[0] != "_" and not (callable(value) and value in names.values()):
                names[f"{module_name}.{name}"] = value
    return names


def _is_defined(value: object, module: str) -> bool:
    return (inspect.isfunction(value) or inspect.isclass(value)) and value.__module__ == module


def methods_of(kind: type) -> list[str]:
    """Public methods that this package defines."""
    methods = inspect.getmembers(kind, inspect.isfunction)
    return [name for name, value in methods if name[0] != "_" and value.__module__.startswith("seqspan")]


def explained() -> list[str]:
    """Functions, classes and the methods of estimators."""
    names = public_names()
    estimators = {
        name: value
        for name, value in names.items()
        if inspect.isclass(value) and issubclass(value, BaseEstimator)
    }
    methods = [f"{name}.{method}" for name, kind in estimators.items() for method in methods_of(kind)]
    return sorted([name for name, value in names.items() if callable(value)] + methods)


def faults_of(name: str) -> list[str]:
    value = public_names().get(name)
    protocol = getattr(value, "_is_protocol", False)  # never called, so it has no parameters to explain
    ignored = {"PR01"} if protocol else set()
    return [f"{code} {text}" for code, text in validate(name)["errors"] if code in WRONG - ignored]


@pytest.mark.parametrize("name", explained())
def test_docstring_explains_parameters_and_has_an_example(name):
    assert faults_of(name) == []


def in_reference() -> list[str]:
    """Names in the directives ``autosummary``, ``autodata`` and ``data`` of the pages."""
    names = []
    for page in REFERENCE.glob("*.rst"):
        module, listing = "", False
        for line in page.read_text(encoding="utf-8").splitlines():
            if match := re.match(r"\.\. currentmodule:: (\S+)", line):
                module = match[1]
            if match := re.match(r"\.\. (?:auto)?data:: (\S+)", line):
                names.append(f"{module}.{match[1]}")
            listing = line.startswith(".. autosummary::") or (listing and line[:3] in ("", "   "))
            if listing and (match := re.match(r"   (\w\S*)$", line)):
                names.append(f"{module}.{match[1]}")
    return names


def test_reference_lists_every_public_name_once():
    listed = [name for name in in_reference() if name in public_names() or callable(_load(name))]
    assert sorted(listed) == sorted(public_names())  # constants beyond those of __all__ may be listed too


def _load(name: str) -> object:
    module, _, attribute = name.rpartition(".")
    return getattr(importlib.import_module(module), attribute)
