"""The paper's experiments, one file each: the grid of cases, what to run for one, what to draw of the rows.

A module has ``COLUMNS``, ``PARAMETERS`` (the columns that name a row) and ``DRAWN_BY`` (those that its data
depend on), ``GRID`` and ``QUICK``, ``search_cases(grid)`` and ``cases(grid, search)``,
``run(case, rng, data)``, ``expected_seconds(case)``, ``draw(table)`` and ``summarise(table, search)``.
:mod:`seqspan.reproduction.sweep` runs the cases; drawing and summing up only read rows.
"""

#: In the order in which ``seqspan reproduce all`` runs them.
EXPERIMENTS = ("synthetic", "spectra", "runtime", "video", "mocap")
