# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The figures of a calibration as plotly descriptions: those of VLA calibration, for other data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from frame_ros.confidence.calibration import Estimate, ReliabilityBin
from frame_ros.confidence.calibration_parts import HorizonThresholds
from frame_ros.confidence.samples import Array
from frame_ros.confidence.score_episode import ScoreEpisode
from frame_ros.evaluation.calibration.comparison import Candidate
from frame_ros.evaluation.calibration.horizon import RULES, SHOWN, Curve, HorizonCalibration
from frame_ros.evaluation.calibration.score_table import DimensionRow
from frame_ros.reports.html.figures import BLUE, GREEN, ORANGE, VERMILLION
from frame_ros.reports.html.panels import axes_of, grid_layout, transparent
from frame_ros.reports.html.study_page import Figure
from frame_ros.reports.model.numbers import plot_numbers

RULE_COLOURS = {'current': BLUE, 'window': ORANGE, 'average': GREEN}
GREY = '#888888'
PANEL_HEIGHT = 230
PERCENT = 100.0

Trace = dict[str, Any]


def horizon_figure(found: Mapping[str, HorizonCalibration]) -> Figure:
    """Calibration error, Brier score and mean confidence over the task's time (figure 4a)."""
    data: list[Trace] = []
    for name, each in found.items():
        colour, x = RULE_COLOURS[name], PERCENT * each.levels
        for panel, curve in enumerate((each.ece_1, each.brier), 1):
            is_named = panel == 1
            data.append(_curve(x, curve.value, colour, RULES[name].title, panel, is_named))
        if name == 'current':
            data += _shaded(x, each.ece_1, colour, 1) + _shaded(x, each.brier, colour, 2)
        for panel, curve in enumerate((each.successes, each.failures), 3):
            data.append(_curve(x, curve.value, colour, RULES[name].title, panel, False))
            if name == 'current':
                data += _shaded(x, curve, colour, panel)
    titles = ('ECE₁', 'Brier score', 'confidence, successes', 'confidence, failures')
    layout = grid_layout([titles], 300, 'task time (%)')
    for panel in (3, 4):
        layout[f'yaxis{panel}']['range'] = [0, 1]
    layout['legend'] = {'orientation': 'h', 'x': 0, 'y': -0.22}
    return Figure(
        data,
        layout,
        'Calibration error and Brier score at each percent of the task, and the mean confidence of '
        'successes and failures, under three rules. Shaded, of the current confidence: 95 % '
        'interval over resampled episodes; for the mean confidence, 10 % to 90 % of the episodes.',
    )


def reliability_figure(found: Mapping[str, HorizonCalibration]) -> Figure:
    """Reliability diagrams along the task (figure 4b, c)."""
    rows = [
        [(f'{RULES[name].title}, {percent} %', each.diagrams[percent]) for percent in SHOWN]
        for name, each in found.items()
    ]
    return _diagrams(
        rows,
        'Reliability at four points of the task: success rate over mean confidence of each bin, '
        'with its 95 % Wilson interval. Points on the diagonal are calibrated; below it the policy '
        'is too sure.',
    )


def candidate_diagrams(candidates: Sequence[Candidate], are_independent: bool) -> Figure:
    """Reliability of held-out probabilities of some recalibrators.

    Args:
        candidates: those to show.
        are_independent: whether each sample is an episode; otherwise bins have no interval.
    """
    row = [(each.kind, each.diagram) for each in candidates]
    about = (
        'with the 95 % Wilson interval of each bin'
        if are_independent
        else 'without intervals, since samples of one episode depend on each other'
    )
    return _diagrams(
        [row[place : place + len(SHOWN)] for place in range(0, len(row), len(SHOWN))],
        f'Reliability on held-out episodes, {about}.',
        are_independent,
    )


def _diagrams(
    rows: Sequence[Sequence[tuple[str, list[ReliabilityBin]]]],
    caption: str,
    has_intervals: bool = True,
) -> Figure:
    data: list[Trace] = []
    panel = 0
    for row in rows:
        for _, bins in row:
            panel += 1
            data += _diagram(bins, panel, has_intervals)
    titles = [[title for title, _ in row] for row in rows]
    layout = grid_layout(titles, PANEL_HEIGHT * len(rows) + 70, 'confidence', 'success rate')
    for axis in (key for key in layout if key.startswith(('xaxis', 'yaxis'))):
        layout[axis]['range'] = [-0.03, 1.03]
    return Figure(data, layout, caption)


def _diagram(bins: list[ReliabilityBin], panel: int, has_intervals: bool) -> list[Trace]:
    axes = axes_of(panel)
    rates = [each.success_rate for each in bins]
    above = [each.interval[1] - each.success_rate for each in bins]
    below = [each.success_rate - each.interval[0] for each in bins]
    ends = {'x': [0, 1], 'y': [0, 1], 'hoverinfo': 'skip', 'showlegend': False}
    error = {'array': plot_numbers(above), 'arrayminus': plot_numbers(below), 'thickness': 1}
    return [
        {'type': 'scatter', 'mode': 'lines', 'line': {'dash': 'dot', 'color': GREY, 'width': 1},
         **ends, **axes},
        {'type': 'scatter', 'mode': 'markers+lines', 'showlegend': False, **axes,
         'x': plot_numbers([each.confidence for each in bins]), 'y': plot_numbers(rates),
         'line': {'color': BLUE, 'width': 1}, 'marker': {'size': 6, 'color': BLUE},
         'error_y': {'type': 'data', 'symmetric': False, 'width': 0, 'visible': has_intervals,
                     **error},
         'customdata': [each.count for each in bins],
         'hovertemplate': 'confidence %{x:.3f}<br>success rate %{y:.3f}<br>%{customdata} samples'
                          '<extra></extra>'},
    ]  # fmt: skip


