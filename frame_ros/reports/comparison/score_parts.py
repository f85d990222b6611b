# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Parts of the page of a comparison: scores, failures, conditions, sources of labels, scalars."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from frame_ros.evaluation.outcomes.operation import Ending
from frame_ros.evaluation.policy_comparison.estimates import Estimate
from frame_ros.evaluation.policy_comparison.scores import Score
from frame_ros.evaluation.policy_comparison.study import CellRow, Study
from frame_ros.reports.comparison.episodes import set_link
from frame_ros.reports.comparison.words import (
    interval_text,
    known_scores,
    ordered_means,
    percent,
    score_of,
    value_text,
)
from frame_ros.reports.comparison_figures.conditions import conditions_figure
from frame_ros.reports.comparison_figures.failures import failure_figure
from frame_ros.reports.comparison_figures.scalar_table import Scalar, scalar_table
from frame_ros.reports.comparison_figures.style import Look
from frame_ros.reports.html.study_page import QUIET, STRONG, Cell, Figure, Part, Table
from frame_ros.reports.model.numbers import UNAVAILABLE

SHARE = Score('', '', '', True, '')
# Kinds of failures in tables: name, share of what.
KINDS = {
    'drop': 'drops (of operations)',
    'failure': 'other hard failures (of operations)',
    'safety_stop': 'safety stops (of episodes)',
    'timeout': 'timeouts (of episodes)',
    'stopped': 'ended before (of episodes)',
    'intervention': 'interventions (of episodes)',
}


def number_cell(score: Score, estimate: Estimate, tone: str = '') -> Cell:
    """Returns a number with its interval, its reason, and a link to its episodes."""
    is_known = not math.isnan(estimate.value)
    return Cell(
        value_text(score, estimate.value),
        tone if is_known else QUIET,
        estimate.reason,
        interval_text(score, estimate),
        set_link(estimate.episodes),
    )


def scores_part(study: Study, figures: Sequence[Figure]) -> Part:
    """Returns the scores of every policy, means over objects."""
    scores, missing = known_scores(study)
    rows = [_mean_row(study, row, scores) for row in ordered_means(study)]
    header = ['policy', 'letters', 'episodes', 'operations', *map(_heading, scores)]
    confidence = percent(1.0 - study.options.alpha, 0)
    texts = [
        f'Means over objects with equal weights; below: {confidence} intervals by '
        f'{study.options.resamples:,} resamples of whole episodes (Wilson for success). Policies '
        'that share a letter are not distinguished. Each number leads to its episodes.',
        'Definitions: ' + '; '.join(f'{each.name}: {each.text}' for each in scores) + '.',
        *(['Not available: ' + '; '.join(missing) + '.'] if missing else []),
    ]
    table = Table(header, rows, numbers=frozenset(range(2, len(header))), is_sortable=True)
    return Part('Scores', texts, [table, *figures], 'scores')


def _heading(score: Score) -> str:
    return f'{score.name} {"↑" if score.higher_is_better else "↓"}'


def _mean_row(study: Study, row: CellRow, scores: Sequence[Score]) -> list[str | Cell]:
    is_human = row.policy == study.human
    note = 'human reference' if is_human else ''
    if row.missing:
        note = f'without {", ".join(row.missing)}'
    count = len(study.sets[row.episodes].places)
    return [
        Cell(row.policy, STRONG if row.policy in study.best else '', below=note),
        study.letters.get(row.policy, ''),
        Cell(f'{count}', href=set_link(row.episodes)),
        Cell(f'{row.operations}', href=set_link(row.episodes)),
        *(number_cell(score, row.scores[score.id]) for score in scores),
    ]


def objects_part(study: Study, figures: Sequence[Figure]) -> Part:
    """Returns the scores of every policy on every object."""
    scores, _ = known_scores(study)
    rows: list[list[str | Cell]] = []
    for name in study.objects:
        for row in (row for row in study.cells if row.object == name):
            count = len(study.sets[row.episodes].places)
            rows.append(
                [
                    row.object,
                    row.policy,
                    Cell(f'{count}', href=set_link(row.episodes)),
                    Cell(f'{row.operations}', href=set_link(row.episodes)),
                    *(number_cell(score, row.scores[score.id]) for score in scores),
                ]
            )
    header = ['object', 'policy', 'episodes', 'operations', *map(_heading, scores)]
    table = Table(header, rows, numbers=frozenset(range(2, len(header))), is_sortable=True)
    return Part('Policies by object', [], [*figures, table], 'objects')


def failures_part(study: Study, looks: Mapping[str, Look]) -> Part:
    """Returns failures by their kind. PhAIL, appendix F."""
    order = [row.policy for row in ordered_means(study)]
    by_policy = {row.policy: row for row in study.failures}
    rows: list[list[str | Cell]] = [
        [policy, *(number_cell(SHARE, by_policy[policy].shares[kind]) for kind in KINDS)]
        for policy in order
    ]
    content: list[Table | Figure] = [
        Table(('policy', *KINDS.values()), rows, numbers=frozenset(range(1, len(KINDS) + 1)))
    ]
    counts = {
        row.policy: {
            ending.value.replace('_', ' '): row.endings.get(ending.value, 0) for ending in Ending
        }
        for row in ordered_means(study)
        if row.endings
    }
    if counts:
        content.append(failure_figure(counts, looks=looks))
    text = (
        'The same share of failures can come from very different mixes. Drops, other hard failures '
        'and safety stops count as done at infinity, timeouts are censored.'
    )
    return Part('Failures by kind', [text], content, 'failures')


