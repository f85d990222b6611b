# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Figures of robustness: outcomes over factors, over the table, and shares of the variance."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from frame_ros.evaluation.scene_trials.robustness.confounders import ConfounderStudy, Count
from frame_ros.evaluation.scene_trials.robustness.factors import LEAST_IN_BIN, FactorEffect
from frame_ros.evaluation.scene_trials.robustness.heat_map import HeatMap
from frame_ros.evaluation.scene_trials.robustness.scene_table import SUCCESS
from frame_ros.evaluation.scene_trials.robustness.sobol import SobolIndex, largest
from frame_ros.metrics import REGISTRY
from frame_ros.reports.comparison_figures.style import GREY, PANELS, label_of
from frame_ros.reports.html.figures import BLUE, ORANGE, VERMILLION, scale_of
from frame_ros.reports.html.study_page import Figure
from frame_ros.reports.model.numbers import plot_numbers, readable_power

MOST_PANELS = 12
COLUMNS = 3
ROW = 220  # px
GAP = 0.07  # share of the width between two panels
# White over pale to vermillion; no value is grey where the page is.
FAILURES = [[0.0, '#F3EFE6'], [0.5, '#E8A06A'], [1.0, VERMILLION]]
BOTH_WAYS = [[0.0, VERMILLION], [0.5, '#F3F3F3'], [1.0, BLUE]]


def outcome_label(name: str) -> str:
    """Returns an outcome in words, with its unit."""
    if name == SUCCESS:
        return 'success rate'
    if name not in REGISTRY:
        return name
    each = REGISTRY[name]
    return f'{each.name} ({readable_power(each.unit)})' if each.unit != '1' else each.name


def effects_figure(effects: Sequence[FactorEffect], about: str) -> Figure:
    """Returns a panel per effect: the outcome in each bin of the factor, with its interval.

    about: the choice of the effects, in a sentence.
    """
    shown = list(effects[:MOST_PANELS])
    rows = math.ceil(len(shown) / COLUMNS)
    layout: dict[str, Any] = {
        'height': ROW * rows + 30,
        'margin': {'l': 50, 'r': 14, 't': 44, 'b': 30},
        'showlegend': False,
        'annotations': [],
    }
    data = []
    for place, effect in enumerate(shown):
        number = '' if not place else str(place + 1)
        data.append(_bins_trace(effect, number))
        _add_panel(layout, effect, place, rows)
    rest = len(effects) - len(shown)
    more = f' {rest} more are in the table.' if rest > 0 else ''
    return Figure(
        data,
        layout,
        f'{about} Filled: significant after adjustment. Lines are 95 % intervals: of success '
        f"Wilson's, of metrics by bootstrap (none of a bin with fewer than {LEAST_IN_BIN} scenes, "
        f'or whose values are all the same); n is the number of scenes.{more}',
        PANELS,
    )


def _bins_trace(effect: FactorEffect, number: str) -> dict[str, Any]:
    colour = BLUE if effect.is_significant else GREY
    bins = effect.bins
    values = [each.value for each in bins]
    return {
        'type': 'scatter', 'mode': 'lines+markers', 'xaxis': f'x{number}', 'yaxis': f'y{number}',
        'x': list(range(len(bins))) if effect.is_choice else plot_numbers([b.centre for b in bins]),
        'y': plot_numbers(values),
        'line': {'color': colour, 'width': 1.2, 'dash': 'dot'},
        'marker': {'color': colour, 'size': 8,
                   'symbol': 'circle' if effect.is_significant else 'circle-open'},
        'error_y': {'type': 'data', 'symmetric': False, 'color': colour, 'thickness': 1.6,
                    'width': 3,
                    'array': plot_numbers([each.upper - each.value for each in bins]),
                    'arrayminus': plot_numbers([each.value - each.lower for each in bins])},
        'customdata': [f'{label_of(each.label)}, n = {each.scenes}' for each in bins],
        'hovertemplate': '%{customdata}: %{y:.4g}<extra></extra>',
    }  # fmt: skip


