# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The study of human labels against metrics as a page, and as plain JSON values."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict
from html import escape
from typing import Any

import numpy as np

from frame_ros.core.plain_text import counted
from frame_ros.evaluation.discrimination.groups import Group
from frame_ros.evaluation.discrimination.labels import QUALITY, Level
from frame_ros.evaluation.discrimination.overhead import InferenceTime, MetricTime
from frame_ros.evaluation.discrimination.study import (
    LEVEL,
    CorrelationRow,
    EffectRow,
    Study,
    TestedRow,
)
from frame_ros.metrics import REGISTRY
from frame_ros.reports.html.study_page import (
    BAD,
    GOOD,
    PLAIN,
    QUIET,
    Cell,
    Figure,
    Part,
    StudyPage,
    Table,
)
from frame_ros.reports.model.numbers import json_safe, plot_numbers, readable, shortened

FORMAT = 'frame_ros discrimination 1'
# Okabe and Ito; failures last.
COLOURS = ('#009E73', '#0072B2', '#E69F00', '#D55E00')
# Share of the colour by the class of a correlation, or of an effect.
SHADES = {
    'none': 0.0, 'weak': 0.25, 'moderate': 0.6, 'strong': 1.0,
    'negligible': 0.15, 'small': 0.4, 'medium': 0.7, 'large': 1.0,
}  # fmt: skip
DASH = '–'
MOST_VIOLINS, LONGEST_LABEL = 60, 40


def study_data(
    study: Study, times: Sequence[InferenceTime], costs: Sequence[MetricTime]
) -> dict[str, Any]:
    """Returns the study as plain JSON values, None for what is not available."""
    names = [group.name for group in study.groups]
    data: dict[str, Any] = json_safe(
        {
            'format': FORMAT,
            'groups': [_group_data(group) for group in study.groups],
            'agreement': [asdict(each) for each in study.agreements],
            'correlations': [{**asdict(r), 'group': names[r.group]} for r in study.correlations],
            'effects': [
                {**asdict(r), 'group': names[r.group], 'level': r.level.name.lower()}
                for r in study.effects
            ],
            'inference_times': [asdict(each) for each in times],
            'metric_times': [asdict(each) for each in costs],
            'remarks': study.remarks,
        }
    )
    return data


def _group_data(group: Group) -> dict[str, Any]:
    return {
        'task': group.task,
        'policy': group.policy,
        'episodes': group.episodes,
        **{level.name.lower(): len(group.levels[level]) for level in QUALITY},
        'failures': len(group.failures),
        'unlabelled': len(group.unlabelled),
        'left_out': {reason: len(places) for reason, places in group.left_out.items()},
    }


def study_page(
    study: Study,
    times: Sequence[InferenceTime],
    costs: Sequence[MetricTime],
    title: str = '',
) -> StudyPage:
    """Returns the page of a study."""
    labelled = sum(len(group.labelled) for group in study.groups)
    total = sum(group.episodes for group in study.groups)
    return StudyPage(
        title=title or 'Metrics against human labels',
        kicker='frame_ros study of discrimination',
        headline=headline(study),
        verdict=_verdict(study),
        warnings=study.remarks,
        facts=[
            ('Episodes', f'{total}'),
            ('Labelled successes', f'{labelled}'),
            ('Failures', f'{sum(len(group.failures) for group in study.groups)}'),
            ('Metrics', f'{len(study.metrics)}'),
            ('Intervals', f'{study.options.resamples} resamples, seed {study.options.seed}'),
        ],
        parts=[
            _outcomes(study),
            _correlations(study),
            *(_effects(study, place) for place in range(len(study.groups))),
            _violins(study),
            _overhead(times, costs),
        ],
    )


