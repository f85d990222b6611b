# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""A comparison of policies in sentences."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Sequence

import numpy as np

from frame_ros.core.plain_text import JOINING, counted, plain
from frame_ros.evaluation.policy_comparison.estimates import Estimate
from frame_ros.evaluation.policy_comparison.facts import CONDITIONS as OF_FACTS
from frame_ros.evaluation.policy_comparison.follow_up import LIKE, ends_of, last_of
from frame_ros.evaluation.policy_comparison.judgements import TIMES, adjusted_p
from frame_ros.evaluation.policy_comparison.scores import SUCCESS, Score
from frame_ros.evaluation.policy_comparison.study import CellRow, PairRow, Relation, Study
from frame_ros.evaluation.statistics.verdict import Verdict
from frame_ros.evaluation.survival.cell import Cell
from frame_ros.reports.model.numbers import UNAVAILABLE, readable

# Pairs of which there is a sentence below the headline.
MOST_SENTENCES = 6
# In a plain name: what two names of one thing may differ by.
_NOT_SEEN = re.compile(rf'[\s_{JOINING}-]+|\\(?:[nrt]|x..|u....|U.{{8}})')


def percent(value: float, digits: int = 1) -> str:
    """Returns a share in percent."""
    if math.isnan(value):
        return UNAVAILABLE
    return f'{100.0 * value:.{digits}f}\u00a0%'


def value_text(score: Score, value: float) -> str:
    """Returns a value of a score with its unit; a dash if there is none."""
    if score.unit == '':
        return percent(value)
    text = readable(value, 3)
    return f'{text}\u00a0s' if score.unit == 's' and math.isfinite(value) else text


def interval_text(score: Score, estimate: Estimate) -> str:
    """Returns the interval of an estimate; '' if there is none."""
    if math.isnan(estimate.lower):
        return ''
    return f'{_end(score, estimate.lower)} to {_end(score, estimate.upper)}'


def _end(score: Score, value: float) -> str:
    return f'{100.0 * value:.1f}' if score.unit == '' else readable(value, 3)


def score_of(study: Study, id: str) -> Score:
    """Returns a score of a study."""
    return next(each for each in study.scores if each.id == id)


def known_scores(study: Study) -> tuple[list[Score], list[str]]:
    """Returns the scores of which a policy has a value, success first, and the names of the others
    with the reason.
    """
    values = {each.id: [row.scores[each.id] for row in study.means] for each in study.scores}
    known = [s for s in study.scores if not all(math.isnan(e.value) for e in values[s.id])]
    missing: dict[str, list[str]] = {}
    for score in study.scores:
        if score not in known:
            missing.setdefault(values[score.id][0].reason, []).append(score.name)
    known.sort(key=lambda score: score.id != SUCCESS.id)
    return known, [f'{listed(names)}: {reason}' for reason, names in missing.items()]


def ordered_means(study: Study) -> list[CellRow]:
    """Returns the means of the policies, the best first, the human reference last."""
    order = [*study.letters, *([study.human] if study.human else [])]
    return sorted(study.means, key=lambda row: order.index(row.policy))


def listed(names: Sequence[str]) -> str:
    """Returns 'a', 'a and b', 'a, b and c'."""
    *others, last = names
    return f'{", ".join(others)} and {last}' if others else last


def headline(study: Study) -> str:
    """Returns which policy is better, and how sure that is, in one sentence."""
    if len(study.policies) == 1:
        return f'{study.policies[0]} is the only policy: there is none to compare it with'
    if study.verdict is not None:
        candidate, baseline, judgement = study.verdict
        return judgement.words(candidate, baseline)
    compared = [pair for pair in study.pairs if pair.decided_by]
    if not compared:
        return f'No two policies are comparable: {study.pairs[0].judgement.reason}'
    confidence = percent(1.0 - study.options.alpha, 0)
    rest = [policy for policy in study.letters if policy not in study.best]
    many = counted(len(study.policies), 'policy').replace('policys', 'policies')
    if not rest:
        return f'None of the {many} can be distinguished from the best with {confidence} confidence'
    if len(study.best) == 1:
        row = next(row for row in study.means if row.policy == study.best[0])
        score = score_of(study, study.headline_score)
        value = value_text(score, row.scores[score.id].value)
        return (
            f'{study.best[0]} is the best of {many} with {confidence} confidence: '
            f'{score.name} {value}'
        )
    return (
        f'{listed(study.best)} cannot be distinguished from the best of {many}; '
        f'{listed(rest)} {"is" if len(rest) == 1 else "are"} not the best, with {confidence} '
        'confidence'
    )


