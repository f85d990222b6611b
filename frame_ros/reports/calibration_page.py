# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The study of a policy's calibration as a page."""

from __future__ import annotations

import math
from collections.abc import Sequence

from frame_ros.confidence.calibration import Estimate
from frame_ros.confidence.calibration_file import CalibrationFile
from frame_ros.confidence.guarantees.guarantee import CONSTANT
from frame_ros.confidence.score_episode import ScoreEpisode
from frame_ros.core.plain_text import counted
from frame_ros.evaluation.calibration.comparison import Candidate, Comparison
from frame_ros.evaluation.calibration.options import FIRST, HORIZON, RAW, STATISTICS
from frame_ros.evaluation.calibration.score_table import CalibrationRow, ScoreRow
from frame_ros.evaluation.calibration.study import CONFIDENCE, CalibrationStudy
from frame_ros.reports.calibration_figures import (
    candidate_diagrams,
    comparison_figure,
    dimension_figure,
    horizon_figure,
    monitoring_figure,
    reliability_figure,
)
from frame_ros.reports.html.study_page import (
    BAD,
    GOOD,
    PLAIN,
    QUIET,
    STRONG,
    Cell,
    Figure,
    Part,
    StudyPage,
    Table,
)
from frame_ros.reports.model.numbers import readable

DASH = '–'
# Statistic of `calibration_metrics` -> heading.
HEADINGS = {
    'ece_1': 'ECE₁', 'ece_2': 'ECE₂', 'mce': 'MCE', 'brier': 'Brier', 'reliability': 'reliability',
    'resolution': 'resolution', 'uncertainty': 'uncertainty', 'nll': 'NLL', 'auroc': 'AUROC',
    'auprc': 'AUPRC',
}  # fmt: skip
MOMENTS = {FIRST: 'before the first action', HORIZON: 'over the horizon'}
METRICS_TEXT = (
    'ECE: mean gap between confidence and success rate over bins of equal mass (ECE₂: root of the '
    'mean square); MCE: the largest gap; Brier = reliability - resolution + uncertainty, up to '
    'what the bins leave out; NLL: negative log-likelihood, nats. Lower is better. AUROC: '
    'probability that a failure has less confidence than a success; AUPRC: average precision for '
    'failures. Below each: 95 % interval over resampled episodes.'
)
# Episodes of each outcome that are drawn against the threshold.
DRAWN = 2


def calibration_page(found: CalibrationStudy, saved: CalibrationFile, title: str = '') -> StudyPage:
    """Returns the page of a study.

    Args:
        found: the study.
        saved: the calibration file that was made of it.
        title: heading of the page.
    """
    given, options = found.given, found.options
    policy = saved.provenance.policy
    resamples = f'{options.resamples:,} resamples, seed {options.seed}'
    facts = [
        ('Policy', policy or DASH),
        ('Episodes', f'{len(given)}'),
        ('Successes', f'{given.successes}'),
        ('Failures', f'{given.failures}'),
        ('Expected duration', _seconds(found.expected_duration)),
        ('Intervals', resamples if options.resamples else 'none'),
    ]
    parts = [
        _calibration(found), _horizon(found), _dimensions(found),
        *(_recalibrators(each) for each in found.comparisons.values()),
        _scores(found), _monitoring(found), _thresholds(found), _saved(found, saved),
        _left_out(found),
    ]  # fmt: skip
    return StudyPage(
        title=title or f'Calibration of {policy or "a policy"}',
        kicker='frame_ros calibration',
        headline=headline(found),
        verdict=verdict(found),
        warnings=found.notes,
        facts=facts,
        parts=[part for part in parts if part is not None],
    )


def headline(found: CalibrationStudy) -> str:
    """Returns the result in a sentence."""
    comparison, kind = found.comparison, found.saved_kind
    if comparison is None:
        if kind != RAW:
            scores = counted(len(found.thresholds.horizon), 'score')
            return f'{kind}, without a judgement on held-out episodes; thresholds of {scores}'
        return foresight(found)
    raw = comparison.candidate(RAW).metrics['ece_1'].value
    if kind == RAW:
        return f'The raw confidence is not improved by a recalibrator: ECE₁ {readable(raw, 3)}'
    chosen = comparison.candidate(kind)
    if not chosen.metrics:
        return f'{kind} is saved, without a judgement on held-out episodes'
    value = chosen.metrics['ece_1'].value
    return f'{kind} takes ECE₁ from {readable(raw, 3)} to {readable(value, 3)} on held-out episodes'