def _add_panel(layout: dict[str, Any], effect: FactorEffect, place: int, rows: int) -> None:
    number = '' if not place else str(place + 1)
    row, column = divmod(place, COLUMNS)
    width = (1 - GAP * (COLUMNS - 1)) / COLUMNS
    left = column * (width + GAP)
    top = 1 - row / rows
    unit = f' ({effect.unit})' if effect.unit else ''
    axis: dict[str, Any] = {'nticks': 6}
    if effect.is_choice:
        ticks = [label_of(each.label, 14) for each in effect.bins]
        axis = {'tickvals': list(range(len(ticks))), 'ticktext': ticks,
                'range': [-0.5, len(ticks) - 0.5]}  # fmt: skip
    elif effect.factor == 'light.factor':
        axis = {**scale_of(True), 'dtick': 1}
    elif float(effect.bins[-1].centre).is_integer():
        axis = {'dtick': 1} if len(effect.bins) <= 10 else axis
    layout[f'xaxis{number}'] = {
        'domain': [left, left + width], 'anchor': f'y{number}', 'zeroline': False,
        'tickfont': {'size': 11}, **axis,
    }  # fmt: skip
    layout[f'yaxis{number}'] = {
        'domain': [top - 0.68 / rows, top - 0.02], 'anchor': f'x{number}', 'zeroline': False,
        'nticks': 5,
    }  # fmt: skip
    if effect.outcome == SUCCESS:
        title = {'text': outcome_label(SUCCESS) if column == 0 else '', 'standoff': 4}
        layout[f'yaxis{number}'].update(range=[-0.04, 1.04], title=title)
    star = ' *' if effect.is_significant else ''
    head = '' if effect.outcome == SUCCESS else f'{label_of(outcome_label(effect.outcome), 44)}<br>'
    layout['annotations'].append(
        {
            'name': 'panel', 'text': f'{head}<b>{label_of(effect.factor + unit, 42)}</b>{star}',
            'x': left + width / 2, 'xref': 'paper', 'xanchor': 'center', 'y': top,
            'yref': 'paper', 'yanchor': 'bottom', 'showarrow': False,
        }
    )  # fmt: skip


def overview_figure(effects: Sequence[FactorEffect]) -> Figure:
    """Returns all outcomes against all factors: Spearman's correlation, starred if significant."""
    factors = list(dict.fromkeys(each.factor for each in effects))
    outcomes = list(dict.fromkeys(each.outcome for each in effects))
    by_key = {(each.factor, each.outcome): each for each in effects}
    rows = [[by_key[factor, outcome] for outcome in outcomes] for factor in factors]
    return Figure(
        [
            {
                'type': 'heatmap', 'x': [label_of(each) for each in outcomes],
                'y': [label_of(each) for each in factors],
                'z': [plot_numbers([each.rho for each in row], 3) for row in rows],
                'text': [['*' if each.is_significant else '' for each in row] for row in rows],
                'texttemplate': '%{text}', 'textfont': {'size': 15, 'color': '#222222'},
                'customdata': [[_p_text(each) for each in row] for row in rows],
                'hovertemplate': '%{y}, %{x}<br>%{customdata}<extra></extra>',
                'colorscale': BOTH_WAYS, 'zmin': -1, 'zmax': 1, 'xgap': 1, 'ygap': 1,
                'hoverongaps': True,
                'colorbar': {'title': {'text': "Spearman's ρ", 'side': 'right'}, 'thickness': 12},
            }
        ],
        {
            'height': 26 * len(factors) + 130,
            'margin': {'l': 20, 'r': 10, 't': 10, 'b': 40},
            'xaxis': {'automargin': True, 'tickangle': -40, 'zeroline': False},
            'yaxis': {'automargin': True, 'autorange': 'reversed', 'zeroline': False},
        },
        'Correlation of each outcome (columns; metrics by their id) with each factor (rows), over '
        'scenes. A star: significant after adjustment for the number of tests, by the trend or '
        'by the difference of the bins; so a star without colour is an effect that goes up and '
        'down, or of a choice, which has no correlation.',
    )  # fmt: skip


def _p_text(effect: FactorEffect) -> str:
    rho = f'ρ = {effect.rho:.2f}, ' if math.isfinite(effect.rho) else ''
    p = f'adjusted p = {effect.p_holm:.2g}' if math.isfinite(effect.p_holm) else 'no test'
    return f'{rho}{p}, n = {effect.scenes}'


def heat_figure(heat: HeatMap) -> Figure:
    """Returns the share of failures over the table, with n in each cell."""
    rates = heat.rates
    middles = [(edges[:-1] + edges[1:]) / 2 for edges in (heat.x, heat.y)]
    texts = [[str(n) if n else '' for n in row] for row in heat.scenes.tolist()]
    data: list[dict[str, Any]] = [
        {
            'type': 'heatmap', 'x': plot_numbers(100 * middles[0]),
            'y': plot_numbers(100 * middles[1]),
            'z': [plot_numbers(row, 3) for row in rates], 'zmin': 0, 'zmax': 1,
            'text': texts, 'texttemplate': '%{text}', 'textfont': {'size': 10, 'color': '#222222'},
            'colorscale': FAILURES, 'xgap': 1, 'ygap': 1,
            'hovertemplate': 'x %{x:.1f} cm, y %{y:.1f} cm: %{z:.0%} of %{text} failed'
                             '<extra></extra>',
            'colorbar': {'title': {'text': 'share of failures', 'side': 'right'}, 'thickness': 12,
                         'tickformat': '.0%'},
        }
    ]  # fmt: skip
    if len(heat.outline):
        data.append(
            {
                'type': 'scatter', 'mode': 'lines', 'x': plot_numbers(100 * heat.outline[:, 0]),
                'y': plot_numbers(100 * heat.outline[:, 1]), 'hoverinfo': 'skip',
                'line': {'color': GREY, 'width': 1.5, 'dash': 'dash'}, 'showlegend': False,
            }
        )  # fmt: skip
    outside = f' {heat.outside} targets stand outside of it.' if heat.outside else ''
    return Figure(
        data,
        {
            'height': 520,
            'margin': {'l': 60, 'r': 10, 't': 10, 'b': 50},
            'xaxis': {'title': {'text': 'x of the target (cm)'}, 'zeroline': False,
                      'constrain': 'domain', 'scaleanchor': 'y'},
            'yaxis': {'title': {'text': 'y of the target (cm)'}, 'zeroline': False,
                      'constrain': 'domain'},
        },
        'Share of failures by where the target stands, in the frame of the robot. The number is '
        'that of the scenes in the cell; an empty cell holds none. Dashed: the border of where '
        f'targets are drawn.{outside}',
    )  # fmt: skip