def verdict_lines(study: Study) -> list[str]:
    """Returns the sentences below the headline: the pairs, and the scalars that disagree."""
    lines = []
    for pair in study.pairs[:MOST_SENTENCES] if study.verdict is None else ():
        lines.append(f'{pair.judgement.text(pair.first, pair.second)}.')
    if study.verdict is None and len(study.pairs) > MOST_SENTENCES:
        lines.append(f'{len(study.pairs) - MOST_SENTENCES} more pairs are in the table of pairs.')
    if study.verdict is not None:
        reason = study.verdict[2].reason
        lines += [f'{line}.' for line in (reason, *_pair_details(study)) if line]
    return lines


def _pair_details(study: Study) -> list[str]:
    """Returns the differences of the candidate from the baseline, and what decided."""
    assert study.verdict is not None
    names = study.verdict[:2]
    pair = next(pair for pair in study.pairs if {pair.first, pair.second} == set(names))
    sign = 1.0 if pair.first == names[0] else -1.0
    against = f'{names[0]} minus {names[1]}'
    found = []
    if pair.times is not None:
        change = pair.times.rmst_difference
        ends = ' to '.join(readable(end, 3) for end in _ends(change.lower, change.upper, sign))
        found.append(
            f'RMST, lower is better, {against}{_of_objects(study, pair)}: '
            f'{readable(sign * change.value, 3)} s ({change.reason or f"{ends} s"}); '
            f'{relation(pair)}'
        )
    if pair.successes is not None and (primary := pair.successes.result.primary) is not None:
        ends = ' to '.join(_point(end) for end in _ends(primary.lower, primary.upper, sign))
        found.append(
            f'Success, {against}: {_point(sign * primary.difference)} points ({ends}), '
            f'{primary.test} p = {readable(primary.p, 2)}'
        )
    if pair.decided_by:
        found.append(f'The verdict rests on: {pair.decided_by}')
    if pair.more and pair.more.further:
        found.append(
            'If the difference observed is the true one, '
            f'{counted(pair.more.further, "further rollout")} of both policies together would '
            'show it; noise alone may have made it'
        )
    return found


def _ends(lower: float, upper: float, sign: float) -> tuple[float, float]:
    return (lower, upper) if sign > 0 else (-upper, -lower)


def _point(share: float) -> str:
    return UNAVAILABLE if math.isnan(share) else f'{100.0 * share + 0.0:.1f}'


def _of_objects(study: Study, pair: PairRow) -> str:
    """Returns of which objects the test of times is, where it is not of all that both have."""
    own = [
        {row.object for row in study.cells if row.policy == policy}
        for policy in (pair.first, pair.second)
    ]
    shared = own[0] & own[1]
    tested = [each.object for each in pair.times.objects] if pair.times else []
    if len(tested) == len(shared):
        return ''
    return f', of the {len(tested)} of {len(shared)} objects that have two episodes of each'


def relation(pair: PairRow) -> str:
    """Returns the relation of the CDFs of a pair in words."""
    times = pair.times
    if times is None:
        return ''
    if times.relation is Relation.CROSSING:
        clear = times.clear_first and times.clear_second
        return f'the CDFs cross, first at {readable(times.crossing_time, 3)} s' + (
            ', and each is clearly above at some time' if clear else ''
        )
    names = {
        Relation.FIRST_ABOVE: f'the CDF of {pair.first} is nowhere below',
        Relation.SECOND_ABOVE: f'the CDF of {pair.second} is nowhere below',
        Relation.EQUAL: 'the CDFs are the same',
    }
    return names[times.relation]


