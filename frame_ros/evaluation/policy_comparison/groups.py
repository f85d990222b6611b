# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Episodes by policy and object, and the rules by which they are grouped."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from frame_ros.core.errors import ValueRangeError
from frame_ros.core.plain_text import quoted
from frame_ros.evaluation.outcomes.episode_outcome import EpisodeOutcome
from frame_ros.evaluation.policy_comparison.facts import TASK
from frame_ros.evaluation.policy_comparison.options import ComparisonOptions
from frame_ros.evaluation.survival.cell import Cell, cell_of

HUMAN = 'human'
NO_NAME = '(not named)'


@dataclass(frozen=True)
class Group:
    """The episodes of one policy on one object.

    Attributes:
        object: with its task where episodes of several tasks are compared.
        places: of the episodes in the study.
        timed: those of them with operations, the episodes of the cell in its order.
        cell: their operations; None if there is none.
        judged: those of them of which success or failure is known.
        successes: (len(judged),) whether they succeeded.
    """

    policy: str
    object: str
    places: tuple[int, ...]
    timed: tuple[int, ...]
    cell: Cell | None
    judged: tuple[int, ...]
    successes: NDArray[np.bool_]


Groups = dict[str, dict[str, Group]]


@dataclass(frozen=True)
class Grouped:
    """Episodes by policy and object.

    Attributes:
        episodes: with the labels by which they are grouped.
        policies: without the human reference, by name.
        human: label of the human reference; '' without.
        objects: by name.
        groups: policy (and human) -> object -> group.
    """

    episodes: tuple[EpisodeOutcome, ...]
    policies: tuple[str, ...]
    human: str
    objects: tuple[str, ...]
    groups: Groups


def grouped(outcomes: Iterable[EpisodeOutcome], options: ComparisonOptions) -> Grouped:
    """Returns the episodes by policy and object.

    An object of several tasks is one object per task, unless tasks may differ. Episodes of several
    human operators are one reference.

    Raises:
        ValueRangeError: there is no episode of a policy, or no policy has a name that the options
            give.
    """
    rows = _labelled(list(outcomes), options)
    human = next((each.policy for each in rows if each.is_human), '')
    policies = tuple(sorted({each.policy for each in rows if not each.is_human}))
    if not policies:
        raise ValueRangeError(
            f'none of a policy among the episodes read ({len(rows)}); at least one that no human '
            'operated is expected'
        )
    for name in ('baseline', 'candidate'):
        check_policy(getattr(options, name), name, policies)
    check_pair(options, policies)
    groups: Groups = {}
    for policy in (*policies, human) if human else policies:
        by_object: dict[str, list[int]] = {}
        for place, each in enumerate(rows):
            if each.policy == policy:
                by_object.setdefault(each.object, []).append(place)
        groups[policy] = {
            name: _group(policy, name, by_object[name], rows) for name in sorted(by_object)
        }
    objects = tuple(sorted({name for of_policy in groups.values() for name in of_policy}))
    return Grouped(tuple(rows), policies, human, objects, groups)


def check_policy(name: str, option: str, policies: Sequence[str]) -> None:
    """Refuses a name that is not '' and no policy's.

    Raises:
        ValueRangeError: it is such a name.
    """
    if name and name not in policies:
        raise ValueRangeError(
            f'{option} is {quoted(name)}; the policies are {", ".join(map(quoted, policies))}'
        )


def check_pair(options: ComparisonOptions, policies: Sequence[str]) -> None:
    """Refuses half of a pair among several policies, and a policy against itself.

    Raises:
        ValueRangeError: it is such a pair.
    """
    baseline, candidate = options.baseline, options.candidate
    if baseline and baseline == candidate:
        raise ValueRangeError(
            f'baseline and candidate are both {quoted(baseline)}; two are expected'
        )
    if bool(baseline) != bool(candidate) and len(policies) > 2:
        given, other = ('baseline', 'candidate') if baseline else ('candidate', 'baseline')
        raise ValueRangeError(
            f'{given} is given without {other}, and there are {len(policies)} policies: '
            f'{", ".join(map(quoted, policies))}'
        )


def _labelled(rows: list[EpisodeOutcome], options: ComparisonOptions) -> list[EpisodeOutcome]:
    names = sorted({each.policy for each in rows})
    check_policy(options.human, 'human', names)
    tasks = {each.task for each in rows if not each.is_human}
    is_split = len(tasks) > 1 and TASK not in options.may_differ
    is_human = [each.is_human or (options.human and each.policy == options.human) for each in rows]
    of_policies = {each.policy for each, human in zip(rows, is_human) if not human}
    labels = {each.policy for each, human in zip(rows, is_human) if human}
    label = labels.pop() if len(labels) == 1 else HUMAN
    while label in of_policies:  # a policy may not share the name of the reference
        label += ' (reference)'
    found = []
    for each, human in zip(rows, is_human):
        name = each.object or NO_NAME
        found.append(
            replace(
                each,
                policy=label if human else each.policy or NO_NAME,
                object=f'{name} ({each.task or "no task"})' if is_split else name,
                is_human=bool(human),
            )
        )
    return found


def _group(policy: str, name: str, places: list[int], rows: Sequence[EpisodeOutcome]) -> Group:
    timed = tuple(place for place in places if rows[place].operations)
    judged = tuple(place for place in places if rows[place].is_success is not None)
    return Group(
        policy,
        name,
        tuple(places),
        timed,
        cell_of(rows[place] for place in timed) if timed else None,
        judged,
        np.array([rows[place].is_success for place in judged], np.bool_),
    )
