# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Meanings of the attributes of an episode for the comparison of policies."""

from __future__ import annotations

import re
from collections.abc import Mapping

from frame_ros.core.errors import ValueRangeError
from frame_ros.episodes.recorded.robot import NOT_OPENED
from frame_ros.robots.profiles import public_name

# The policy of a recording of a human at a leader arm, in any case.
HUMANS = ('human', 'teleop', 'teleoperation', 'teleoperator')
PAIR, HUMAN = 'pair', 'human'
# Facts that together name the scene of an episode, if it has no `pair`.
SCENE_FACTS = ('scene', 'seed')
STAGE, CONDITION = 'stage.', 'condition.'
# Facts that name what episodes have in common; `task` is `instruction` in a bag.
NAMING = ('object', 'task', 'instruction', PAIR, *SCENE_FACTS)
# Facts that are conditions without the prefix.
CONDITIONS = (
    'camera',
    'tote',
    'site',
    'session',
    'station',
    'robot',
    'lighting',
    'operator_name',
    'namespace',
)
# 1.0 and 0.0: as pandas writes a column of truths that has empty cells.
TRUE, FALSE = ('true', '1', '1.0', 'yes', 'y'), ('false', '0', '0.0', 'no', 'n')


def truth(text: str, name: str) -> bool:
    """Returns the truth of a word.

    name: of the fact, for the message.

    Raises:
        ValueRangeError: it is no such word.
    """
    word = text.strip().lower()
    if word not in TRUE + FALSE:
        raise ValueRangeError(
            f'{name} is {text!r}; expected: true or false (also 1 or 0, yes or no)'
        )
    return word in TRUE


def pair_of(facts: Mapping[str, str]) -> str:
    """Returns the name of what paired episodes share: `pair`, else scene and seed; '' without."""
    facts = with_plain_names(facts)
    if facts.get(PAIR):
        return facts[PAIR]
    return ', '.join(f'{name} {facts[name]}' for name in SCENE_FACTS if facts.get(name))


def with_plain_names(facts: Mapping[str, str]) -> dict[str, str]:
    """Returns facts in which one thing has one name: 7, also where a table says 7.0."""
    return {name: plain_name(name, text) for name, text in facts.items()}


def plain_name(fact: str, text: str) -> str:
    """Returns the one name of a thing, as the fact of an episode or an option names it."""
    return without_point(text) if fact in NAMING or fact.startswith(CONDITION) else text


def without_point(text: str) -> str:
    """Returns 7 for 7.0, as pandas writes whole numbers in a column with empty cells; other texts
    as they are.
    """
    return text[:-2] if re.fullmatch(r'-?[0-9]+\.0', text) else text


def is_human(facts: Mapping[str, str]) -> bool:
    """Returns whether a human drove: what `human` says, else by the name of the policy.

    Raises:
        ValueRangeError: `human` is neither true nor false.
    """
    if facts.get(HUMAN):
        return truth(facts[HUMAN], HUMAN)
    return (facts.get('policy') or '').strip().lower() in HUMANS


def stages_of(facts: Mapping[str, str]) -> dict[str, bool]:
    """Returns stage -> whether it was reached, in the order of the facts `stage.NAME`.

    Raises:
        ValueRangeError: one is neither true nor false.
    """
    names = [name for name in facts if name.startswith(STAGE) and facts[name].strip()]
    return {name.removeprefix(STAGE): truth(facts[name], name) for name in names}


def conditions_of(facts: Mapping[str, str]) -> dict[str, str]:
    """Returns name -> value of the conditions: `CONDITIONS`, and all of `condition.NAME`."""
    facts = with_plain_names(facts)
    found = {name: facts[name] for name in CONDITIONS if facts.get(name)}
    if found.get('namespace') == '/':
        del found['namespace']  # none
    if 'robot' not in found and facts.get(NOT_OPENED):
        found['robot'] = facts[NOT_OPENED]
    if 'robot' in found:
        # A description in the bag's own folder: its name is the same in every bag.
        found['robot'] = public_name(found['robot'])
    named = {n.removeprefix(CONDITION): v for n, v in facts.items() if n.startswith(CONDITION)}
    return {**found, **{name: value for name, value in named.items() if name and value}}
