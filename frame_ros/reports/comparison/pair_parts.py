# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Parts of the page of a comparison: the pairs of policies."""

from __future__ import annotations

import math
from collections.abc import Sequence

from frame_ros.evaluation.policy_comparison.scores import Score
from frame_ros.evaluation.policy_comparison.study import PairRow, Study, SuccessTest, TimesTest
from frame_ros.evaluation.statistics.verdict import Verdict
from frame_ros.reports.comparison.episodes import set_link
from frame_ros.reports.comparison.score_parts import SHARE, number_cell
from frame_ros.reports.comparison.words import (
    deciding_p,
    further_rollouts,
    outcome_words,
    percent,
    relation,
    score_of,
)
from frame_ros.reports.html.study_page import BAD, GOOD, PLAIN, QUIET, Cell, Figure, Part, Table
from frame_ros.reports.model.numbers import UNAVAILABLE, readable

TONES = {
    Verdict.BETTER: GOOD,
    Verdict.WORSE: GOOD,
    Verdict.CROSSING: BAD,
    Verdict.INDISTINGUISHABLE: PLAIN,
    Verdict.UNDERPOWERED: QUIET,
    Verdict.NOT_COMPARABLE: BAD,
}
SECONDS = Score('', '', 's', False, '')


def pairs_part(study: Study, figures: Sequence[Figure]) -> Part:
    """Returns the outcome of every pair."""
    rows = [_outcome_row(study, pair) for pair in study.pairs]
    options = study.options
    header = (
        'first', 'second', 'outcome', 'verdict on the first', f'p ({options.correction})',
        'decided by', 'RMST, first minus second', 'CDFs', 'rollouts needed still',
    )  # fmt: skip
    direction = (
        'First a test decides if two policies differ, then the difference of RMST with its '
        'interval decides in favour of whom; crossing: scalars, or times, clearly disagree.'
    )
    texts = [
        *([direction] if any(pair.times for pair in study.pairs) else []),
        'Underpowered: fewer episodes than the test that decides needs to find a difference of '
        f'{percent(options.smallest_difference, 0)} in success, or of the CDFs at some time on '
        f'every object, with power {percent(options.power, 0)} at the level that the pairs share.',
    ]
    return Part(
        'Pairs of policies', texts, [Table(header, rows, numbers=frozenset((4, 6))), *figures],
        'pairs',
    )  # fmt: skip


def _outcome_row(study: Study, pair: PairRow) -> list[str | Cell]:
    judgement, link = pair.judgement, set_link(pair.episodes)
    p = deciding_p(study, pair)
    rmst = pair.times.rmst_difference if pair.times else None
    return [
        pair.first,
        pair.second,
        Cell(outcome_words(pair), TONES[judgement.verdict], judgement.reason, href=link),
        Cell(judgement.verdict.value.replace('_', ' '), below=judgement.reason),
        p_cell(p, study, link),
        pair.decided_by or UNAVAILABLE,
        number_cell(SECONDS, rmst) if rmst else Cell(UNAVAILABLE, QUIET, 'no times of both'),
        relation(pair) or UNAVAILABLE,
        Cell(
            further_rollouts(pair) or UNAVAILABLE,
            hint=pair.more.words if pair.more else '',
            below='at the difference observed' if pair.more else '',
        ),
    ]


def p_cell(p: float, study: Study, link: str, below: str = '') -> Cell:
    """Returns a p-value, shaded if it is at most the level."""
    if math.isnan(p):
        return Cell(UNAVAILABLE, QUIET, 'not tested')
    tone = GOOD if p <= study.options.alpha else PLAIN
    return Cell(readable(p, 2), tone, below=below, href=link, strength=0.6 if tone else 0.0)


def times_part(study: Study) -> Part:
    """Returns the tests of times of every pair. PhAIL, table 3 and section 3.3."""
    tested = [(pair, pair.times) for pair in study.pairs if pair.times is not None]
    rows = [_times_row(study, pair, times) for pair, times in tested]
    header = (
        'first', 'second', 'macro KS', 'p', 'Bonferroni', 'Holm', 'logrank, stratified',
        'logrank, pooled',
    )  # fmt: skip
    content = [
        Table(header, rows, 'Tests over objects', frozenset(range(2, 8))),
        _object_table(study, tested),
        _difference_table(study, tested),
    ]
    text = (
        'KS: largest distance of the time-to-success CDFs on each object, mean over objects with '
        f'equal weights; p by {study.options.resamples:,} permutations of the episodes. '
        'Logrank takes operations as independent: it is a check.'
    )
    return Part('Times: tests of pairs', [text], content, 'times')


def _times_row(study: Study, pair: PairRow, times: TimesTest) -> list[str | Cell]:
    link = set_link(times.rmst_difference.episodes)
    p_values = (
        times.p, times.p_bonferroni, times.p_holm, times.logrank_stratified, times.logrank_pooled
    )  # fmt: skip
    return [
        pair.first,
        pair.second,
        Cell(readable(times.distance, 3), href=link),
        *(p_cell(p, study, link) for p in p_values),
    ]


def _object_table(study: Study, tested: Sequence[tuple[PairRow, TimesTest]]) -> Table:
    names = [name for name in study.objects if any(_has(name, t) for _, t in tested)]
    rows: list[list[str | Cell]] = []
    for pair, times in tested:
        by_object = {each.object: each for each in times.objects}
        cells = []
        for name in names:
            each = by_object.get(name)
            if each is None:
                cells.append(Cell(UNAVAILABLE, QUIET, 'fewer than two episodes of one of them'))
                continue
            above = {1: pair.first, -1: pair.second}.get(each.sign, '')
            where = f', {above} above at {readable(each.time, 3)} s' if above else ''
            cells.append(
                Cell(
                    readable(each.distance, 3),
                    GOOD if each.p <= study.options.alpha else PLAIN,
                    f'p = {readable(each.p, 2)}, not adjusted{where}',
                    f'p {readable(each.p, 2)}',
                    set_link(each.episodes),
                    0.4 if each.p <= study.options.alpha else 0.0,
                )
            )
        rows.append([pair.first, pair.second, *cells])
    caption = 'KS on each object, with p that is not adjusted'
    return Table(('first', 'second', *names), rows, caption, frozenset(range(2, len(names) + 2)))


