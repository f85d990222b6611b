# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Units per hour against mean time between failures as tau varies (PhAIL, figures 9 and 10)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from frame_ros.evaluation.survival.cell import Cell
from frame_ros.evaluation.survival.kaplan_meier import RESTRICTED, KaplanMeier
from frame_ros.reports.comparison_figures.cdf import shared_objects
from frame_ros.reports.comparison_figures.curves import Array, curves_of
from frame_ros.reports.comparison_figures.style import (
    MOST_PANELS,
    PANELS,
    Look,
    Trace,
    cut_panels,
    empty_note,
    labels_of,
    looks_of,
)
from frame_ros.reports.html.figures import scale_of
from frame_ros.reports.html.panels import axes_of, small_multiples
from frame_ros.reports.html.study_page import Figure
from frame_ros.reports.model.numbers import plot_numbers

TAUS = (15.0, 30.0, 60.0, 120.0, 240.0)
MACRO = 'mean over objects'
WIDE = 12.0  # largest over smallest from which an axis is logarithmic


def trade_off_figure(
    cells: Mapping[str, Mapping[str, Cell]],
    taus: Sequence[float] = TAUS,
    variant: str = RESTRICTED,
    looks: Mapping[str, Look] | None = None,
) -> Figure:
    """Returns a panel per object, and one of the mean over the objects that all policies have.

    Args:
        cells: policy -> object -> operations; a human reference is left out, for hardly anything is
            left for its mean time between failures.
        taus: s, ascending; a point each.
        variant: of units per hour, as `KaplanMeier.units_per_hour` takes it.
        looks: of the policies, as `looks_of` makes them; by their order if not given.

    Raises:
        ValueRangeError: an unknown variant, or a tau that is not positive and finite.
    """
    looks = looks or looks_of(cells)
    curves = {each: curves_of(row) for each, row in cells.items() if not looks[each].is_human}
    every = list(dict.fromkeys(name for row in curves.values() for name in row))
    shared = shared_objects(curves)
    has_macro = len(every) > 1 and bool(shared)
    objects, more = cut_panels(every, 'object') if not has_macro else (every[: MOST_PANELS - 1], '')
    if has_macro and len(every) > len(objects):
        more = f' {len(every) - len(objects)} more objects are not drawn.'
    titles = list(labels_of(objects).values()) + [MACRO] * has_macro or ['']
    layout = small_multiples(titles, 'UPH (1/h)', 'MTBF/A (s)')
    data: list[Trace] = []
    named: set[str] = set()
    for panel in range(1, len(titles) + 1):
        used = shared if panel > len(objects) else objects[panel - 1 : panel]
        lines = {
            policy: trajectory([row[name] for name in used], taus, variant)
            for policy, row in curves.items()
            if used and all(name in row for name in used)
        }
        _add_panel(data, layout, lines, taus, looks, panel, named)
    return Figure(
        data,
        layout,
        'Units per hour, further right is better, against the mean time between failures or '
        f'assists, higher is better, at τ = {", ".join(f"{tau:g}" for tau in taus)} s: a larger τ '
        'makes the one smaller and the other larger, so that τ decides which policy looks better '
        'where the lines cross. One line of each panel names its τ. Where everything is done '
        f'by τ, the mean time between failures is infinite and not drawn.{more}',
        PANELS,
    )


def trajectory(
    curves: Sequence[KaplanMeier], taus: Sequence[float], variant: str = RESTRICTED
) -> tuple[Array, Array]:
    """Returns units per hour and MTBF/A in s at every tau, the mean over the curves; not finite
    where one of them is not.
    """
    uph = [[each.units_per_hour(tau, variant) for tau in taus] for each in curves]
    between = [[each.mtbf_a(tau) for tau in taus] for each in curves]
    return np.mean(uph, axis=0), np.mean(between, axis=0)


def _add_panel(
    data: list[Trace],
    layout: dict[str, Any],
    lines: Mapping[str, tuple[Array, Array]],
    taus: Sequence[float],
    looks: Mapping[str, Look],
    panel: int,
    named: set[str],
) -> None:
    known = {
        policy: np.isfinite(x) & np.isfinite(y) & (x > 0) & (y > 0)
        for policy, (x, y) in lines.items()
    }
    drawn = [policy for policy in lines if known[policy].any()]
    if not drawn:
        empty_note(layout, panel, 'no policy has a finite mean time<br>between failures')
        return
    # The last of those with the most points.
    with_texts = max(reversed(drawn), key=lambda policy: known[policy].sum())
    for policy in drawn:
        x, y = lines[policy]
        is_known = known[policy]
        data.append(
            _line(x[is_known], y[is_known], np.asarray(taus)[is_known], looks[policy], panel,
                  policy not in named, policy == with_texts)
        )  # fmt: skip
        named.add(policy)
    number = axes_of(panel)['xaxis'][1:]
    for axis, place in ((f'xaxis{number}', 0), (f'yaxis{number}', 1)):
        values = np.concatenate([lines[policy][place][known[policy]] for policy in drawn])
        if values.max() > WIDE * values.min():
            low, high = np.log10(values.min()), np.log10(values.max())
            room = 0.09 * (high - low)
            layout[axis].update(scale_of(True), range=[round(low - room, 3), round(high + room, 3)],
                                tickvals=round_numbers(values.min(), values.max()))  # fmt: skip


def round_numbers(low: float, high: float) -> list[float]:
    """Returns 1, 2 and 5 times powers of ten between positive numbers; over more than two decades
    only the powers.
    """
    decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    steps = (1, 2, 5) if high < 100 * low else (1,)
    every = [float(f'{step}e{decade}') for decade in decades for step in steps]
    return [each for each in every if low <= each <= high]


def _line(
    x: Array, y: Array, taus: Array, look: Look, panel: int, is_named: bool, has_texts: bool
) -> Trace:
    named = {0, len(taus) // 2, len(taus) - 1} if has_texts else set()
    texts = [f'{tau:g}' if place in named else '' for place, tau in enumerate(taus)]
    return {
        'type': 'scatter', 'name': look.label, **axes_of(panel),
        'mode': 'lines+markers+text' if has_texts else 'lines+markers',
        'legendgroup': look.label, 'showlegend': is_named, 'x': plot_numbers(x, 4),
        'y': plot_numbers(y, 4), 'line': look.line(1.4), 'marker': look.marker(7), 'text': texts,
        'textposition': 'bottom left', 'cliponaxis': False, 'textfont': {'size': 9},
        'customdata': plot_numbers(taus),
        'hovertemplate': 'τ = %{customdata} s: %{x:.3g} per hour, %{y:.3g} s'
                         f'<extra>{look.label}</extra>',
    }  # fmt: skip
