# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""One reference trajectory for ATE and RTE."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from math import isfinite
from typing import Any

import numpy as np

from frame_ros.core.errors import ValueRangeError

_Position = tuple[float, float, float]
_Orientation = tuple[float, float, float, float]


@dataclass(frozen=True)
class Reference:
    """One reference trajectory.

    Attributes:
        stamps: N s from the demonstration's START, strictly increasing.
        positions: as many positions of the TCP (m).
        origin: in words: episode ids and paths.
        frame: of the positions; '' if unknown.
        orientations: as many (xyzw), for the errors of poses; empty if unknown.

    Raises:
        ValueRangeError: no sample, not as many stamps as positions, a value that is not finite, or
            stamps that do not increase.
    """

    stamps: tuple[float, ...]
    positions: tuple[_Position, ...]
    origin: str = ''
    frame: str = ''
    orientations: tuple[_Orientation, ...] = field(default=(), compare=False, repr=False)

    def __post_init__(self) -> None:
        name = f'reference {self.origin or "without origin"}'
        counts = len(self.stamps), len(self.positions)
        if counts[0] != counts[1] or not counts[0]:
            raise ValueRangeError(
                f'{name} has {counts[0]} stamps and {counts[1]} positions; '
                'as many of both, at least one, are expected'
            )
        if not all(len(position) == 3 for position in self.positions):
            raise ValueRangeError(f'{name} has positions that are not x, y and z')
        if len(self.orientations) not in (0, counts[0]):
            raise ValueRangeError(
                f'{name} has {len(self.orientations)} orientations; {counts[0]}, or none, are '
                'expected'
            )
        if not all(map(isfinite, (*self.stamps, *(v for p in self.positions for v in p)))):
            raise ValueRangeError(f'{name} has a value that is not finite')
        if not all(before < after for before, after in pairwise(self.stamps)):
            raise ValueRangeError(f'{name} has stamps that do not increase')

    @classmethod
    def from_arrays(
        cls, stamps: Any, positions: Any, origin: str = '', frame: str = ''
    ) -> Reference:
        """Makes one from stamps (N,), s, and positions (N, 3), m; raises as the class."""
        points = tuple((float(x), float(y), float(z)) for x, y, z in positions)
        return cls(tuple(map(float, stamps)), points, origin, frame)

    @classmethod
    def from_mapping(cls, values: Any) -> Reference:
        """From what `dataclasses.asdict`, or JSON of it, gives.

        Raises:
            ValueRangeError: it is not that.
        """
        try:
            texts = str(values['origin']), str(values.get('frame', ''))
            found = cls.from_arrays(values['stamps'], values['positions'], *texts)
            turns = tuple(
                (float(x), float(y), float(z), float(w))
                for x, y, z, w in values.get('orientations', ())
            )
            return replace(found, orientations=turns)
        except (TypeError, KeyError, AttributeError) as error:
            raise ValueRangeError(
                f'a reference is not stamps, positions and origin: {error!r}'
            ) from error
        except ValueError as error:
            if isinstance(error, ValueRangeError):
                raise
            raise ValueRangeError(f'a reference is not stamps and positions: {error}') from error


def mean_reference(references: Sequence[Reference], match: str = 'time') -> Reference:
    """The mean trajectory of several references: `frame_ros.metrics.mean_trajectory`.

    Raises:
        ShapeError, ValueRangeError: no reference, one of a single pose, or, by arc length, one
            without length; or references in different frames.
    """
    from frame_ros.metrics import mean_trajectory

    frames = sorted({r.frame for r in references if r.frame})
    if len(frames) > 1:
        raise ValueRangeError(
            f'the references are in the frames {", ".join(frames)}; only references in one frame '
            'have a mean'
        )
    pairs = [(np.array(r.stamps), np.array(r.positions)) for r in references]
    stamps, positions = mean_trajectory(pairs, by=match)
    origin = f'mean of {len(references)}: ' + '; '.join(r.origin for r in references)
    return Reference.from_arrays(np.asarray(stamps), np.asarray(positions), origin, *frames)