def foresight(found: CalibrationStudy) -> str:
    """Returns whether a score separates failures from successes before the first action."""
    for count, noun in ((found.given.failures, 'failure'), (found.given.successes, 'success')):
        if not count:
            return f'Whether a score foresees failures cannot be said: there is no {noun}'
    areas = {row.score: row.auroc['first'] for row in found.scores if row.auroc}
    known = {name: area for name, area in areas.items() if math.isfinite(area.value)}
    if not known:
        return 'No score of the policy can be compared with its failures'
    clear = [name for name, area in known.items() if area.lower > 0.5]
    best = max(known, key=lambda name: known[name].value)
    area, of = known[best], counted(len(known), 'score')
    ends = f', {readable(area.lower, 3)} to {readable(area.upper, 3)}'
    shown = f'{readable(area.value, 3)}{ends if math.isfinite(area.lower) else ""}'
    return (
        f'At the first inference {len(clear) or "none"} of {of} clearly '
        f'{"separates" if len(clear) < 2 else "separate"} failures from successes; highest AUROC: '
        f'{best}, {shown}'
    )


def verdict(found: CalibrationStudy) -> list[str]:
    """Returns more sentences on the result."""
    comparison, scores = found.comparison, counted(len(found.thresholds.horizon), 'score')
    is_headline = comparison is None and found.saved_kind == RAW
    texts = [f'No recalibrator; thresholds of {scores}.' if is_headline else f'{foresight(found)}.']
    if comparison is not None:
        moments = MOMENTS[comparison.moments]
        texts.append(f'{_capital(comparison.advice)} (samples {moments}).')
        if found.options.recalibrator not in ('', comparison.recommended):
            texts.append(f'As wanted, {found.options.recalibrator} is saved instead.')
        kind = found.saved_kind
        texts += [f'{kind}: {note}.' for note in comparison.candidate(kind).notes]
    if found.thresholds.refused:
        texts.append(
            'Some thresholds could not be fitted; the table of thresholds says what they need.'
        )
    return texts


def _capital(text: str) -> str:
    return text.rstrip('.')


def _calibration(found: CalibrationStudy) -> Part | None:
    if not found.aggregates:
        return None
    rate = found.given.outcomes.mean()
    tables = [
        _metrics_table(
            'aggregate', found.aggregates,
            'The confidence of an episode, by the way it is made of its inferences '
            '(section 3.4 of the paper).',
        ),
    ]  # fmt: skip
    if len(found.confidences) > 1:
        tables.append(
            _metrics_table(
                'confidence', found.confidences,
                'Ways to a confidence, each before the first action (tables 4 to 6).',
            )
        )  # fmt: skip
    text = f'{readable(100 * rate, 3)} % of {counted(len(found.given), "episode")} succeeded.'
    return Part('Is the confidence calibrated?', [text, METRICS_TEXT], tables, 'calibration')


def _metrics_table(name: str, rows: Sequence[CalibrationRow], caption: str) -> Table:
    shown: list[list[str | Cell]] = [
        [Cell(row.name, STRONG), *(_estimate(row.metrics[each]) for each in HEADINGS)]
        for row in rows
    ]
    header = (name, *HEADINGS.values())
    return Table(header, shown, caption, frozenset(range(1, len(header))))


def _estimate(found: Estimate, tone: str = PLAIN) -> Cell:
    if not math.isfinite(found.value):
        return Cell(DASH, QUIET, 'not defined for these episodes')
    is_known = math.isfinite(found.lower)
    below = f'{readable(found.lower, 3)} – {readable(found.upper, 3)}' if is_known else ''
    return Cell(readable(found.value, 3), tone, below=below)


