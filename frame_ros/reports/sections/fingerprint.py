# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The policies of a report on one radar chart (FRAME, section 4.4), with what its area is worth."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from html import escape
from itertools import zip_longest
from typing import Any

from frame_ros.metrics import REGISTRY, Fingerprint, fingerprint
from frame_ros.metrics.fingerprint import SMALLEST_POLYGON
from frame_ros.reports.model.metric_table import MetricRow
from frame_ros.reports.model.numbers import plot_numbers, readable, readable_unit
from frame_ros.reports.model.options import check_axes
from frame_ros.reports.model.policy_groups import PolicyGroup, policy_groups
from frame_ros.reports.sections.section import Basis, ReportSection, as_row

# The paper's axes, and those of safety.
AXES = tuple(sorted((id for id in REGISTRY if REGISTRY[id].axis), key=lambda id: REGISTRY[id].axis))
# Okabe and Ito, and grey; neighbours differ most. Dashes for those who see no colours.
COLOURS = ('#0072B2', '#E69F00', '#009E73', '#CC79A7', '#D55E00', '#7F7F7F')
DASHES = ('solid', 'dash', 'dot', 'dashdot', 'longdash', 'longdashdot')
LONGEST_LABEL = 44

ALONE = (
    'A fingerprint compares policies: with episodes of one policy only, every axis would be 1, so '
    'none is drawn.'
)
NO_POLYGON = 'Fewer than three axes have a value for every policy: there is no polygon to draw.'
CAVEAT = (
    'Each axis is the ratio to the best policy: 1 is the best of these, one half is half as good. '
    'The area of a polygon sums products of neighbouring axes, so it changes with their order '
    'though no policy changes: its range over all orders is given. The mean of the axes does not. '
    'Both weigh every axis alike, and both change when a policy is added or left out. Values '
    'of a few episodes are uncertain: see the intervals.'
)


@dataclass(frozen=True)
class Comparison:
    """The groups, and for two or more of them their fingerprint.

    rows: the metrics that are axes, those without any value left out of `shown` but not of `rows`.
    remark: why there is no figure; '' if there is one.
    """

    groups: list[PolicyGroup]
    rows: list[MetricRow]
    shown: Fingerprint | None
    remark: str

    @property
    def has_figure(self) -> bool:
        """Whether there is a polygon to draw."""
        return not self.remark


def compare_groups(
    groups: list[PolicyGroup], rows: Sequence[MetricRow], axes: Sequence[str] = ()
) -> Comparison:
    """Compares the groups on these axes; by default on those of AXES that have a value.

    Raises:
        ValueRangeError: an axis that is no metric, or one that has no better direction.
    """
    check_axes(axes)
    by_id = {row.id: row for row in rows}
    chosen = [by_id[id] for id in dict.fromkeys(axes or AXES) if id in by_id]
    if not axes:
        chosen = [row for row in chosen if any(g.value(row) is not None for g in groups)]
    if len(groups) < 2:
        return Comparison(groups, chosen, None, ALONE if groups else '')
    if not chosen:
        return Comparison(groups, chosen, None, NO_POLYGON)
    shown = fingerprint({g.label: {row.id: g.value(row) for row in chosen} for g in groups})
    has_polygon = len(shown.common_axes) >= SMALLEST_POLYGON
    return Comparison(groups, chosen, shown, '' if has_polygon else NO_POLYGON)


class FingerprintSection(ReportSection):
    """The policies of a report: table and figure."""

    key = 'fingerprint'
    caveat = CAVEAT

    def __init__(self, basis: Basis) -> None:
        super().__init__(basis)
        groups = policy_groups(basis.episodes)
        self.comparison = compare_groups(groups, basis.rows, basis.options.axes)
        self.figure = radar_figure(self.comparison)
        self.is_shown = bool(groups)

    @cached_property
    def data(self) -> dict[str, Any]:
        """remark, axes (id, unit, higher_is_better, excluded: why), common_axes, policies: label,
        episodes, static, success, area, area_range, mean, values and shares by id, reasons.
        """
        shown, rows = self.comparison.shown, self.comparison.rows
        return {
            'remark': self.comparison.remark,
            'axes': [
                as_row(row, 0, 'id', 'name', 'unit', 'higher_is_better')
                | {'excluded': shown.excluded.get(row.id) if shown else None}
                for row in rows
            ],
            'common_axes': list(shown.common_axes) if shown else [],
            'policies': [_policy(self.comparison, group) for group in self.comparison.groups],
        }

    @cached_property
    def axes(self) -> list[dict[str, Any]]:
        """The columns of the table, each in the unit in which its values read best."""
        columns = []
        for axis in self.data['axes']:
            values = [policy['values'][axis['id']] for policy in self.data['policies']]
            factor, unit = readable_unit(values, axis['unit'])
            columns.append({**axis, 'factor': factor, 'unit': unit})
        return columns

    @property
    def policies(self) -> list[dict[str, Any]]:
        """The rows of the table: one per group, the colours those of the figure."""
        colours = COLOURS if self.comparison.has_figure else ()
        groups = zip_longest(self.data['policies'], self.comparison.groups, colours)
        return [
            {**policy, 'success_text': success_text(group), 'colour': colour}
            for policy, group, colour in groups
            if policy
        ]

    @property
    def notes(self) -> list[str]:
        """Axes and policies that are left out of the figure, and why."""
        shown, rows = self.comparison.shown, self.comparison.rows
        notes = [f'{axis["id"]}: {axis["excluded"]}.' for axis in self.axes if axis['excluded']]
        if shown:
            known = {*shown.common_axes, *shown.excluded}
            notes += [
                f'{row.id}: not every policy has a value.' for row in rows if row.id not in known
            ]
        more = len(self.comparison.groups) - len(COLOURS)
        if more > 0 and self.comparison.has_figure:
            notes.append(f'The last {more} of the policies are in the table only.')
        return notes