def _has(name: str, times: TimesTest) -> bool:
    return any(each.object == name for each in times.objects)


def _difference_table(study: Study, tested: Sequence[tuple[PairRow, TimesTest]]) -> Table:
    ids = list(tested[0][1].differences) if tested else []
    names = [('P(faster) - 1/2', SHARE) if id == 'faster' else _named(study, id) for id in ids]
    rows: list[list[str | Cell]] = []
    for pair, times in tested:
        cells = []
        for id, (_, score) in zip(ids, names):
            each = times.differences[id]
            tone = (GOOD if each.value > 0 else BAD) if each.excludes_zero else PLAIN
            cells.append(number_cell(score, each, tone))
        rows.append([pair.first, pair.second, *cells])
    caption = (
        'Advantages of the first, mean over objects (positive: the first is better); in colour '
        'where the interval excludes 0'
    )
    header = ('first', 'second', *(name for name, _ in names))
    return Table(header, rows, caption, frozenset(range(2, len(header))))


def _named(study: Study, id: str) -> tuple[str, Score]:
    score = score_of(study, id)
    return score.name, score


def successes_part(study: Study) -> Part:
    """Returns the tests of successes and stages of every pair."""
    tested = [(pair, pair.successes) for pair in study.pairs if pair.successes is not None]
    rows = [_success_row(study, pair, test) for pair, test in tested]
    header = (
        'first', 'second', 'pairs', 'only first / only second', 'paired difference', 'McNemar p',
        'successes', 'difference', 'Boschloo p', 'Bonferroni', 'Holm',
    )  # fmt: skip
    content = [Table(header, rows, numbers=frozenset(range(2, 11)))]
    if stages := _stage_rows(study, tested):
        content.append(
            Table(
                ('first', 'second', 'stage', 'first reaches', 'second reaches', 'p', 'Holm'),
                stages, 'Stages reached, in order: partial credit in every test',
                frozenset(range(3, 7)),
            )
        )  # fmt: skip
    remarks = [
        f'{pair.first} and {pair.second}: {remark}.'
        for pair, test in tested
        for remark in test.result.remarks
    ]
    text = (
        "Paired episodes first: McNemar's exact test and Tango's interval; all episodes, paired or "
        "not, as sensitivity: Boschloo's test and Newcombe's interval. Adjusted: the test of pairs "
        'if half of the episodes are paired, else the other.'
    )
    return Part('Successes and stages: tests of pairs', [text, *remarks], content, 'successes')


def _success_row(study: Study, pair: PairRow, test: SuccessTest) -> list[str | Cell]:
    paired, unpaired = test.result.paired, test.result.unpaired
    row: list[str | Cell] = [pair.first, pair.second]
    if paired is None:
        row += [Cell('0', QUIET), *([Cell(UNAVAILABLE, QUIET, 'no episodes are paired')] * 3)]
    else:
        link, counts = set_link(test.paired), paired.counts
        ends = f'{100 * paired.lower:.1f} to {100 * paired.upper:.1f}'
        row += [
            Cell(f'{counts.pairs}', href=link),
            Cell(f'{counts.only_a} / {counts.only_b}', href=link),
            Cell(percent(paired.difference), below=ends, href=link),
            p_cell(paired.p, study, link),
        ]
    if unpaired is None:
        row += [Cell(UNAVAILABLE, QUIET, '; '.join(test.result.facts))] * 3
    else:
        link = set_link(test.all)
        counted = f'{unpaired.successes_a} of {unpaired.trials_a}'
        other = f'{unpaired.successes_b} of {unpaired.trials_b}'
        ends = f'{100 * unpaired.lower:.1f} to {100 * unpaired.upper:.1f}'
        row += [
            Cell(f'{counted} / {other}', href=link),
            Cell(percent(unpaired.difference), below=ends, href=link),
            p_cell(unpaired.p_boschloo, study, link),
        ]
    link = set_link(test.paired if test.result.is_paired else test.all)
    return [*row, p_cell(test.p_bonferroni, study, link), p_cell(test.p_holm, study, link)]


def _stage_rows(
    study: Study, tested: Sequence[tuple[PairRow, SuccessTest]]
) -> list[list[str | Cell]]:
    rows: list[list[str | Cell]] = []
    for pair, test in tested:
        stages = test.result.stages
        if stages is None:
            continue
        link = set_link(test.all)
        for each in stages.rows:
            own = each.unpaired
            rows.append(
                [
                    pair.first, pair.second, each.stage,
                    Cell(f'{own.successes_a} of {own.trials_a}', href=link),
                    Cell(f'{own.successes_b} of {own.trials_b}', href=link),
                    p_cell(each.p, study, link), p_cell(each.p_holm, study, link),
                ]
            )  # fmt: skip
        credit = stages.paired or stages.unpaired
        rows.append(
            [
                pair.first, pair.second, 'mean share of stages',
                Cell(percent(credit.mean_a), href=link), Cell(percent(credit.mean_b), href=link),
                p_cell(credit.p, study, link), Cell(UNAVAILABLE, QUIET, 'one test'),
            ]
        )  # fmt: skip
    return rows