def _horizon(found: CalibrationStudy) -> Part | None:
    if not found.horizon:
        return None
    figures = [horizon_figure(found.horizon), reliability_figure(found.horizon)]
    text = (
        'At each percent of the time that an episode took: the confidence of the newest inference '
        '(Current), the mean of the last five (Window), and of all so far (Average all).'
    )
    return Part("Calibration over the task's time", [text], figures, 'horizon')


def _dimensions(found: CalibrationStudy) -> Part | None:
    rows = found.dimensions
    if not rows:
        return None
    shown: list[list[str | Cell]] = [
        [
            f'{row.dimension}',
            Cell(f'{row.bias:+.3f}', BAD if row.bias > 0 else PLAIN),
            *(_estimate(row.metrics[each]) for each in STATISTICS),
        ]
        for row in rows
    ]
    header = ('dimension', 'bias', *(HEADINGS[each] for each in STATISTICS))
    table = Table(header, shown, numbers=frozenset(range(1, len(header))), is_sortable=True)
    text = 'Bias: mean confidence less the success rate; above 0 the policy is too sure.'
    return Part('Action dimensions', [text], [dimension_figure(rows), table], 'dimensions')


def _recalibrators(comparison: Comparison) -> Part:
    fitted = [each for each in comparison.candidates if each.metrics]
    refused = [each for each in comparison.candidates if each.problem]
    best = min(each.metrics['nll'].value for each in fitted)
    rows = [_candidate_row(each, comparison, best) for each in fitted]
    rows += [
        [each.kind, Cell(each.problem, QUIET), *[Cell(DASH, QUIET)] * (len(STATISTICS) + 1)]
        for each in refused
    ]
    header = ('recalibrator', 'parameters', *(HEADINGS[each] for each in STATISTICS), 'NLL gained')
    shown = {RAW, comparison.recommended}
    diagrams = [each for each in fitted if each.kind in shown]
    content: list[Table | Figure] = [
        Table(header, rows, numbers=frozenset(range(1, len(header)))),
        comparison_figure(fitted),
        candidate_diagrams(diagrams, comparison.moments == FIRST),
    ]
    text = (
        f'Each was fitted on {comparison.folds - 1} of {comparison.folds} parts of the episodes '
        'and judged on the other, so that no episode judges what it was fitted on. NLL gained: '
        'over the raw confidence, paired by episode.'
    )
    moments = MOMENTS[comparison.moments]
    return Part(
        f'Recalibrators, {moments}', [text, comparison.advice], content, f'recalibrators-{moments}'
    )


def _candidate_row(each: Candidate, comparison: Comparison, best: float) -> list[str | Cell]:
    is_chosen = each.kind == comparison.recommended
    cells = []
    for name in STATISTICS:
        is_best = name == 'nll' and each.metrics[name].value == best
        cells.append(_estimate(each.metrics[name], GOOD if is_best else PLAIN))
    gain = Cell(DASH, QUIET) if each.kind == RAW else _estimate(each.gain)
    return [
        Cell(each.kind, STRONG if is_chosen else PLAIN, '; '.join(each.notes),
             'recommended' if is_chosen else ''),
        f'{each.parameters}', *cells, gain,
    ]  # fmt: skip


def _scores(found: CalibrationStudy) -> Part | None:
    if not found.scores:
        return None
    summaries = ('first', 'mean', 'worst')
    header = ('score', 'episodes', *(f'AUROC, {each}' for each in summaries), 'AUPRC, worst')
    rows = [_score_row(row, summaries) for row in found.scores]
    text = (
        'How well each score separates failed episodes from successful ones: by its value at the '
        'first inference, its mean and its worst. 1 separates them, 0.5 is no better than chance; '
        'the interval is over resampled episodes, and the highest of many scores is flattered by '
        'chance. The worst and the mean use the whole episode, so they cannot be '
        'had before its end; combined_risk also watches the elapsed time, by which every timeout '
        'shows in the end.'
    )
    table = Table(header, rows, numbers=frozenset(range(1, len(header))), is_sortable=True)
    return Part('Scores', [text], [table], 'scores')