def headline(study: Study) -> str:
    """Returns the metrics that agree with the labels best, in a sentence."""
    hits = {id: [row for row in study.correlations if _agrees(row, id)] for id in study.metrics}
    known = {row.group for row in study.correlations if math.isfinite(row.rho)}
    best = max((len(rows) for rows in hits.values()), default=0)
    if not known:
        return (
            'No correlation could be computed: there are too few labelled successes, or they have '
            'one label or one value'
        )
    if not best:
        return (
            'No metric agrees with the labels: none has a moderate or strong correlation with '
            'p < 0.05 after adjustment for the number of correlations'
        )
    names = [id for id, rows in hits.items() if len(rows) == best]
    where = 'in the one group' if len(known) == 1 else f'in {best} of {len(known)} groups'
    return f'{", ".join(names)} agree{"s" * (len(names) == 1)} with the labels {where}'


def _agrees(row: CorrelationRow, id: str) -> bool:
    return (
        row.metric == id
        and row.p_holm < LEVEL
        and row.strength in ('moderate', 'strong')
        and row.is_as_expected is not False
    )


def _verdict(study: Study) -> list[str]:
    tested = [row for row in study.correlations if math.isfinite(row.p)]
    raw, kept = (sum(getattr(row, name) < LEVEL for row in tested) for name in ('p', 'p_holm'))
    effects = [row for row in study.effects if math.isfinite(row.p)]
    large, kept_large = (
        sum(getattr(row, name) < LEVEL and row.magnitude == 'large' for row in effects)
        for name in ('p', 'p_holm')
    )
    return [
        f"{raw} of {counted(len(tested), 'correlation')} have p < 0.05, {kept} after Holm's "
        'adjustment for their number.',
        f'{large} of {counted(len(effects), "comparison")} of successes with failures show a large '
        f'effect with p < 0.05, {kept_large} after the same adjustment.',
    ]


def _outcomes(study: Study) -> Part:
    rows: list[list[str | Cell]] = []
    for group in study.groups:
        successes = len(group.labelled) + len(group.unlabelled)
        out = '; '.join(f'{len(places)}: {why}' for why, places in group.left_out.items())
        rows.append(
            [
                group.task, group.policy, f'{group.episodes}',
                _share(successes, group.episodes),
                *(_share(len(group.levels[level]), len(group.labelled)) for level in QUALITY),
                f'{len(group.unlabelled)}', f'{len(group.failures)}', Cell(out or DASH, QUIET),
            ]
        )  # fmt: skip
    header = ('task', 'policy', 'episodes', 'successes', 'high', 'medium', 'low', 'unlabelled',
              'failures', 'left out')  # fmt: skip
    content = [Table(header, rows, numbers=frozenset(range(2, 9)))]
    if study.agreements:
        agreed = [
            [a.first or DASH, a.second or DASH, f'{a.episodes}', _percent(a.same),
             _number(a.kappa, 3)]
            for a in study.agreements
        ]  # fmt: skip
        content.append(
            Table(
                ('rater', 'rater', 'common episodes', 'same label', "Cohen's kappa"), agreed,
                'Agreement of the raters', frozenset({2, 3, 4}),
            )
        )  # fmt: skip
    text = (
        'Shares of quality are of the labelled successes. A label counts if more than half of an '
        "episode's raters gave it."
    )
    return Part('Successes by quality (RQ1)', [text], content, 'outcomes')


def _share(count: int, total: int) -> Cell:
    return Cell(f'{count}', below=_percent(count / total) if total else '')


def _percent(share: float) -> str:
    return f'{100 * share:.0f}\u00a0%' if share == share else DASH


def _correlations(study: Study) -> Part:
    by_cell = {(row.metric, row.group): row for row in study.correlations}
    places = range(len(study.groups))
    rows: list[list[str | Cell]] = [
        [_named(id), *(_correlation_cell(by_cell[id, place]) for place in places)]
        for id in study.metrics
    ]
    header = ['metric', *(group.policy for group in study.groups)]
    text = (
        "Spearman's rank correlation of each metric's value per episode with the label (1 high, "
        '2 medium, 3 low) over labelled successes. Shaded where p < 0.05: green where the metric '
        'gets worse with the quality, red where it gets better; the shade grows with the size '
        '(weak from 0.10, moderate above 0.29, strong above 0.49). * p < 0.05 also after '
        "Holm's adjustment over the whole table. Below: 95 % bootstrap interval over episodes."
    )
    table = Table(
        header, rows, numbers=frozenset(range(1, len(header))), above=_tasks(study.groups)
    )
    return Part('Correlation with quality (RQ2)', [text], [table], 'correlation')


