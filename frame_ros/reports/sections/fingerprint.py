# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The policies of a report on one radar chart (FRAME, section 4.4), and how far its area counts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from html import escape
from itertools import zip_longest
from statistics import median
from typing import Any

from frame_ros.episodes.episode import Episode
from frame_ros.evaluation.policy_labels import policy_labels
from frame_ros.metrics import REGISTRY, Fingerprint, fingerprint
from frame_ros.metrics.fingerprint import SMALLEST_POLYGON
from frame_ros.reports.model.metric_table import MetricRow, SuccessCount, success_count
from frame_ros.reports.model.numbers import measured, plot_numbers, readable_unit, shortened
from frame_ros.reports.sections.interventions import is_helped_success
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
class PolicyGroup:
    """The episodes of one policy.

    Attributes:
        places: where they are in the order of the report.
        static: how many of them the end effector hardly moved in.
        helped: how many succeeded in which an operator had taken over.
    """

    label: str
    places: tuple[int, ...]
    success: SuccessCount
    static: int
    helped: int = 0

    @property
    def episodes(self) -> int:
        """The number of episodes."""
        return len(self.places)

    @property
    def success_text(self) -> str:
        """'4 of 5 succeeded (38–96 %)', the percent sign kept with its number."""
        if self.success.interval is None:
            return f'{self.episodes} without outcome'
        low, high = (round(100 * bound) for bound in self.success.interval)
        helped = f', {self.helped} with interventions' if self.helped else ''
        count = f'{self.success.successes} of {self.success.trials} succeeded'
        return f'{count} ({low}–{high}\u00a0%){helped}'

    def value(self, row: MetricRow) -> float | None:
        """The median of a metric over the group's episodes, static ones left out where the report
        leaves them out; the success rate for 'sr'. None without any value.
        """
        if row.id == 'sr':
            return self.success.rate
        known = [value for i in self.places if (value := row.counting[i]) is not None]
        return median(known) if known else None


def policy_groups(episodes: Sequence[Episode]) -> list[PolicyGroup]:
    """One group per policy, in the order of first appearance."""
    places: dict[str, list[int]] = {}
    for i, label in enumerate(policy_labels(episodes)):
        places.setdefault(label, []).append(i)
    groups = []
    for label, found in places.items():
        own = [episodes[i] for i in found]
        static, helped = sum(e.is_static for e in own), sum(map(is_helped_success, own))
        groups.append(PolicyGroup(label, tuple(found), success_count(own), static, helped))
    return groups


