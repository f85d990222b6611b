# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""A comparison of policies as plain JSON values, None with a reason for what is missing."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from frame_ros.core.options import flatten
from frame_ros.evaluation.outcomes.episode_outcome import EpisodeOutcome
from frame_ros.evaluation.policy_comparison.estimates import Estimate
from frame_ros.evaluation.policy_comparison.study import CellRow, PairRow, Study, TimesTest
from frame_ros.evaluation.statistics.verdict import Judgement
from frame_ros.reports.comparison.words import headline, outcome_words, warnings
from frame_ros.reports.model.numbers import json_safe

FORMAT = 'frame_ros comparison 1'


def comparison_data(study: Study) -> dict[str, Any]:
    """Returns the study. 'episodes' of a number is the place of their set in 'sets', which holds
    places in the list of episodes.
    """
    data: dict[str, Any] = json_safe(
        {
            'format': FORMAT,
            'headline': headline(study),
            'verdict': _verdict(study),
            'options': flatten(study.options),
            'policies': list(study.letters),
            'human': study.human or None,
            'objects': study.objects,
            'headline_score': study.headline_score,
            'letters': study.letters,
            'best': study.best,
            'scores': [_plain(score) for score in study.scores],
            'means': [_row(row) for row in study.means],
            'cells': [_row(row) for row in study.cells],
            'failures': [
                {'policy': row.policy, **{kind: _number(e) for kind, e in row.shares.items()}}
                for row in study.failures
            ],
            'conditions': [{**_plain(r), 'result': _number(r.result)} for r in study.conditions],
            'labels': [{**_plain(row), 'result': _number(row.result)} for row in study.labels],
            'rankings': [_plain(row) for row in study.rankings],
            'pairs': [_pair(pair) for pair in study.pairs],
            'rules': [_plain(rule) for rule in study.rules],
            'left_out': [
                {'name': each.name, 'source': each.source, 'reason': each.reason}
                for each in study.left_out
            ],
            'warnings': warnings(study),
            'notes': study.notes,
            'sets': [{'name': each.name, 'episodes': each.places} for each in study.sets],
            'episodes': [_episode(each) for each in study.episodes],
        }
    )
    return data


def _plain(value: Any) -> dict[str, Any]:
    return {each.name: getattr(value, each.name) for each in fields(value)}


def _number(estimate: Estimate) -> dict[str, Any]:
    found = {name: getattr(estimate, name) for name in ('value', 'lower', 'upper')}
    reason = {'reason': estimate.reason} if estimate.reason else {}
    return {**found, **reason, 'episodes': estimate.episodes}


def _judgement(judgement: Judgement) -> dict[str, Any]:
    return {
        'verdict': judgement.verdict,
        'meaning': judgement.verdict.meaning,
        'exit_status': judgement.verdict.exit_status,
        'reason': judgement.reason,
        'needed': judgement.needed,
        'detectable': judgement.detectable,
    }


def _verdict(study: Study) -> dict[str, Any] | None:
    if study.verdict is None:
        return None
    candidate, baseline, judgement = study.verdict
    text = judgement.text(candidate, baseline)
    return {
        'candidate': candidate, 'baseline': baseline, 'text': text, **_judgement(judgement)
    }  # fmt: skip


def _row(row: CellRow) -> dict[str, Any]:
    found: dict[str, Any] = {
        'policy': row.policy,
        'object': row.object or None,
        'operations': row.operations,
        'endings': row.endings,
        'episodes': row.episodes,
        'scores': {id: _number(estimate) for id, estimate in row.scores.items()},
    }
    if row.missing:
        found['missing_objects'] = row.missing
    if row.curve is not None:
        found['cdf'] = _plain(row.curve)
    return found


def _pair(pair: PairRow) -> dict[str, Any]:
    successes = pair.successes
    return {
        'first': pair.first,
        'second': pair.second,
        'outcome': outcome_words(pair),
        'judgement': _judgement(pair.judgement),
        'decided_by': pair.decided_by or None,
        'rollouts_needed': pair.more,
        'facts': [_plain(each) for each in pair.facts],
        'times': None if pair.times is None else _times(pair.times),
        'successes': None
        if successes is None
        else {
            'paired': successes.result.paired,
            'unpaired': _unpaired(successes.result.unpaired),
            'is_paired': successes.result.is_paired,
            'p': successes.result.p,
            'p_bonferroni': successes.p_bonferroni,
            'p_holm': successes.p_holm,
            'stages': successes.result.stages and _stages(successes.result.stages),
            'remarks': successes.result.remarks,
            'paired_episodes': successes.paired,
            'episodes': successes.all,
        },
        'episodes': pair.episodes,
    }


def _unpaired(unpaired: Any) -> dict[str, Any] | None:
    if unpaired is None:
        return None
    strata = [
        {'task': task, 'object': name, 'counts': counts}
        for (task, name), counts in unpaired.strata.items()
    ]
    return {**_plain(unpaired), 'test': unpaired.test, 'strata': strata}


def _stages(stages: Any) -> dict[str, Any]:
    rows = [{**_plain(row), 'unpaired': _unpaired(row.unpaired)} for row in stages.rows]
    return {**_plain(stages), 'rows': rows}


def _times(times: TimesTest) -> dict[str, Any]:
    return {
        **_plain(times),
        'rmst_difference': _number(times.rmst_difference),
        'differences': {id: _number(estimate) for id, estimate in times.differences.items()},
        'objects': [_plain(each) for each in times.objects],
    }


def _episode(episode: EpisodeOutcome) -> dict[str, Any]:
    operations = [
        {'begin': op.begin, 'end': op.end, 'ending': op.ending} for op in episode.operations
    ]
    return {
        **_plain(episode),
        'stages': dict(episode.stages),
        'conditions': dict(episode.conditions),
        'operations': operations,
    }
