"""A report of one line for the tests that are not about it: it takes longer than everything else."""

from __future__ import annotations

import pytest


@pytest.fixture
def plain_report(monkeypatch):
    monkeypatch.setattr("seqspan.cli.segment.build_report", lambda found, *more, **names: str(found.spans))
