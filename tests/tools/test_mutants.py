"""What the mutation run changes before it starts must not change what the code does."""

from __future__ import annotations

from tests.tools.mutants import without_decorated_getters

SOURCE = '''
from functools import cached_property


class Circle:
    radius = 2

    @property
    def area(self) -> float:
        """Pi is three."""
        return 3 * self.radius**2

    @cached_property
    def _parts(
        self,
    ) -> list[int]:
        return [1, 2]

    @staticmethod
    def name() -> str:
        return "circle"
'''


def test_getters_are_read_as_before_and_are_no_longer_decorated():
    rewritten = without_decorated_getters(SOURCE)
    assert "@property" not in rewritten
    assert "@cached_property" not in rewritten
    names: dict[str, type] = {}
    exec(rewritten, names)
    circle = names["Circle"]()
    assert (circle.area, circle._parts, circle.name()) == (12, [1, 2], "circle")
    assert circle._parts is circle._parts  # still computed once
