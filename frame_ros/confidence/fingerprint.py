# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The setup that a calibration holds for, and its comparison with another."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from math import isclose
from typing import Any

import attrs

from frame_ros.core.errors import CalibrationError, SetupError
from frame_ros.core.input_files import load_json
from frame_ros.core.structuring import structured, unstructured

# Fields of PolicyInference that show the setup.
SETUP_FIELDS = ('policy_fingerprint', 'instruction', 'action_names')
# Control rates count as the same within this share: one is derived from the chunk's time step.
RATE_TOLERANCE = 0.01
# Characters of a checksum, and of anything else, that a message shows.
_SHOWN, _MOST_SHOWN = 12, 200


@attrs.frozen(kw_only=True)
class Fingerprint:
    """The parts of a setup on which confidences and scores depend.

    A part that is not known is empty, or None.

    Attributes:
        weights: SHA-256 of the policy's weights, hexadecimal.
        normaliser: SHA-256 of what scales its observations and actions, hexadecimal.
        control_rate: actions per second, Hz.
        cameras: the cameras it sees by -> (width, height) in pixels; empty: it sees by none.
        robot: name of the robot's profile.
        joints: the joints that it commands, in the order of the action.
        instructions: the instructions given; one of them is enough.
        confidence_aggregate: way in which `confidence` was made of the confidences of tokens.
    """

    weights: str = ''
    normaliser: str = ''
    control_rate: float | None = None
    cameras: Mapping[str, tuple[int, int]] | None = None
    robot: str = ''
    joints: tuple[str, ...] = ()
    instructions: tuple[str, ...] = ()
    confidence_aggregate: str = ''

    @classmethod
    def of_inference(cls, policy: str, instruction: str, joints: Iterable[str]) -> Fingerprint:
        """Returns what an inference shows of the setup.

        Args:
            policy: PolicyInference.policy_fingerprint, JSON; what cannot be read is not known.
            instruction: that was given.
            joints: names of the action's dimensions.
        """
        try:
            content = load_json(policy) if policy else {}
        except ValueError:
            content = {}
        known = content if isinstance(content, Mapping) else {}
        parts = {part: known[part] for part in _OF_POLICY if part in known}
        try:
            found = cls.from_dict(parts)
        except CalibrationError:
            found = cls()
        given = (instruction,) if instruction else ()
        return attrs.evolve(found, instructions=given, joints=tuple(joints))

    def mismatches(self, other: Fingerprint) -> list[str]:
        """Returns what differs in a setup, a text for each part that is known on both sides.

        Args:
            other: of the setup at hand.
        """
        both = [part for part in PARTS if self.knows(part) and other.knows(part)]
        return [
            f'{TITLES[part]}: the calibration holds for {_shown(getattr(self, part))}, '
            f'here it is {_shown(getattr(other, part))}'
            for part in both
            if not _EQUAL.get(part, _is_same)(getattr(self, part), getattr(other, part))
        ]

    def unverified(self, other: Fingerprint) -> list[str]:
        """Returns what cannot be compared, a text for each part that is known here alone.

        Args:
            other: of the setup at hand.
        """
        return [
            f'{TITLES[part]}: the calibration holds for {_shown(getattr(self, part))}, '
            'here it is not known'
            for part in PARTS
            if self.knows(part) and not other.knows(part)
        ]

    def knows(self, part: str) -> bool:
        """Returns whether a part is known."""
        value = getattr(self, part)
        return value is not None and (part == 'cameras' or value not in ('', ()))

    @property
    def unknown(self) -> list[str]:
        """Returns the parts that are not known, in words: they are never compared."""
        return [TITLES[part] for part in PARTS if not self.knows(part)]

    def to_dict(self) -> dict[str, Any]:
        """Returns it as plain JSON values, without what is not known."""
        values = unstructured(self)
        return {part: value for part, value in values.items() if self.knows(part)}

    @classmethod
    def from_dict(cls, values: Any) -> Fingerprint:
        """Makes the fingerprint that `to_dict` wrote.

        Raises:
            CalibrationError: an unknown part, or one of another type.
        """
        try:
            return structured(cls, values, 'fingerprint')
        except SetupError as error:
            raise CalibrationError(str(error)) from error


# Part -> its name in words, in the order of the class.
TITLES = {
    'weights': 'weights',
    'normaliser': 'normaliser',
    'control_rate': 'control rate',
    'cameras': 'cameras',
    'robot': 'robot',
    'joints': 'joints',
    'instructions': 'instruction',
    'confidence_aggregate': 'confidence aggregate',
}
PARTS = tuple(TITLES)
# Those that the policy itself reports.
_OF_POLICY = ('weights', 'normaliser', 'control_rate', 'cameras')


def _is_same(mine: Any, theirs: Any) -> bool:
    return bool(mine == theirs)


def _is_near(mine: float, theirs: float) -> bool:
    return isclose(mine, theirs, rel_tol=RATE_TOLERANCE)


def _covers(mine: Iterable[str], theirs: Iterable[str]) -> bool:
    return set(theirs) <= set(mine)


def _has_cameras(
    mine: Mapping[str, tuple[int, int]], theirs: Mapping[str, tuple[int, int]]
) -> bool:
    return {name: tuple(size) for name, size in mine.items()} == {
        name: tuple(size) for name, size in theirs.items()
    }


_EQUAL: dict[str, Callable[[Any, Any], bool]] = {
    'control_rate': _is_near,
    'cameras': _has_cameras,
    'instructions': _covers,
}


def _shown(value: Any) -> str:
    text = _text(value)
    return text if len(text) <= _MOST_SHOWN else f'{text[:_MOST_SHOWN]}...'


def _text(value: Any) -> str:
    if isinstance(value, float):
        return f'{value:.6g} Hz'
    if isinstance(value, Mapping):
        sizes = [f'{name} {width} x {height}' for name, (width, height) in sorted(value.items())]
        return ', '.join(sizes) or 'none'
    if isinstance(value, tuple):
        return ', '.join(map(repr, value))
    is_checksum = len(value) == 64 and set(value) <= set('0123456789abcdef')
    return f'{value[:_SHOWN]}...' if is_checksum else repr(value)
