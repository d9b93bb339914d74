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
#: What numpydoc finds wrong: no docstring; parameters undocumented, unknown, in another order; no example.
WRONG = {"GL08", "PR01", "PR02", "PR03", "EX01"}


def public_modules() -> list[str]:
    """The package and what lies directly in it; files deeper down are public through these alone."""
    found = [module.name for module in pkgutil.iter_modules(seqspan.__path__)]
    return ["seqspan", *(f"seqspan.{name}" for name in found if name[0] != "_")]


@cache
def public_names() -> dict[str, object]:
    """What the modules export in ``__all__``, each under the first name it is found by."""
    names: dict[str, object] = {}
    for module_name in public_modules():
        module = importlib.import_module(module_name)
        for name in module.__all__:
            value = getattr(module, name)
            if not any(value is known for known in names.values()):
                names[f"{module_name}.{name}"] = value
    return names


@pytest.mark.parametrize("name", public_modules())
def test_every_public_module_says_what_it_exports(name):
    module = importlib.import_module(name)
    assert len(set(module.__all__)) == len(module.__all__)
    assert not [each for each in module.__all__ if each[0] == "_" or not hasattr(module, each)]


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


def test_reference_lists_every_public_name_once_and_nothing_else():
    assert sorted(in_reference()) == sorted(public_names())


def test_estimators_explain_a_shared_parameter_in_the_same_words():
    """Docstrings are complete where they stand, so that tools can read them; they must not drift apart."""
    texts: dict[str, dict[str, str]] = {}
    for estimator in (seqspan.OSC, seqspan.SpatSC, seqspan.SSC, seqspan.LRR, seqspan.LSR):
        for name, text in entries_of(inspect.getdoc(estimator)).items():
            texts.setdefault(name, {})[estimator.__name__] = text
    own = {"lambda_1", "lambda_2", "noise", "coef_"}  # mean different things, or have other shapes
    drifted = {
        name: found for name, found in texts.items() if name not in own and len(set(found.values())) > 1
    }
    assert drifted == {}
    assert len(texts) > 30


def entries_of(docstring: str) -> dict[str, str]:
    """Text of each parameter and attribute of a docstring, by name."""
    found = re.split(
        r"\n(?=[a-z]\w* *[:,])", docstring.partition("Parameters\n----------")[2].partition("Examples\n")[0]
    )
    return {entry.partition(" :")[0]: entry.partition("\n\n")[0].strip() for entry in found if " :" in entry}
