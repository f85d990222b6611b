# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Q-Q plots: times of the same quantile of a policy and of the reference (PhAIL, figure 8)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from frame_ros.evaluation.survival.cell import Cell
from frame_ros.evaluation.survival.kaplan_meier import KaplanMeier
from frame_ros.reports.comparison_figures.curves import Array, curves_of
from frame_ros.reports.comparison_figures.style import (
    GREY,
    PANELS,
    Look,
    Trace,
    cut,
    empty_note,
    label_of,
    labels_of,
    looks_of,
    shown_objects,
)
from frame_ros.reports.html.panels import axes_of, small_multiples
from frame_ros.reports.html.study_page import Figure
from frame_ros.reports.model.numbers import plot_numbers

WIDEST = 0.5  # of the width, of a panel
QUANTILES = 100
SLOWDOWNS = (1, 2, 5, 10, 20)


def qq_figure(
    cells: Mapping[str, Mapping[str, Cell]],
    reference: Mapping[str, Cell],
    reference_name: str,
    tau: float,
    looks: Mapping[str, Look] | None = None,
) -> Figure:
    """Returns a panel per object: the time in which the reference has done a share of its
    operations over the time in which a policy has.

    Args:
        cells: policy -> object -> operations.
        reference: object -> operations of the human reference, or of another policy.
        reference_name: in words.
        tau: s; later times are not drawn.
        looks: of the policies, as `looks_of` makes them; by their order if not given.
    """
    looks = looks or looks_of(cells)
    references = curves_of(reference)
    curves = {
        policy: {name: each for name, each in curves_of(row).items() if name in references}
        for policy, row in cells.items()
    }
    objects, more = shown_objects(curves)
    other = label_of(reference_name)
    titles = list(labels_of(objects).values()) or ['']
    layout = small_multiples(
        titles, 'time of the policy (s)', f'time of {other} (s)', widest=WIDEST
    )
    data: list[Trace] = []
    named: set[str] = set()
    for panel, name in enumerate(objects, 1):
        lines = {
            policy: matched_quantiles(row[name], references[name], tau)
            for policy, row in curves.items()
            if name in row
        }
        drawn = {policy: line for policy, line in lines.items() if len(line[0])}
        if not drawn:
            empty_note(layout, panel, 'nothing was done')
            continue
        width = 1.12 * max(float(x[-1]) for _, x, _ in drawn.values())
        height = 1.12 * max(float(y[-1]) for *_, y in drawn.values())
        _add_slowdowns(data, layout, panel, width, height)
        for policy, line in drawn.items():
            data += _curve(line, looks[policy], panel, policy not in named)
            named.add(policy)
    if not objects:
        empty_note(layout, 1, f'no object with operations of a policy and of {other}')
    other = cut(reference_name)
    return Figure(
        data,
        layout,
        f'Times in which {other} and each policy have done the same share of their operations. On '
        f'the dashed line a policy is as fast as {other}, on the dotted ones so many times slower; '
        'a curve that bends away from them is slow above all on its slowest operations. It ends '
        f'in an open marker at the last share that both reach by τ = {tau:g} s.{more}',
        PANELS,
    )


def matched_quantiles(
    curve: KaplanMeier, reference: KaplanMeier, tau: float
) -> tuple[Array, Array, Array]:
    """Returns shares, the times of the curve and those of the reference in s, up to the last share
    that both reach by tau; empty if there is none.
    """
    last = min(float(curve.cdf(tau)), float(reference.cdf(tau)))
    if last <= 0.0:
        return np.empty(0), np.empty(0), np.empty(0)
    shares = np.arange(1, QUANTILES + 1) / QUANTILES
    shares = np.append(shares[shares < last], last)
    return shares, np.asarray(curve.quantile(shares)), np.asarray(reference.quantile(shares))


def _curve(line: tuple[Array, Array, Array], look: Look, panel: int, is_named: bool) -> list[Trace]:
    shares, x, y = line
    common = {'type': 'scatter', 'legendgroup': look.label, **axes_of(panel)}
    words = '%{customdata:.1%} done: %{x:.3g} s against %{y:.3g} s'
    return [
        {
            **common, 'mode': 'lines', 'name': look.label, 'showlegend': is_named,
            'x': plot_numbers(x, 4), 'y': plot_numbers(y, 4), 'customdata': plot_numbers(shares, 4),
            'line': look.line(), 'marker': {'color': look.colour},
            'hovertemplate': f'{words}<extra>{look.label}</extra>',
        },
        {
            **common, 'mode': 'markers', 'name': 'last', 'showlegend': False,
            'x': plot_numbers(x[-1:], 4), 'y': plot_numbers(y[-1:], 4),
            'customdata': plot_numbers(shares[-1:], 4), 'marker': look.marker(9, is_open=True),
            'hovertemplate': f'last share that both reach<br>{words}<extra>{look.label}</extra>',
        },
    ]  # fmt: skip


def _add_slowdowns(
    data: list[Trace], layout: dict[str, Any], panel: int, width: float, height: float
) -> None:
    """Draws a line for every slowdown, from the origin to where it leaves the panel."""
    axes = axes_of(panel)
    layout[f'xaxis{axes["xaxis"][1:]}'].update(range=[0, width])
    layout[f'yaxis{axes["yaxis"][1:]}'].update(range=[0, height])
    for factor in SLOWDOWNS:
        end = min(width, factor * height)
        dash = 'dash' if factor == 1 else 'dot'
        data.append(
            {'type': 'scatter', 'mode': 'lines', 'x': plot_numbers([0, end], 4), **axes,
             'y': plot_numbers([0, end / factor], 4), 'hoverinfo': 'skip', 'showlegend': False,
             'line': {'color': GREY, 'width': 1, 'dash': dash}}
        )  # fmt: skip
        is_at_top = end < width
        layout['annotations'].append(
            {'name': 'event', 'text': f'{factor}×', 'showarrow': False, 'x': end,
             'y': end / factor, 'xref': axes['xaxis'], 'yref': axes['yaxis'],
             'xanchor': 'left' if is_at_top else 'right',
             'yanchor': 'top' if end / factor > 0.9 * height else 'bottom'}
        )  # fmt: skip