def _policy(comparison: Comparison, group: PolicyGroup) -> dict[str, Any]:
    shown, success = comparison.shown, group.success
    data = {
        **as_row(group, 0, 'label', 'episodes', 'static'),
        'success': as_row(success, 0, 'successes', 'trials', 'rate', 'interval'),
        'values': {row.id: group.value(row) for row in comparison.rows},
    }
    if shown is None:
        return data
    return {
        **data,
        'shares': shown.normalised[group.label],
        'reasons': shown.reasons[group.label],
        'area': shown.area(group.label),
        'area_range': shown.area_range(group.label),
        'mean': shown.mean(group.label),
    }


def success_text(group: PolicyGroup) -> str:
    """'4 of 5 succeeded (38–96 %)', the percent sign kept with its number."""
    count, interval = group.success, group.success.interval
    if interval is None:
        return f'{group.episodes} without outcome'
    low, high = (round(100 * bound) for bound in interval)
    helped = f', {group.helped} with interventions' if group.helped else ''
    return f'{count.successes} of {count.trials} succeeded ({low}–{high}\u00a0%){helped}'


def radar_figure(comparison: Comparison) -> dict[str, Any] | None:
    """The radar chart, for plotly.js; None where there is no polygon."""
    shown = comparison.shown
    if shown is None or not comparison.has_figure:
        return None
    axes = [row for row in comparison.rows if row.id in shown.common_axes]
    groups = comparison.groups[: len(COLOURS)]
    return {
        'kind': 'radar',
        'data': [_trace(shown, group, axes, i) for i, group in enumerate(groups)],
        'layout': {
            'height': 500,
            'margin': {'l': 60, 'r': 60, 't': 36, 'b': 36},
            'polar': {
                'radialaxis': {
                    'range': [0, 1],
                    'ticks': '',
                    'tickvals': [0.25, 0.5, 0.75, 1],
                    'angle': 90 - 180 / len(axes),
                    'tickangle': 90 - 180 / len(axes),
                },
                'angularaxis': {'direction': 'clockwise', 'rotation': 90, 'type': 'category'},
            },
            'showlegend': True,
            'legend': {'orientation': 'h', 'x': 0.5, 'xanchor': 'center', 'y': -0.08},
        },
    }


def _trace(shown: Fingerprint, group: PolicyGroup, axes: list[MetricRow], place: int) -> dict:
    shares = plot_numbers(shown.radii(group.label))
    corners = [*axes, axes[0]]
    label = escape(short_label(group.label), quote=False)
    return {
        'type': 'scatterpolar',
        'mode': 'lines+markers',
        'name': f'{label}<br>{success_text(group)}',
        'r': [*shares, shares[0]],
        'theta': [_axis_label(row) for row in corners],
        'customdata': [_raw(group, row) for row in corners],
        'hovertemplate': f'<b>{label}</b><br>%{{theta}}: %{{customdata}}<br>'
        '%{r:.3f} of the best<extra></extra>',
        'fill': 'toself',
        'cliponaxis': False,
        'opacity': 0.9,
        'fillcolor': _transparent(COLOURS[place]),
        'line': {'color': COLOURS[place], 'width': 2.4, 'dash': DASHES[place]},
        'marker': {'color': COLOURS[place], 'size': 6},
    }


def short_label(label: str) -> str:
    """A label that fits into a legend."""
    return label if len(label) <= LONGEST_LABEL else label[: LONGEST_LABEL - 1] + '…'


def _axis_label(row: MetricRow) -> str:
    return f'{row.id} {"↑" if row.higher_is_better else "↓"}'


def _raw(group: PolicyGroup, row: MetricRow) -> str:
    value = group.value(row)
    factor, unit = readable_unit([value], row.unit)
    return f'{readable(value, 4, factor)} {unit}'.strip()


def _transparent(colour: str) -> str:
    red, green, blue = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
    return f'rgba({red},{green},{blue},0.10)'