def confounder_figure(study: ConfounderStudy) -> Figure:
    """Returns success by the number of confounders, also of similar and dissimilar ones."""
    series: list[tuple[str, Sequence[Count], str, str, float]] = [
        ('all scenes', study.sweep, BLUE, 'circle', 0.0)
    ]
    if study.similar:
        series += [
            ('more similar half', study.similar[:-1], VERMILLION, 'square', 0.09),
            ('less similar half', study.dissimilar[:-1], ORANGE, 'diamond', -0.09),
        ]
    data = [
        {
            'type': 'scatter', 'mode': 'lines+markers', 'name': name,
            'x': [each.confounders + shift for each in counts],
            'y': plot_numbers([each.rate for each in counts]),
            'line': {'color': colour, 'width': 1.4, 'dash': 'solid' if not shift else 'dot'},
            'marker': {'color': colour, 'symbol': symbol, 'size': 9},
            'error_y': {'type': 'data', 'symmetric': False, 'color': colour, 'thickness': 1.6,
                        'array': plot_numbers([each.upper - each.rate for each in counts]),
                        'arrayminus': plot_numbers([each.rate - each.lower for each in counts])},
            'customdata': [each.scenes for each in counts],
            'hovertemplate': '%{y:.1%} of %{customdata}<extra>' + name + '</extra>',
        }
        for name, counts, colour, symbol, shift in series
    ]  # fmt: skip
    return Figure(
        data,
        {
            'height': 340,
            'margin': {'l': 60, 'r': 14, 't': 40, 'b': 46},
            'xaxis': {'title': {'text': 'confounders'}, 'dtick': 1, 'zeroline': False},
            'yaxis': {'title': {'text': 'success rate'}, 'range': [-0.03, 1.03],
                      'tickformat': '.0%', 'zeroline': False},
            'legend': {'orientation': 'h', 'x': 0, 'y': 1.12},
        },
        'Success by the number of confounders, and of the scenes whose confounders are more and '
        "less alike to the target, among those with as many. Lines are Wilson's 95 % intervals.",
    )  # fmt: skip


def shares_figure(indices: Sequence[SobolIndex], outcome: str) -> Figure:
    """Returns bars of the first-order and, from a design, total indices of one outcome, of which
    one or more are finite.
    """
    shown = [each for each in largest(indices) if math.isfinite(each.first)][:16]
    names = [label_of(each.factor) for each in shown]
    kinds = [('first order', BLUE, [(each.first, each.first_interval) for each in shown])]
    if any(math.isfinite(each.total) for each in shown):
        kinds.append(('total', ORANGE, [(each.total, each.total_interval) for each in shown]))
    data = [
        {
            'type': 'bar', 'orientation': 'h', 'name': name, 'y': names,
            'x': plot_numbers([value for value, _ in rows]), 'marker': {'color': colour},
            'error_x': {'type': 'data', 'symmetric': False, 'thickness': 1.4, 'color': GREY,
                        'array': plot_numbers([max(b - v, 0.0) for v, (_, b) in rows]),
                        'arrayminus': plot_numbers([max(v - a, 0.0) for v, (a, _) in rows])},
            'hovertemplate': '%{x:.1%}<extra>%{y}, ' + name + '</extra>',
        }
        for name, colour, rows in kinds
    ]  # fmt: skip
    ends = [end for *_, rows in kinds for v, pair in rows for end in (v, *pair)]
    ends = [end for end in ends if math.isfinite(end)]
    return Figure(
        data,
        {
            'height': (18 + 14 * len(kinds)) * len(shown) + 110,
            'margin': {'l': 20, 'r': 20, 't': 34, 'b': 46},
            'barmode': 'group',
            'xaxis': {'title': {'text': f'share of the variance of: {outcome_label(outcome)}'},
                      'tickformat': '.0%', 'range': [min(0.0, *ends), max(0.1, *ends)]},
            'yaxis': {'automargin': True, 'autorange': 'reversed'},
            'legend': {'orientation': 'h', 'x': 0, 'y': 1.0, 'yanchor': 'bottom'},
            'showlegend': len(kinds) > 1,
        },
        f'Share of the factors in the variance of: {outcome_label(outcome)}. Lines are 95 % '
        'intervals by bootstrap. Estimates scatter about the truth, so that a share of nothing '
        'may come out below 0.',
    )  # fmt: skip