def outcome_words(pair: PairRow) -> str:
    """Returns the judgement on a pair in a few words, PhAIL's where it has them."""
    words = {
        Verdict.BETTER: f'{pair.first} better',
        Verdict.WORSE: f'{pair.second} better',
        Verdict.CROSSING: 'crossing',
        Verdict.INDISTINGUISHABLE: 'indistinguishable',
        Verdict.UNDERPOWERED: 'indistinguishable at this n',
        Verdict.NOT_COMPARABLE: 'not comparable',
    }
    return words[pair.judgement.verdict]


def further_rollouts(pair: PairRow) -> str:
    """Returns how many rollouts of both policies are needed still, in a few words; '' if none."""
    if pair.more is None:
        return ''
    if not pair.more.further:
        return (
            'no number can be given' if pair.more.at_observed is None else '0 if observed is true'
        )
    return f'{pair.more.further:,} of both'


def deciding_p(study: Study, pair: PairRow) -> float:
    """Returns the adjusted p-value that a judgement rests on; NaN without."""
    if not pair.decided_by:
        return math.nan
    test = pair.times if pair.decided_by == TIMES else pair.successes
    return math.nan if test is None else adjusted_p(test, study.options)


def warnings(study: Study) -> list[str]:
    """Returns what makes a number doubtful."""
    found = [
        f'{pair.first} and {pair.second}: {each.in_words}; they are compared, as some agree'
        for pair in study.pairs
        for each in pair.facts
        if each.is_partial and pair.decided_by
    ]
    found += [
        f'{pair.first} and {pair.second}: {each.in_words}; they are compared, as --may-differ says'
        for pair in study.pairs
        for each in pair.facts
        if not each.is_partial and pair.decided_by
    ]
    if study.verdict is None:
        found += [
            f'{pair.judgement.text(pair.first, pair.second)}; that they share a letter says nothing'
            for pair in study.pairs
            if not pair.decided_by
        ]
    found += [text for pair in study.pairs if pair.decided_by for text in _apart(study, pair)]
    found += _of_names('policies', study.policies) + _of_names('objects', study.objects)
    found += _of_the_set(study) + _of_resamples(study)
    found += _of_the_horizon(study) + _beyond_the_horizon(study)
    if study.left_out:
        found.append(
            f'{counted(len(study.left_out), "recording")} of what was read count in no number; '
            'they are listed under Rules and exclusions'
        )
    return [*found, *study.notes]


def remarks_of_successes(study: Study) -> list[str]:
    """Returns which episodes count in no test of successes, or in no pair, where that test decides
    the verdict that was asked for, or else one of the pairs.
    """
    asked = set(study.verdict[:2]) if study.verdict else None
    return [
        f'{pair.first} and {pair.second}: {remark}' if len(study.pairs) > 1 else remark
        for pair in study.pairs
        if pair.decided_by and pair.decided_by != TIMES and pair.successes
        if asked is None or asked == {pair.first, pair.second}
        for remark in pair.successes.result.remarks
    ]


def _apart(study: Study, pair: PairRow) -> list[str]:
    """Returns the conditions of which two policies share no value, though both have some."""
    values: dict[str, tuple[set[str], set[str]]] = {}
    for place in study.sets[pair.episodes].places:
        episode = study.episodes[place]
        for name, value in episode.conditions.items():
            if value and name not in OF_FACTS:
                sides = values.setdefault(name, (set(), set()))
                sides[episode.policy == pair.second].add(value)
    apart = (name for name, (a, b) in values.items() if a and b and not a & b)
    if not (names := [name.replace('_', ' ') for name in apart]):
        return []
    return [
        f'{pair.first} and {pair.second} share no {listed(names)}: what differs between them may '
        'be due to that, which no test of these episodes can see'
    ]