def dimension_figure(rows: Sequence[DimensionRow]) -> Figure:
    """Calibration error by action dimension (figure 7, left)."""
    names = [f'{row.dimension}' for row in rows]
    estimates = [row.metrics['ece_1'] for row in rows]
    return Figure(
        [_bars(names, estimates, [VERMILLION if row.bias > 0 else BLUE for row in rows])],
        _bar_layout('action dimension'),
        'Calibration error of the confidence in each action dimension before the first action, '
        'with 95 % intervals over resampled episodes. Red: more sure than successful, blue: less.',
    )


def comparison_figure(candidates: Sequence[Candidate]) -> Figure:
    """Calibration error of the recalibrators (figure 7, right)."""
    names = [each.kind for each in candidates]
    estimates = [each.metrics['ece_1'] for each in candidates]
    colours = [GREY if name == 'raw' else BLUE for name in names]
    return Figure(
        [_bars(names, estimates, colours)],
        _bar_layout(''),
        'Calibration error on held-out episodes, with 95 % intervals over resampled episodes.',
    )


def _bars(names: list[str], estimates: list[Estimate], colours: list[str]) -> Trace:
    values = np.array([each.value for each in estimates])
    upper = np.array([each.upper for each in estimates]) - values
    lower = values - np.array([each.lower for each in estimates])
    error = {'array': plot_numbers(upper), 'arrayminus': plot_numbers(lower)}
    return {
        'type': 'bar', 'x': names, 'y': plot_numbers(values), 'marker': {'color': colours},
        'error_y': {'type': 'data', 'symmetric': False, 'thickness': 1, 'color': GREY, **error},
        'hovertemplate': '%{x}: %{y:.4f}<extra></extra>',
    }  # fmt: skip


def _bar_layout(title: str) -> dict[str, Any]:
    return {
        'height': 300,
        'margin': {'l': 60, 'r': 14, 't': 10, 'b': 60},
        'showlegend': False,
        'bargap': 0.4,
        'xaxis': {'type': 'category', 'title': {'text': title}},
        'yaxis': {'title': {'text': 'ECE₁'}, 'rangemode': 'tozero'},
    }


def monitoring_figure(
    episodes: Sequence[ScoreEpisode], score: str, thresholds: HorizonThresholds
) -> Figure:
    """The score of some episodes against the horizon threshold (figure 5)."""
    levels = np.arange(1, len(thresholds.thresholds) + 1) * PERCENT / len(thresholds.thresholds)
    data: list[Trace] = []
    for panel, episode in enumerate(episodes, 1):
        known = np.isfinite(episode.scores[score])
        colour = GREEN if episode.outcome else VERMILLION
        x, y = PERCENT * episode.completion[known], episode.scores[score][known]
        line = _curve(x, y, colour, score, panel, False)
        limit = _curve(levels, thresholds.thresholds, GREY, 'threshold', panel, panel == 1)
        limit['line']['dash'] = 'dash'
        data += [line, limit]
    words = {True: 'success', False: 'failure'}
    titles = [f'{each.name}: {words[bool(each.outcome)]}' for each in episodes]
    layout = grid_layout([titles], 280, 'task time (%)', score)
    layout['legend'] = {'orientation': 'h', 'x': 0, 'y': -0.25}
    return Figure(
        data,
        layout,
        f'The {score} of some episodes with the horizon threshold: the {thresholds.quantile:.0%} '
        'quantile over all episodes at each percent of the task.',
    )


def _curve(x: Array, y: Array, colour: str, name: str, panel: int, is_named: bool) -> Trace:
    return {
        'type': 'scatter', 'mode': 'lines', 'name': name, 'legendgroup': name,
        'showlegend': is_named, 'x': plot_numbers(x), 'y': plot_numbers(y),
        'line': {'color': colour, 'width': 1.8}, 'marker': {'color': colour}, **axes_of(panel),
        'hovertemplate': f'%{{x:.0f}} %: %{{y:.3f}}<extra>{name}</extra>',
    }  # fmt: skip


def _shaded(x: Array, curve: Curve, colour: str, panel: int) -> list[Trace]:
    """Returns the band of a curve; empty without one."""
    if not np.isfinite(curve.lower).any():
        return []
    return [
        {
            'type': 'scatter', 'mode': 'lines', 'line': {'width': 0}, 'hoverinfo': 'skip',
            'showlegend': False, 'x': plot_numbers(np.append(x, x[::-1])), 'fill': 'toself',
            'y': plot_numbers(np.append(curve.lower, curve.upper[::-1])),
            'fillcolor': transparent(colour), **axes_of(panel),
        }
    ]  # fmt: skip