class FingerprintSection(ReportSection):
    """The policies of a report: table and figure.

    Attributes:
        groups: the episodes by policy.
        rows: the metrics that are axes: those asked for, else those of AXES that have a value.
        shown: the fingerprint of two or more policies.
        remark: why there is no figure; '' if there is one.
    """

    key = 'fingerprint'
    caveat = CAVEAT

    def __init__(self, basis: Basis) -> None:
        super().__init__(basis)
        self.groups = groups = policy_groups(basis.episodes)
        self.is_shown = len(groups) > 1
        by_id, axes = {row.id: row for row in basis.rows}, basis.options.axes
        self.rows = [by_id[id] for id in dict.fromkeys(axes or AXES) if id in by_id]
        if not axes:
            self.rows = [r for r in self.rows if any(g.value(r) is not None for g in groups)]
        self.shown: Fingerprint | None = None
        if len(groups) > 1 and self.rows:
            values = {g.label: {row.id: g.value(row) for row in self.rows} for g in groups}
            self.shown = fingerprint(values)
        has_polygon = self.shown and len(self.shown.common_axes) >= SMALLEST_POLYGON
        self.remark = '' if has_polygon or not groups else NO_POLYGON if len(groups) > 1 else ALONE

    @cached_property
    def data(self) -> dict[str, Any]:
        """remark, axes (id, unit, higher_is_better, excluded: why), common_axes, policies: label,
        episodes, static, success, area, area_range, mean, values and shares by id, reasons.
        """
        excluded = self.shown.excluded if self.shown else {}
        return {
            'remark': self.remark,
            'axes': [
                as_row(row.metric, 0, 'id', 'name')
                | {'unit': row.unit, 'higher_is_better': row.metric.higher_is_better}
                | {'excluded': excluded.get(row.id)}
                for row in self.rows
            ],
            'common_axes': list(self.shown.common_axes) if self.shown else [],
            'policies': [self._policy(group) for group in self.groups],
        }

    def _policy(self, group: PolicyGroup) -> dict[str, Any]:
        shown = self.shown
        data = {
            **as_row(group, 0, 'label', 'episodes', 'static'),
            'success': as_row(group.success, 0, 'successes', 'trials', 'rate', 'interval'),
            'values': {row.id: group.value(row) for row in self.rows},
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
        colours = () if self.remark else COLOURS[: len(self.groups)]
        return [
            {**policy, 'success_text': group.success_text, 'colour': colour}
            for policy, group, colour in zip_longest(self.data['policies'], self.groups, colours)
        ]

    @property
    def notes(self) -> list[str]:
        """Axes and policies that are left out of the figure, and why."""
        notes = [f'{axis["id"]}: {axis["excluded"]}.' for axis in self.axes if axis['excluded']]
        if self.shown:
            known = {*self.shown.common_axes, *self.shown.excluded}
            left_out = (row.id for row in self.rows if row.id not in known)
            notes += [f'{id}: not every policy has a value.' for id in left_out]
        more = len(self.groups) - len(COLOURS)
        if more > 0 and not self.remark:
            notes.append(f'The last {more} of the policies are in the table only.')
        return notes

    @property
    def figure(self) -> dict[str, Any] | None:
        """The radar chart, for plotly.js; None where there is no polygon."""
        if self.shown is None or self.remark:
            return None
        axes = [row for row in self.rows if row.id in self.shown.common_axes]
        angle = 90 - 180 / len(axes)
        radial = {'range': [0, 1], 'ticks': '', 'tickvals': [0.25, 0.5, 0.75, 1]}
        angular = {'direction': 'clockwise', 'rotation': 90, 'type': 'category'}
        return {
            'kind': 'radar',
            'data': [
                _polygon(plot_numbers(self.shown.radii(group.label)), group, axes, colour, dash)
                for group, colour, dash in zip(self.groups, COLOURS, DASHES)
            ],
            'layout': {
                'height': 500,
                'margin': {'l': 110, 'r': 110, 't': 36, 'b': 36},
                'polar': {
                    'radialaxis': {**radial, 'angle': angle, 'tickangle': angle},
                    'angularaxis': angular,
                },
                'showlegend': True,
                'legend': {'orientation': 'h', 'x': 0.5, 'xanchor': 'center', 'y': -0.08},
            },
        }


def _polygon(
    shares: list[float | None], group: PolicyGroup, axes: list[MetricRow], colour: str, dash: str
) -> dict[str, Any]:
    corners = [*axes, axes[0]]
    label = escape(shortened(group.label, LONGEST_LABEL), quote=False)
    red, green, blue = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
    return {
        'type': 'scatterpolar',
        'mode': 'lines+markers',
        'name': f'{label}<br>{group.success_text}',
        'r': [*shares, shares[0]],
        'theta': [_axis_name(row) for row in corners],
        'customdata': [_value_text(group, row) for row in corners],
        'hovertemplate': f'<b>{label}</b><br>%{{theta}}: %{{customdata}}<br>'
        '%{r:.3f} of the best<extra></extra>',
        'fill': 'toself',
        'cliponaxis': False,
        'opacity': 0.9,
        'fillcolor': f'rgba({red},{green},{blue},0.10)',
        'line': {'color': colour, 'width': 2.4, 'dash': dash},
        'marker': {'color': colour, 'size': 6},
    }


def _axis_name(row: MetricRow) -> str:
    """'success rate sr ↑': its name, id and direction."""
    return f'{row.metric.name} {row.id} {"↑" if row.metric.higher_is_better else "↓"}'


def _value_text(group: PolicyGroup, row: MetricRow) -> str:
    value = group.value(row)
    factor, unit = readable_unit([value], row.unit)
    return f'{measured(value, 4, factor)} {unit}'.strip()