def _tasks(groups: Sequence[Group]) -> list[tuple[str, int]]:
    """Returns the tasks over the columns of their groups, after the column of names."""
    spans: list[tuple[str, int]] = [('', 1)]
    for group in groups:
        if spans[-1][0] == group.task:
            spans[-1] = (group.task, spans[-1][1] + 1)
        else:
            spans.append((group.task, 1))
    return spans


def _named(id: str) -> Cell:
    better = REGISTRY[id].higher_is_better
    arrow = '' if better is None else ' ↑' if better else ' ↓'
    return Cell(f'{id}{arrow}', hint=REGISTRY[id].name, below=REGISTRY[id].name)


def _correlation_cell(row: CorrelationRow) -> Cell:
    return _tested(
        row, row.rho, '+.2f', row.is_as_expected, row.strength, counted(row.count, 'episode')
    )


def _tested(
    row: TestedRow,
    value: float,
    form: str,
    is_good: bool | None,
    size: str,
    of: str,
) -> Cell:
    """Returns a value with its interval, in colour where p, not adjusted, is below 0.05.

    form: of numbers. is_good: whether the metric does what its direction promises. size: class of
    the value. of: how many episodes.
    """
    if not math.isfinite(value):
        return Cell(DASH, QUIET, row.remark)
    tone = PLAIN if is_good is None else GOOD if is_good else BAD
    return Cell(
        f'{value:{form}}{"*" if row.p_holm < LEVEL else ""}',
        tone if row.is_significant else PLAIN,
        f'{size}; p = {readable(row.p, 2)}, adjusted {readable(row.p_holm, 2)}; {of}',
        f'{row.lower:{form}} to {row.upper:{form}}' if math.isfinite(row.lower) else '',
        strength=SHADES[size] if row.is_significant else 0.0,
    )


def _effects(study: Study, place: int) -> Part:
    group = study.groups[place]
    cells = {(row.metric, row.level): row for row in study.effects if row.group == place}
    rows: list[list[str | Cell]] = [
        [_named(id), *(_effect_cell(cells[id, level]) for level in QUALITY)] for id in study.metrics
    ]
    header = ['metric', *(_level_heading(group, level) for level in QUALITY)]
    text = (
        'A12: probability that the metric is larger in a success of this quality than in a '
        'failure. '
        f'{counted(len(group.failures), "failure")}. Shaded where p < 0.05 (two-sided '
        'Mann-Whitney): green where the successes have the better values, red where the failures '
        'have; the shade grows with d = 2 |A12 - 0.5| (small from 0.147, medium from 0.33, large '
        "from 0.474). * p < 0.05 also after Holm's adjustment over all groups."
    )
    heading = f'Successes against failures (RQ3): {group.name}'
    table = Table(header, rows, numbers=frozenset((1, 2, 3)))
    return Part(heading, [text], [table], f'effects-{place + 1}')


def _level_heading(group: Group, level: Level) -> str:
    return f'{level.name.lower()} ({len(group.levels[level])})'


def _effect_cell(row: EffectRow) -> Cell:
    of = f'{counted(row.successes, "success")}, {counted(row.failures, "failure")}'
    return _tested(row, row.a12, '.2f', row.is_better, row.magnitude, of)


def _violins(study: Study) -> Part:
    figures = [figure for id in study.metrics if (figure := _violin(study, id))]
    text = (
        'Each dot is an episode; the outline is the density of the values, the box the quartiles '
        'and the median. A metric whose values are all the same is not drawn.'
    )
    more = len(figures) - MOST_VIOLINS
    notes = (
        [text, f'{more} more metrics are not drawn; name some to see them.'] if more > 0 else [text]
    )
    return Part('Distributions by quality', notes, figures[:MOST_VIOLINS], 'distributions')


