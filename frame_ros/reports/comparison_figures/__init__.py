# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The figures and the table of scalars of a comparison of policies, as plain descriptions.

Each takes arrays, `Cell`s or values with their intervals, and returns a `Figure` (or `Table`) of
`reports.html.study_page` with its caption. Make the looks once, by `looks_of(policies, human)`, and
give them to every figure, so that a policy looks the same everywhere. Names may be anything: they
are cut and escaped.

- `cdf_figure(cells, tau, bands, looks)`, `macro_cdf_figure(cells, tau, bands, looks)`: time to
  success, with `Band(times, lower, upper)`
- `pp_figure(cells, reference, reference_name, tau, looks)`: P-P with AUC and KS
- `qq_figure(cells, reference, reference_name, tau, looks)`: Q-Q
- `trade_off_figure(cells, taus, variant, looks)`: UPH against MTBF/A
- `rmst_grid_figure(estimates, tau, reasons, looks)`: policy -> object -> (value, lower, upper)
- `forest_figure(rows, axis, about, reference, sides)`: of `ForestRow(name, estimate, note, look)`
- `failure_figure(counts, noun, looks)`: policy -> end -> count
- `conditions_figure(results, condition, axis, counts, looks)`: policy -> value -> (value, lower,
  upper)
- `detection_figure(curves, predicted, target, available, alpha)`: pair -> metric -> (n, rates)
- `sequential_figure(paths, boundaries, axis, about, planned)`: of `Path(pairs, values, stop,
  verdict)`
- `scalar_table(scalars, policies)`, `disagreement(scalars, policies)`: of `Scalar(name, values,
  higher_is_better)`
"""

from frame_ros.reports.comparison_figures.cdf import cdf_figure, macro_cdf_figure
from frame_ros.reports.comparison_figures.conditions import conditions_figure
from frame_ros.reports.comparison_figures.curves import Band
from frame_ros.reports.comparison_figures.detection import detection_figure
from frame_ros.reports.comparison_figures.failures import failure_figure
from frame_ros.reports.comparison_figures.forest import ForestRow, forest_figure
from frame_ros.reports.comparison_figures.pp import pp_figure
from frame_ros.reports.comparison_figures.qq import qq_figure
from frame_ros.reports.comparison_figures.rmst_grid import rmst_grid_figure
from frame_ros.reports.comparison_figures.scalar_table import Scalar, disagreement, scalar_table
from frame_ros.reports.comparison_figures.sequential import Path, sequential_figure
from frame_ros.reports.comparison_figures.style import Estimated, Look, looks_of
from frame_ros.reports.comparison_figures.trade_off import trade_off_figure

__all__ = [
    'Band',
    'Estimated',
    'ForestRow',
    'Look',
    'Path',
    'Scalar',
    'cdf_figure',
    'conditions_figure',
    'detection_figure',
    'disagreement',
    'failure_figure',
    'forest_figure',
    'looks_of',
    'macro_cdf_figure',
    'pp_figure',
    'qq_figure',
    'rmst_grid_figure',
    'scalar_table',
    'sequential_figure',
    'trade_off_figure',
]
