# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Collisions per control step, second and metre (FRAME eq. 11)."""

from __future__ import annotations

from functools import partial
from math import isfinite
from typing import Any

from frame_ros.core.errors import ShapeError, ValueRangeError
from frame_ros.metrics import record
from frame_ros.metrics.arrays import (
    Array,
    as_flags,
    as_floats,
    check_scalar_or_same,
    count_true,
    like,
)
from frame_ros.metrics.constants import NAN

__all__ = ['CollisionRate', 'collision_rate', 'count_collisions']


def collision_rate(collisions: Any, steps: Any) -> Array:
    """Collisions per control step. FRAME eq. 11.

    Args:
        collisions: number of collisions, scalar or (...,); `count_collisions` counts them. Per
            second or per metre: divide the number by those instead.
        steps: number of control steps, at least 1, scalar or the same shape.

    Raises:
        ShapeError: two shapes, neither of them a scalar's.
        ValueRangeError: a negative number of collisions, or no steps.
    """
    xp, count = as_floats(collisions, 'collisions')
    of = like(count, steps, 'steps')
    check_scalar_or_same(count, of, ('collisions', 'steps'))
    if bool(xp.any(count < 0)) or bool(xp.any(of < 1)):
        raise ValueRangeError(
            f'collisions are {collisions}, steps {steps}; collisions >= 0 and steps >= 1 are '
            'expected'
        )
    return (count / of)[()]


def count_collisions(in_collision: Any) -> Array:
    """Number of collisions: rising edges of a contact that is not expected.

    Args:
        in_collision: (..., T) booleans. A contact at the first sample is an edge.

    Returns:
        (...,) integers.

    Raises:
        ShapeError: a scalar.
        ValueRangeError: a value is neither a boolean nor a finite number.
    """
    xp, now = as_flags(in_collision, 'in_collision')
    if now.ndim < 1:
        raise ShapeError('in_collision is a scalar; (..., T) is expected')
    return count_true(xp, now[..., 1:] > now[..., :-1]) + count_true(xp, now[..., :1])


def _check_state(in_collision: Any) -> None:
    try:
        is_known = isfinite(in_collision)
    except TypeError:
        is_known = False
    if not is_known:
        raise ValueRangeError(f'in_collision is {in_collision!r}; True or False is expected')


class CollisionRate:
    """CR so far: collisions per control step. Contacts and steps come in at their own rates.

    `collisions`: rising edges of contact that is not expected. `in_collision`: the newest state.
    """

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """Forgets everything; a contact in the first sample counts as a collision."""
        self.collisions = 0
        self.steps = 0
        self.in_collision = False

    def update(self, in_collision: bool, steps: int = 1) -> None:
        """Takes one contact state and the control steps it stands for (0: between two steps).

        Raises:
            ValueRangeError: steps are negative, or the state is neither a boolean nor a finite
                number: it is not known. Nothing has changed then.
        """
        if steps < 0:
            raise ValueRangeError(f'steps is {steps}; 0 or more is expected')
        if in_collision is not True and in_collision is not False:
            _check_state(in_collision)
        if in_collision and not self.in_collision:
            self.collisions += 1
        self.in_collision = bool(in_collision)
        self.steps += steps

    def add_step(self) -> None:
        """One control step has passed."""
        self.steps += 1

    @property
    def value(self) -> float:
        """Collisions per step; NaN before the first step."""
        return self.collisions / self.steps if self.steps else NAN

    def per(self, amount: float) -> float:
        """Collisions per `amount` (s, or m); NaN if that is not positive."""
        return self.collisions / amount if amount > 0.0 else NAN


_SENSED = (
    'What the contact sensor does not see is not counted: a threshold on joint torque misses '
    'light touches, and free-space force that is not zero invents some. '
)

_collisions = partial(
    record.safety_metric, higher_is_better=False, batch=collision_rate,
    options=('max_contact_age',),
)  # fmt: skip

COLLISION_RATE = _collisions(
    id='cr', name='collision rate', unit='1', source='FRAME eq. 11', reasons=(record.NO_CONTACT,),
    streaming=CollisionRate, torch='CollisionRate', sampled_at=record.CONTACTS, axis=9,
    formula='CR = collisions / control steps',
    shows='How often the robot hits something it should not touch. A collision is the beginning '
        'of a contact that is not expected; grasping the target is expected.',
    misleads=f'{_SENSED}One long scrape is one collision; a bouncing contact is many. Per step, '
        'the same behaviour at twice the control rate has half the rate: use `cr_per_second` or '
        '`cr_per_metre` between robots. What is expected is a setting.',
)  # fmt: skip

COLLISIONS_PER_SECOND = _collisions(
    id='cr_per_second', name='collisions per second', unit='1/s', minimum_samples=2,
    reasons=(record.NO_CONTACT, record.Reason('no time has passed')),
    formula='collisions / time since the episode began',
    shows='Collisions per second: comparable between control rates.',
    misleads=f'{_SENSED}A robot that waits lowers it.',
)  # fmt: skip

COLLISIONS_PER_METRE = _collisions(
    id='cr_per_metre', name='collisions per metre of TCP path', unit='1/m', minimum_samples=2,
    reasons=(record.NO_CONTACT, record.NO_POSES, record.NO_PATH),
    options=('max_contact_age', 'low_pass_cutoff', 'max_pose_age', 'gap'),
    formula='collisions / PL',
    shows='Collisions per metre of end-effector path: comparable between fast and slow policies.',
    misleads=f'{_SENSED}Detours lower it, and a short path makes one collision a large number.',
)  # fmt: skip