def _violin(study: Study, id: str) -> Figure | None:
    entry, data = REGISTRY[id], list[dict[str, Any]]()
    values = study.values[id]
    if np.nanmin(values) == np.nanmax(values):
        return None
    has_tasks = len({group.task for group in study.groups}) > 1
    for i, (name, colour) in enumerate(zip((*QUALITY, Level.FAILED), COLOURS)):
        x: list[str] = []
        y: list[float] = []
        for group in study.groups:
            places = group.failures if name is Level.FAILED else group.levels[name]
            known = values[places]
            known = known[np.isfinite(known)]
            label = _axis_label(group, has_tasks) if len(study.groups) > 1 else name.name.lower()
            x += [label] * len(known)
            y += known.tolist()
        if y:
            data.append(_violin_trace(name.name.lower(), x, y, colour, i))
    if not data:
        return None
    unit = '' if entry.unit == '1' else f' ({entry.unit})'
    layout = {
        'height': 300,
        'margin': {'l': 70, 'r': 14, 't': 20, 'b': 56},
        'violinmode': 'group' if len(study.groups) > 1 else 'overlay',
        'yaxis': {'title': {'text': f'{id}{unit}'}},
        'xaxis': {'title': {'text': ''}},
        'showlegend': len(study.groups) > 1,
    }
    return Figure(data, layout, f'{entry.name} ({id})')


def _axis_label(group: Group, has_tasks: bool) -> str:
    parts = [group.policy, group.task] if has_tasks else [group.policy]
    return '<br>'.join(escape(shortened(part, LONGEST_LABEL), quote=False) for part in parts)


def _violin_trace(
    name: str, x: list[str], y: list[float], colour: str, index: int
) -> dict[str, Any]:
    return {
        'type': 'violin', 'name': name, 'x': x, 'y': plot_numbers(y), 'legendgroup': name,
        'points': 'all', 'pointpos': 0, 'jitter': 0.3, 'spanmode': 'hard', 'scalemode': 'width',
        'meanline': {'visible': False}, 'box': {'visible': True, 'width': 0.2},
        'line': {'color': colour, 'width': 1.2}, 'marker': {'size': 4, 'color': colour},
        'offsetgroup': str(index),
    }  # fmt: skip


def _overhead(times: Sequence[InferenceTime], costs: Sequence[MetricTime]) -> Part:
    inference = [
        [t.policy, f'{t.samples}', 'yes' if t.has_tokens else 'no', f'{t.count}',
         _number(1e3 * t.mean), _number(1e3 * t.deviation)]
        for t in times
    ]  # fmt: skip
    metrics: list[list[str | Cell]] = [
        [c.family, ', '.join(c.metrics), f'{c.count}', _number(1e6 * c.mean),
         _number(1e6 * c.deviation), Cell(c.remark, QUIET)]
        for c in costs
    ]  # fmt: skip
    content = [
        Table(
            ('policy', 'samples', 'tokens', 'inferences', 'mean (ms)', 'standard deviation (ms)'),
            inference, 'Latency of the inferences, as recorded', frozenset((1, 3, 4, 5)),
        ),
        Table(
            ('family', 'metrics', 'updates', 'mean (µs)', 'standard deviation (µs)', ''),
            metrics, 'Time of one update, measured on this computer with the recorded data',
            frozenset((2, 3, 4)),
        ),
    ]  # fmt: skip
    text = (
        'Samples and token statistics are made within the inference: their cost is the difference '
        'of the rows of a policy that was run with and without them.'
    )
    return Part('Overhead (RQ4)', [text], content, 'overhead')


def _number(value: float, digits: int = 3) -> str:
    return readable(value, digits) if math.isfinite(value) else DASH
