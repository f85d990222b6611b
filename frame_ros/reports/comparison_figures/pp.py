# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""P-P plots: one CDF over another (PhAIL, figures 2 and 7), with the area below and the largest
distance.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from frame_ros.evaluation.survival.cell import Cell
from frame_ros.evaluation.survival.kaplan_meier import KaplanMeier
from frame_ros.evaluation.survival.two_samples import ks_supremum, probability_faster
from frame_ros.reports.comparison_figures.curves import curves_of, pp_corners
from frame_ros.reports.comparison_figures.style import (
    GREY,
    PANELS,
    Look,
    Trace,
    coloured,
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

DIGITS = 11  # the area below the points is the AUC
WIDEST = 0.38  # of the width, of a panel
SHORT = 12  # characters of a policy's name before its values


def pp_figure(
    cells: Mapping[str, Mapping[str, Cell]],
    reference: Mapping[str, Cell],
    reference_name: str,
    tau: float,
    looks: Mapping[str, Look] | None = None,
) -> Figure:
    """Returns a panel per object with a curve per policy over the reference's CDF.

    Args:
        cells: policy -> object -> operations; one policy to compare a pair.
        reference: object -> operations of the human reference, or of another policy.
        reference_name: in words.
        tau: s.
        looks: of the policies, as `looks_of` makes them; by their order if not given.
    """
    looks = looks or looks_of(cells)
    known = {name: cell for name, cell in reference.items() if len(cell.times)}
    rows = {
        policy: {name: cell for name, cell in row.items() if name in known and len(cell.times)}
        for policy, row in cells.items()
    }
    objects, more = shown_objects(rows)
    other, short = label_of(reference_name), labels_of(cells, SHORT)
    layout = small_multiples(
        list(labels_of(objects).values()) or [''], f'F of {other}', 'F of the policy', widest=WIDEST
    )
    data: list[Trace] = []
    named: set[str] = set()
    references = curves_of(known)
    for panel, name in enumerate(objects, 1):
        values: dict[str, tuple[float, float]] = {}
        data.append(_diagonal(panel))
        for policy in [each for each in rows if name in rows[each]]:
            cell, look = rows[policy][name], looks[policy]
            curve = curves_of({name: cell})[name]
            auc = probability_faster(cell, known[name], tau)
            supremum = ks_supremum(cell, known[name], tau)
            values[policy] = auc, supremum.distance
            data += _curve(curve, references[name], tau, look, panel, policy not in named, auc)
            if supremum.sign:
                data.append(_largest(curve, references[name], supremum.time, look, panel))
            named.add(policy)
        layout['annotations'].append(_values(values, looks, short, panel))
    _format(layout)
    if not objects:
        empty_note(layout, 1, f'no object with operations of a policy and of {other}')
    other = cut(reference_name)
    return Figure(
        data,
        layout,
        f'F of each policy over F of {other} at the same times up to τ = {tau:g} s. On the dashed '
        f'diagonal a policy is as fast as {other}; below it is slower, above it faster. AUC, '
        f'the area below a curve: probability to be faster than {other}; the dotted part counts '
        'what is beyond τ half. The vertical line is the KS distance, where it is largest.' + more,
        PANELS,
    )


def _diagonal(panel: int) -> Trace:
    return {
        'type': 'scatter', 'mode': 'lines', 'x': [0, 1], 'y': [0, 1], 'hoverinfo': 'skip',
        'showlegend': False, 'line': {'color': GREY, 'width': 1, 'dash': 'dash'}, **axes_of(panel),
    }  # fmt: skip


def _curve(
    curve: KaplanMeier,
    reference: KaplanMeier,
    tau: float,
    look: Look,
    panel: int,
    is_named: bool,
    auc: float,
) -> list[Trace]:
    x, y = pp_corners(curve, reference, tau)
    common = {'type': 'scatter', 'legendgroup': look.label, **axes_of(panel)}
    return [
        {
            **common, 'mode': 'lines', 'name': look.label, 'showlegend': is_named,
            'x': plot_numbers(x, DIGITS), 'y': plot_numbers(y, DIGITS),
            'line': look.line(), 'marker': {'color': look.colour},
            'hovertemplate': f'%{{x:.1%}} and %{{y:.1%}}<br>AUC {auc:.3f}'
                             f'<extra>{look.label}</extra>',
        },
        {
            **common, 'mode': 'lines', 'showlegend': False, 'hoverinfo': 'skip', 'name': 'beyond',
            'x': plot_numbers([x[-1], 1.0], DIGITS), 'y': plot_numbers([y[-1], 1.0], DIGITS),
            'line': {'color': look.colour, 'width': 1, 'dash': 'dot'},
            'marker': {'color': look.colour},
        },
    ]  # fmt: skip


def _largest(
    curve: KaplanMeier, reference: KaplanMeier, time: float, look: Look, panel: int
) -> Trace:
    """Returns the line between the diagonal and the curve where they are furthest apart."""
    x, y = reference.cdf(time), curve.cdf(time)
    words = f'KS {abs(y - x):.3f} at {time:.3g} s<extra>{look.label}</extra>'
    return {
        'type': 'scatter', 'mode': 'lines+markers', 'name': 'KS', 'legendgroup': look.label,
        'showlegend': False, 'x': plot_numbers([x, x], DIGITS), 'y': plot_numbers([x, y], DIGITS),
        'line': {'color': look.colour, 'width': 1.4}, **axes_of(panel),
        'marker': {'color': look.colour, 'symbol': look.symbol, 'size': [0, 8],
                   'opacity': 1, 'line': {'width': 0}},
        'hovertemplate': words,
    }  # fmt: skip


def _values(
    values: Mapping[str, tuple[float, float]],
    looks: Mapping[str, Look],
    short: Mapping[str, str],
    panel: int,
) -> dict[str, Any]:
    """Returns AUC and KS of each curve, in the corner that the curves leave free."""
    lines = [
        coloured(f'{short[policy]}: AUC {auc:.2f}, KS {ks:.2f}', looks[policy].colour)
        for policy, (auc, ks) in values.items()
    ]
    is_below = not values or np.mean([auc for auc, _ in values.values()]) <= 0.5
    axes = axes_of(panel)
    return {
        'name': 'event', 'text': '<br>'.join(lines), 'showarrow': False,
        'align': 'left' if is_below else 'right',
        'x': 0.02 if is_below else 0.98, 'xanchor': 'left' if is_below else 'right',
        'xref': f'{axes["xaxis"]} domain', 'yref': f'{axes["yaxis"]} domain',
        'y': 0.98 if is_below else 0.02, 'yanchor': 'top' if is_below else 'bottom',
    }  # fmt: skip


def _format(layout: dict[str, Any]) -> None:
    for axis in [key for key in layout if key.startswith(('xaxis', 'yaxis'))]:
        layout[axis].update(range=[-0.02, 1.02], tickformat='.0%')
