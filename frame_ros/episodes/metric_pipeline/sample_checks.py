# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Which values of a stream can be used, and in which form: a usable value, or None."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

# Beyond this, in m or rad, a value is an error of the message.
LARGEST = 1e6


def check_pose(value: Sequence[float]) -> Sequence[float] | None:
    """Position (m) and quaternion xyzw, all finite, the quaternion not zero."""
    # A sum of magnitudes is small only if each of them is; NaN is not below anything.
    if len(value) != 7 or not sum(map(abs, value)) < LARGEST:
        return None
    qx, qy, qz, qw = value[3:]
    return value if qx * qx + qy * qy + qz * qz + qw * qw > 1e-6 else None


def check_contact(
    value: Sequence[Any],
) -> tuple[bool | None, bool, float, float, float, float] | None:
    """in_contact (None: not known), in_collision, force and the largest force since the contact
    began (N, NaN if not measured), and the two of contacts that are not expected (NaN if not told
    apart). What is behind the force may be left out.
    """
    in_contact, in_collision, force = value[:3]
    peak = value[3] if len(value) > 3 else force
    own_force, own_peak = value[4:6] if len(value) > 4 else (math.nan, math.nan)
    if any(map(math.isinf, (force, peak, own_force, own_peak))):
        return None
    return in_contact, in_collision, force, peak, own_force, own_peak


def check_proximity(value: Sequence[float]) -> float | None:
    """The distance, m: NaN if not measured, negative where the bodies overlap, never infinite."""
    distance = value[0]
    return None if math.isinf(distance) else distance


def check_target(
    value: tuple[float, float, float, str],
) -> tuple[float, float, float, str] | None:
    """Position of an object or goal (m), finite, and the frame it is in."""
    x, y, z, _ = value
    return value if abs(x) + abs(y) + abs(z) < LARGEST else None


def check_grip(source: str) -> Callable[[tuple[float, float] | None], Any]:
    """What checks position and effort of the gripper, for a source of the grasp: the one that it
    goes by is finite.
    """
    at = 1 if source == 'effort' else 0

    def check(value: tuple[float, float] | None) -> tuple[float, float] | None:
        return value if value is not None and abs(value[at]) < LARGEST else None

    return check


def check_inference(value: dict[str, float]) -> dict[str, float] | None:
    """The values of `conversion.inference_values`; the latency must be a duration, or NaN."""
    return None if value['latency'] < 0 or math.isinf(value['latency']) else value


class ActionOrder:
    """Puts actions, which name their joints, into one order of joints.

    Wanted are the configured joints, in their order, or all those of the first action if none are
    configured. Of the configured ones an episode may use a part (an arm without its gripper): those
    that its first action has. `begin` starts an episode, so what came before it does not decide.
    """

    def __init__(self, configured: tuple[str, ...]) -> None:
        self.configured = configured
        self.problem = ''
        self.begin()

    def begin(self) -> None:
        """The next action decides which joints are used."""
        self.names: tuple[str, ...] = ()
        self._places: dict[tuple[str, ...], list[int]] = {}

    def order(self, names: tuple[str, ...], positions: Sequence[float]) -> list[float] | None:
        """The wanted positions, in order; None if the action lacks one of them."""
        places = self._places.get(names)
        if places is None:
            places = self._learn(names)
        return list(map(positions.__getitem__, places)) if places else None

    def _learn(self, names: tuple[str, ...]) -> list[int]:
        wanted = self.names
        if not wanted:
            wanted = tuple(n for n in self.configured if n in names) if self.configured else names
        places: list[int] = []
        if wanted and all(name in names for name in wanted):
            self.names = wanted
            places = [names.index(name) for name in wanted]
        else:
            expected = wanted or self.configured
            self.problem = f'an action names {list(names)}; expected are {list(expected)}'
        self._places[names] = places
        return places


def check_action(
    value: tuple[tuple[str, ...], Sequence[float]],
) -> tuple[tuple[str, ...], list[float]] | None:
    """Names and as many positions (rad or m), all finite."""
    names, positions = value
    if not names or len(positions) != len(names):
        return None
    action = list(map(float, positions))
    return (names, action) if sum(map(abs, action)) < LARGEST else None