def conditions_part(study: Study, looks: Mapping[str, Look]) -> Part:
    """Returns results by condition. PhAIL, appendix G."""
    content: list[Table | Figure] = []
    for name in dict.fromkeys(row.condition for row in study.conditions):
        rows = [row for row in study.conditions if row.condition == name]
        values = list(dict.fromkeys(row.value for row in rows))
        found = {(row.policy, row.value): row for row in rows}
        score = score_of(study, rows[0].score)
        lines: list[list[str | Cell]] = []
        for policy in study.letters:
            own = [found.get((policy, value)) for value in values]
            cells: list[Cell] = []
            for each in own:
                if each is None:
                    cells += [Cell(UNAVAILABLE, QUIET, 'no episodes'), Cell('0', QUIET)]
                    continue
                count = len(study.sets[each.result.episodes].places)
                link = set_link(each.result.episodes)
                scored = score_of(study, each.score)
                cells += [number_cell(scored, each.result), Cell(f'{count}', href=link)]
            lines.append([policy, *cells])
        header = ['policy', *(text for value in values for text in (value, 'episodes'))]
        caption = f'{score.name} ({score.text}) by {name}, mean over objects'
        content.append(Table(header, lines, caption, frozenset(range(1, len(header)))))
        content.append(_conditions_figure(study, name, score, looks))
    text = (
        'A condition that moves a result by as much as the gap between two policies confounds '
        'their comparison, unless its values are as frequent for both.'
    )
    return Part('Results by condition', [text], content, 'conditions')


def _conditions_figure(study: Study, name: str, score: Score, looks: Mapping[str, Look]) -> Figure:
    results: dict[str, dict[str, tuple[float, float, float]]] = {}
    counts: dict[str, dict[str, int]] = {}
    order = list(study.letters)
    for row in sorted(study.conditions, key=lambda row: order.index(row.policy)):
        if row.condition == name:
            e = row.result
            ends = 100.0 * e.value, 100.0 * e.lower, 100.0 * e.upper
            results.setdefault(row.policy, {})[row.value] = ends
            counts.setdefault(row.policy, {})[row.value] = len(study.sets[e.episodes].places)
    return conditions_figure(results, name, f'{score.name} (%)', counts, looks)


def labels_part(study: Study) -> Part:
    """Returns rankings by source of labels. PhAIL, appendix E."""
    sources = list(dict.fromkeys(row.source for row in study.labels))
    found = {(row.policy, row.source): row for row in study.labels}
    rows: list[list[str | Cell]] = []
    for policy in study.letters:
        line: list[str | Cell] = [policy]
        for source in sources:
            row = found[policy, source]
            count = len(study.sets[row.result.episodes].places)
            link = set_link(row.result.episodes)
            line += [
                number_cell(score_of(study, row.score), row.result),
                f'{row.rank}' if row.rank else UNAVAILABLE,
                Cell(f'{count}', href=link),
            ]
        rows.append(line)
    header = ['policy', *(['value', 'rank', 'episodes'] * len(sources))]
    score = score_of(study, study.labels[0].score)
    orders = {
        tuple(sorted((row.rank, row.policy) for row in study.labels if row.source == source))
        for source in sources
    }
    same = 'the same' if len(orders) == 1 else 'not the same'
    text = (
        f'{score.name} over the episodes of each source of labels; the ranking is {same} for all. '
        'Episodes that were reviewed are those in which detector and operator disagreed: they are '
        'no sample of all, so this is a check over difficulty.'
    )
    table = Table(
        header, rows, numbers=frozenset(range(1, len(header))),
        above=[('', 1), *((source, 3) for source in sources)],
    )  # fmt: skip
    return Part('Robustness to the source of labels', [text], [table], 'labels')


def scalars_part(study: Study) -> Part:
    """Returns which scalar ranks whom first. PhAIL, section 5.3."""
    means = {row.policy: row for row in study.means}
    scalars = [
        Scalar(
            score.name,
            {
                policy: (100.0 if score.unit == '' else 1.0) * means[policy].scores[score.id].value
                for policy in study.letters
            },
            score.higher_is_better,
            '%' if score.unit == '' else score.unit,
            score.text,
            {policy: set_link(means[policy].scores[score.id].episodes) for policy in study.letters},
        )
        for score in known_scores(study)[0]
    ]
    text = (
        'Each score weights another region of the time-to-success CDF; the choice of one is a '
        'choice of what matters.'
    )
    return Part('Do the scores agree?', [text], [scalar_table(scalars, study.letters)], 'scalars')