def _of_names(kind: str, names: Sequence[str]) -> list[str]:
    """Returns which names are alike but for case, spaces, - and _, or for what is not seen or shown
    as an escape: most likely one was meant.
    """
    alike: dict[str, list[str]] = {}
    for name in names:
        folded = unicodedata.normalize('NFKC', name).casefold()
        alike.setdefault(_NOT_SEEN.sub('', plain(folded)), []).append(name)
    return [
        f'{kind} {listed(list(map(repr, own)))} differ only by case, spaces, - and _, or '
        f'characters that are not seen; they count as {len(own)}'
        for own in alike.values()
        if len(own) > 1
    ]


def _of_the_set(study: Study) -> list[str]:
    """Returns which policies are out of the set of the best though no pair says that they differ:
    the set counts fewer tests.
    """
    decided = {
        policy
        for pair in study.pairs
        if pair.judgement.verdict in (Verdict.BETTER, Verdict.WORSE)
        for policy in (pair.first, pair.second)
    }
    names = [each for each in study.letters if each not in study.best and each not in decided]
    if not names:
        return []
    return [
        f'{listed(names)}: not the best, though no pair is decided; of the best there are '
        f'{len(study.policies) - 1} tests to adjust for, of all pairs {len(study.pairs)}'
    ]


def _of_the_horizon(study: Study) -> list[str]:
    """Returns until when operations were followed, of policies for which that is less than the
    horizon on some object: their CDFs stay flat from there on.
    """
    tau, cells = study.options.tau, dict[str, list[Cell]]()
    for row in study.cells:
        if row.cell is not None:
            cells.setdefault(row.policy, []).append(row.cell)
    of_cells = {policy: ends_of(own, tau) for policy, own in cells.items()}
    ends = {policy: min(own) for policy, own in of_cells.items() if math.isfinite(min(own))}
    if not ends:
        return []
    longest = max(
        min(end, last_of(cell, tau))
        for policy, own in cells.items()
        for cell, end in zip(own, of_cells[policy])
    )
    least = readable(min(ends.values()), 3)
    each = ', '.join(f'{policy} {readable(end, 3)} s' for policy, end in ends.items())
    differ = ''
    if longest > LIKE * min(ends.values()):
        differ = '; as these times differ, so do the scores of policies that are equal'
        if max(ends.values()) <= LIKE * min(ends.values()):
            differ = '; others were followed for longer, so scores of equal policies differ'
    return [
        f'operations were followed for less than {tau:g} s, but for a few: {each}; RMST, F and '
        f'tests take it that none would have been done later{differ}; --tau {least} takes what was '
        'seen'
    ]


def _beyond_the_horizon(study: Study) -> list[str]:
    """Returns the policies of which all that was done was done after the horizon, as where times
    are in ms: scores and tests of times see nothing of it.
    """
    done: dict[str, list[float]] = {}
    for row in study.cells:
        if row.cell is not None:
            is_done = row.cell.events & np.isfinite(row.cell.times)
            done.setdefault(row.policy, []).extend(row.cell.times[is_done].tolist())
    late = {policy: min(times) for policy, times in done.items() if times}
    late = {policy: first for policy, first in late.items() if first > study.options.tau}
    if not late:
        return []
    each = ', '.join(f'{policy} {readable(first, 3)} s' for policy, first in late.items())
    tau = study.options.tau
    return [
        f'nothing was done within {tau:g} s, the first after: {each}; RMST, F and tests of times '
        'see nothing of it; times are in s, and --tau takes a longer one'
    ]


def _of_resamples(study: Study) -> list[str]:
    """Returns that no test of times can find a difference, if there are too few resamples."""
    options, tests = study.options, sum(bool(pair.decided_by) for pair in study.pairs)
    least = 1.0 / (options.resamples + 1.0)
    if tests * least <= options.alpha or all(pair.decided_by != TIMES for pair in study.pairs):
        return []
    return [
        f'{options.resamples:,} resamples are too few for {tests} pairs: p of a test of times is '
        f'at least {readable(least, 2)}, and adjusted above {options.alpha:g}; --resamples '
        f'{20 * math.ceil(tests / options.alpha)} is enough'
    ]
