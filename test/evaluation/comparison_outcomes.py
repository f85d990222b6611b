# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Outcomes of made episodes for the tests of comparisons."""

from __future__ import annotations

import numpy as np

from frame_ros.evaluation.outcomes.episode_outcome import EpisodeOutcome, LabelSource
from frame_ros.evaluation.outcomes.operation import Ending, Operation

OBJECTS = ('batteries', 'scissors', 'spoons', 'towels')
SLOWNESS = dict(zip(OBJECTS, (1.6, 1.3, 1.0, 0.8)))
# Policy -> mean time of an operation in s, share of hard failures, share of operations never done.
POLICIES = {
    'openpi': (45.0, 0.06, 0.10),
    'groot': (46.0, 0.05, 0.11),
    'act': (40.0, 0.12, 0.22),
    'smolvla': (110.0, 0.15, 0.35),
    'human': (10.0, 0.0, 0.0),
}


def episode(
    name: str,
    policy: str,
    times: list[float | None],
    *,
    object: str = 'cube',
    ending: Ending = Ending.TIMEOUT,
    **others,
) -> EpisodeOutcome:
    """An episode of operations done after these times; None: one that ended after 30 s as said."""
    operations, at = [], 0.0
    for time in times:
        after = at + (30.0 if time is None else time)
        operations.append(Operation(at, after, ending if time is None else Ending.SUCCESS))
        at = after
    others = {'task': 'pick', 'is_success': None not in times} | others
    return EpisodeOutcome(
        name=name, policy=policy, object=object, duration=at, operations=tuple(operations), **others
    )


def judged(name: str, policy: str, is_success: bool, **others) -> EpisodeOutcome:
    """An episode without times."""
    others = {'object': 'cube', 'task': 'pick', 'label_source': LabelSource.FILE} | others
    return EpisodeOutcome(
        name=name, policy=policy, duration=float('nan'), operations=(), is_success=is_success,
        **others,
    )  # fmt: skip


def phail_like(
    episodes: int = 40,
    operations: int = 8,
    policies: tuple[str, ...] = tuple(POLICIES),
    objects: tuple[str, ...] = OBJECTS,
    seed: int = 0,
) -> list[EpisodeOutcome]:
    """Outcomes of several policies and a human on several objects, like those of PhAIL."""
    random = np.random.default_rng(seed)
    return [
        _drawn(policy, name, number, operations, random)
        for policy in policies
        for name in objects
        for number in range(episodes)
    ]


def _drawn(
    policy: str, name: str, number: int, operations: int, random: np.random.Generator
) -> EpisodeOutcome:
    mean, failing, stuck = POLICIES[policy]
    pace = random.gamma(4.0, 0.25) * SLOWNESS[name]
    found, at, is_stopped = list[Operation](), 0.0, False
    for _ in range(operations):
        if is_stopped or at > 600.0:
            break
        time = float(random.gamma(3.0, mean * pace / 3.0)) + 2.0
        ending = Ending.SUCCESS
        if random.random() < failing:
            ending = Ending.DROP if random.random() < 0.7 else Ending.SAFETY_STOP
            is_stopped = ending is Ending.SAFETY_STOP
        elif random.random() < stuck:
            ending, time, is_stopped = Ending.TIMEOUT, 240.0, True
        found.append(Operation(at, at + time, ending))
        at += time
    return EpisodeOutcome(
        name=f'{policy}_{name}_{number:03d}',
        policy=policy,
        object=name,
        task='bin to bin',
        duration=at,
        operations=tuple(found),
        is_success=all(each.ending is Ending.SUCCESS for each in found),
        pair=f'scene {number}',
        is_human=policy == 'human',
        label_source=LabelSource.REVIEWED if random.random() < 0.4 else LabelSource.DETECTED,
        interventions=int(is_stopped and random.random() < 0.3),
        conditions={
            'camera': ('left', 'right')[number % 2],
            'tote': ('left', 'right')[number // 2 % 2],
            'robot': 'fr3',
        },
    )