def _score_row(row: ScoreRow, summaries: Sequence[str]) -> list[str | Cell]:
    count = f'{row.successes + row.failures}'
    if row.is_constant:
        return [row.score, count, Cell('constant', QUIET), *[Cell(DASH, QUIET)] * len(summaries)]
    if not row.auroc:
        return [row.score, count, *[Cell(DASH, QUIET)] * (len(summaries) + 1)]
    areas = [_area(row.auroc[each]) for each in summaries]
    return [row.score, count, *areas, _estimate(row.auprc['worst'])]


def _area(found: Estimate) -> Cell:
    tone = GOOD if found.lower > 0.5 else BAD if found.upper < 0.5 else PLAIN
    return _estimate(found, tone)


def _monitoring(found: CalibrationStudy) -> Part | None:
    limit = found.thresholds.horizon.get(CONFIDENCE)
    if limit is None:
        return None
    given = found.given.with_score(CONFIDENCE).episodes
    drawn: list[ScoreEpisode] = []
    for outcome in (False, True):
        drawn += [each for each in given if each.outcome is outcome][:DRAWN]
    text = (
        "The monitor's default rule recommends a halt where the confidence is below this threshold "
        'and the robot is near an obstacle or in contact. Live, the time is measured against the '
        f'expected duration, {_seconds(found.expected_duration)}.'
    )
    figure = monitoring_figure(drawn, CONFIDENCE, limit)
    return Part('Horizon threshold', [text], [figure], 'monitoring')


def _thresholds(found: CalibrationStudy) -> Part | None:
    limits = found.thresholds
    if not limits.horizon:
        return None
    # Those of one score.
    kept = [
        each
        for each in limits.guarantees
        if each.form == CONSTANT and len(each.thresholds) + len(each.refused) == 1
    ]
    rates = list(dict.fromkeys(each.rate for each in kept))
    own = {(name, each.rate): limit for each in kept for name, limit in each.thresholds.items()}
    header = ('score', 'horizon threshold', *(f'{each.value:g} per {each.per}' for each in rates))
    rows: list[list[str | Cell]] = []
    for name, each in limits.horizon.items():
        span = f'{readable(each.thresholds.min(), 4)} to {readable(each.thresholds.max(), 4)}'
        cells = [
            readable(own[name, rate].upper[0], 4) if (name, rate) in own else Cell(DASH, QUIET)
            for rate in rates
        ]
        rows.append([name, span, *cells])
    content = [Table(header, rows, numbers=frozenset(range(1, len(header))))]
    if limits.refused:
        content.append(
            Table(('scores', 'threshold', 'what is missing'), limits.refused, 'Not fitted')
        )
    text = (
        'Horizon thresholds are quantiles of the score as it stands over all episodes. The other '
        'thresholds, here those of one level for the whole episode, are on the risk, larger is '
        'worse: '
        'new successful episodes have false alarms at no more than this rate, if they are '
        'exchangeable with the calibration episodes.'
    )
    return Part('Thresholds', [text], content, 'thresholds', is_folded=True)


def _saved(found: CalibrationStudy, saved: CalibrationFile) -> Part:
    fingerprint = saved.fingerprint
    known = fingerprint.to_dict()
    rows: list[list[str | Cell]] = [
        ['recalibrator', found.saved_kind],
        ['horizon thresholds', counted(len(saved.horizon_thresholds), 'score')],
        ['guarantees', f'{sum(bool(each.thresholds) for each in saved.guarantees)}'],
        ['newest episode', saved.provenance.newest or DASH],
    ]
    rows += [[name.replace('_', ' '), f'{value}'] for name, value in known.items()]
    if fingerprint.unknown:
        rows.append(['not known, so never compared', Cell(', '.join(fingerprint.unknown), QUIET)])
    text = 'The file holds for this setup; another one is refused, with the part that differs.'
    return Part('The calibration file', [text], [Table(('part', 'content'), rows)], 'file', True)


def _left_out(found: CalibrationStudy) -> Part | None:
    rows = list(found.given.left_out)
    if not rows:
        return None
    heading = f'{counted(len(rows), "episode")} left out'
    return Part(heading, [], [Table(('episode', 'reason'), rows)], 'left-out', is_folded=True)


def _seconds(value: float | None) -> str:
    return DASH if value is None else f'{readable(value, 3)} s'
