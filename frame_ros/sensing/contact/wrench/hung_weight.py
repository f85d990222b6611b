# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""A weight that hangs on the hand and that nobody announced, by how it turns with the hand."""

from __future__ import annotations

from collections.abc import Callable
from math import exp

import numpy as np
from numpy.typing import NDArray

from frame_ros.core.time import SECOND
from frame_ros.sensing.contact.wrench.block import WrenchBlock
from frame_ros.sensing.contact.wrench.heavy_pull import ASIDE, LASTED, TURNED, HeavyPull
from frame_ros.sensing.contact.wrench.options import AMBIGUOUS, Vector, WrenchOptions
from frame_ros.sensing.contact.wrench.payload import MOVED, PUSHED, Payload
from frame_ros.sensing.contact.wrench.tool_model import length
from frame_ros.sensing.contact.wrench.weight_place import UNSURE, WeightPlace, place_of
from frame_ros.sensing.contact.wrench.world_forces import WorldForces

Array = NDArray[np.float64]
SURE = 6.0  # deviations of a weight that is not 0
CHANGED = 0.2  # share by which another estimate replaces what is taken off
FARTHEST = 0.5  # m from where weights are expected: what acts farther out is a twist
RECENT, PUSHED_KEPT = 0.1, 10.0  # share per block of a running mean; s


class HungWeight:
    """The mass of what hangs on the hand, `payload`, of mass 0 while nothing does.

    In the sensor's axes a weight turns with the hand and an offset does not. So does the pull of a
    cable, which is seldom straight down and changes along the way (`WorldForces`). As a contact
    begins or ends the weight may have become another. It counts once it is SURE deviations from 0,
    for 2 s and over a turn of 0.35 rad, and points down: what stays as heavy meanwhile is no push,
    and what is heavier than a cable pulls on average, and pulls less aside, is none. Then it is
    taken off, and `warning` asks for it. Less of it: it is gone, in part. The torque shows where it
    hangs, from before it counts on; afterwards, without contact, more exactly (`WeightPlace`).
    `WorldForces` has no inertia, by which a heavier weight leaves it: `HeavyPull` finds these.

    Only the weight changes its owner. What is heavier than `hung_payload_most` may be hooked to
    something; with more left than the weight explains something pushes; where the hand was pushed
    up by more than the weight, a table may bear it. In all these nothing is taken off or added, the
    contact stays, and `warning` says why.

    Attributes:
        payload: what is taken off.
        bias_change: (6,) N and N m by which the bias changes with it.
        shift: the same where only the place of the weight, and so the torque, has changed; else
            None.
        unknown: N m, deviation of its torque, as its place is not known exactly.
    """

    def __init__(self, settings: WrenchOptions, gravity: Vector) -> None:
        """gravity: (3,) m/s^2 in the base frame."""
        self._direction = np.array(gravity)
        size = float(np.linalg.norm(self._direction))
        self._direction = self._direction / max(size, 1e-12)
        self._least = settings.hung_payload * size  # N
        self._most = settings.hung_payload_most * size
        self._point = np.array(settings.point_of_weights)
        self.change(settings)
        self._gravity = size
        self._forces = WorldForces(self._direction)
        self._heavy = HeavyPull(self._most)
        # Of what may hang there now, and of what is taken off.
        self._place = WeightPlace(self._point)
        self._known: WeightPlace | None = None
        self.shift: Array | None = None
        self.unknown = 0.0
        self.payload = Payload()
        self._is_confirmed = False
        self._taken = 0.0  # N that are taken off
        self.bias_change: Array = np.zeros(6)
        self._doubt = ''
        self._gone = ''
        self._pushed_up = 0.0
        self.tare(np.zeros(6))

    def change(self, settings: WrenchOptions) -> None:
        """Takes other thresholds."""
        self._ambiguous = AMBIGUOUS * settings.force_on
        self._twist = AMBIGUOUS * settings.torque_on
        self._felt = settings.torque_on
        self._pushed = PUSHED * settings.force_on

    def reset(self) -> None:
        """The clock was set back or forward; the weight stays."""
        self._changed(0)
        self._heavy.reset()
        self._down: Array | None = None
        self._was_contact = False

    def look(self, gravity: Array) -> None:
        """Samples were missed; gravity (3,) is as this now, in the sensor's axes."""
        if self._known is not None:
            self.unknown = self._known.unknown(gravity / self._gravity)

    def tare(self, bias: Array) -> None:
        """A tare gave this bias (6,), in which a weight is hidden as it hangs now."""
        self._forces.tare(bias[:3])
        self._place.begin(bias[3:])
        if self._known is not None:
            self._known.tare(bias[3:])
        self._gone = ''
        self._reference: Array | None = None  # down as the bias was found
        self._recent: Array | None = None  # the running mean of down
        self.reset()

    @property
    def warning(self) -> str:
        """Asks about a weight that was found or that is gone, and says what might be one; '' if
        there is none, or it was confirmed.
        """
        if self._heavy.weight:
            return self._too_heavy(self._heavy.weight)
        if self._doubt or self._gone:
            return self._doubt or self._gone
        if not self._taken or self._is_confirmed:
            return ''
        grams = 1e3 * self.payload.mass
        return (
            f'a weight of about {grams:.0f} g hangs on the hand that nobody announced: it is taken '
            'off; call ~/confirm_weight if it belongs there, or take it away'
        )

    def confirm(self) -> float:
        """Asks no more about the weight that is there. Returns kg, 0 if there is none."""
        self._is_confirmed = bool(self._taken)
        self._gone = ''
        return self.payload.mass

    def update(self, block: WrenchBlock, bias: Array) -> bool:
        """Takes a block and the bias (6,); returns whether `payload` has changed."""
        time = (block.end - block.start) / SECOND
        way = block.speed * time
        down = block.rotation.T @ self._direction
        if not self._least or block.is_holding:
            # What is held hides the cables, which are elsewhere when it is let go.
            self._forces.wander(way, time)
            self._wander(way, time, down)
            self.reset()
            return False
        turned = 0.0 if self._down is None else length(down - self._down)
        self._down = down
        if self._reference is None or self._recent is None:
            self._reference = self._recent = down
        self._recent = self._recent + RECENT * (down - self._recent)
        if block.is_contact != self._was_contact:
            self._changed(block.start)
        self._was_contact = block.is_contact
        # Readings are without what is taken off already.
        reading = block.mean
        force = reading[:3] + self._taken * down
        torque = reading[3:] + np.cross(self._moment, down)
        self._wander(way, time, down)
        up = float((bias[:3] - reading[:3]) @ down)
        self._pushed_up = max(self._pushed_up * exp(-time / PUSHED_KEPT), up)
        if block.is_contact:
            self._heavy.update(force - bias[:3], down, time)
        else:
            self._heavy.reset()
        if not self._forces.update(force, block.rotation, way, time, not block.is_contact):
            self._changed(block.end)
            return False
        self._place.update(torque, down)
        self._turned += turned
        return self._judge(block, reading, bias) or self._refine(block, torque, bias)

    @property
    def _moment(self) -> Array:
        """(3,) N m, of what is taken off."""
        return self._taken * np.array(self.payload.position)

    def _wander(self, way: float, time: float, down: Array) -> None:
        self._place.wander(way, time)
        if self._known is not None:
            self._known.wander(way, time)
            self.unknown = self._known.unknown(down)

    def _refine(self, block: WrenchBlock, torque: Array, bias: Array) -> bool:
        """Finds the place of what is taken off more exactly; returns whether it has moved."""
        known = self._known
        if known is None:
            return False
        assert self._down is not None
        is_free = length(block.mean[:3] - bias[:3]) < self._pushed
        if is_free and not block.is_contact:
            known.update(torque, self._down)
            self.unknown = known.unknown(self._down)
        if length(known.moment - self._moment) <= MOVED:
            return False
        part, _ = self._explained(bias[3:] - known.offset, self._turning(known.moment))
        self.payload = Payload(self.payload.mass, place_of(known.moment, self._taken))
        self.shift = self.bias_change = np.concatenate((np.zeros(3), -part))
        return True

    def _changed(self, stamp: int) -> None:
        """The weight may be another one now."""
        self._forces.doubt()
        self._place.doubt()
        self._since, self._turned = stamp, 0.0
        self._doubt = ''

    def _judge(self, block: WrenchBlock, reading: Array, bias: Array) -> bool:
        weight = self._forces.weight
        is_proved = self._turned >= TURNED and block.end - self._since >= LASTED * SECOND
        most = max(self._least, abs(weight - self._taken))
        if not is_proved or SURE * self._forces.deviation > most:
            return False
        found = weight if weight >= self._least else 0.0
        if abs(found - self._taken) <= CHANGED * max(self._taken, found):
            self._doubt = ''
            return block.is_contact and self._slipped(bias)
        share, left = self._explained(
            bias[:3] - self._forces.rest, lambda down: (found - self._taken) * down
        )
        is_aside = found > self._taken and self._forces.aside > ASIDE * found
        self._doubt = self._doubted(found, left, is_aside) or self._twisted(found, bias)
        if self._doubt or is_aside:
            return False
        if not block.is_contact:
            share = self._quiet(found - self._taken, share, reading - bias)
        self._take(found, share, bias)
        return True

    def _slipped(self, bias: Array) -> bool:
        """Takes the same weight off at another place, if it is what is felt; returns whether."""
        if not self._taken:
            return False
        assert self._down is not None
        turned = self._turning(self._hanging(self._taken).moment)(self._down)
        is_felt = length(turned) >= self._felt
        if not is_felt or self._twisted(self._taken, bias):
            return False
        self._take(self._taken, np.zeros(3), bias)
        return True

    def _hanging(self, found: float) -> WeightPlace:
        """Returns where a weight (N) hangs that is as heavy."""
        place = self._place.copy()
        place.hang(found)
        return place

    def _twisted(self, found: float, bias: Array) -> str:
        """Says that more than a weight (N) turns the hand; '' if nothing does."""
        place = self._hanging(found)
        _, left = self._explained(bias[3:] - place.offset, self._turning(place.moment))
        away = length(np.array(place_of(place.moment, found)) - self._point) if found else 0.0
        if left <= self._twist + UNSURE * place.unknown_offset and away <= FARTHEST:
            return ''
        grams = 1e3 * found / self._gravity
        return (
            f'the hand is turned by more than a weight of {grams:.0f} g that may hang on it: what '
            'was taken off stays as it was'
        )

    def _turning(self, moment: Array) -> Callable[[Array], Array]:
        """Returns what another moment (3,) N m changes of the torque, by gravity's direction."""
        change = moment - self._moment

        def turned(down: Array) -> Array:
            return np.asarray(np.cross(change, down), np.float64)

        return turned

    def _quiet(self, change: float, share: Array, felt: Array) -> Array:
        """Returns the part (3,) of the bias that changes with the weight, so that no more is felt
        by that than before: no contact is made of it.
        """
        assert self._down is not None
        all_of_it: Array = change * self._down
        after = length(felt[:3] - all_of_it + share)
        return share if after <= length(felt[:3]) else all_of_it

    def _explained(self, target: Array, change: Callable[[Array], Array]) -> tuple[Array, float]:
        """Returns the part (3,) of the bias that a change of the weight explains: as it hung when
        the bias was found and since, as far as the bias has followed it; and how much is left.

        Args:
            target: (3,) of the bias, N or N m, beyond what is the sensor's.
            change: by gravity's direction (3,).
        """
        downs = (self._reference, self._recent, self._down)
        best: Array = np.zeros(3)
        least = length(target)
        for one in downs:
            for other in downs:
                assert one is not None and other is not None
                for part in np.linspace(0.0, 1.0, 11):
                    way = change(part * one + (1.0 - part) * other)
                    size = max(float(way @ way), 1e-12)
                    near = way * min(max(float(target @ way) / size, 0.0), 1.0)
                    left = length(target - near)
                    if left < least:
                        best, least = near, left
        return best, least

    def _doubted(self, found: float, left: float, is_aside: bool) -> str:
        """Tells why a weight (N) may be none; '': nothing speaks against it."""
        grams = 1e3 * found / self._gravity
        if found > max(self._most, self._taken):
            return '' if is_aside else self._too_heavy(found)
        if left > self._ambiguous:
            return (
                f'what may be a weight of {grams:.0f} g hangs on the hand, but {left:.1f} N more '
                'push it: what was taken off stays as it was'
            )
        if found < self._taken and self._pushed_up > self._taken - found + self._ambiguous:
            return (
                f'the weight of {1e3 * self.payload.mass:.0f} g is gone from the hand, or '
                'something bears it: it is still counted'
            )
        return ''

    def _too_heavy(self, found: float) -> str:
        """Says that a weight (N) is none that is taken off."""
        grams = 1e3 * found / self._gravity
        return (
            f'a force of {found:.1f} N that hangs on the hand: a weight of {grams:.0f} g, or '
            'something it is hooked to; it stays a contact'
        )

    def _take(self, found: float, share: Array, bias: Array) -> None:
        """Takes another weight off, N, and no more of the bias than is its share."""
        assert self._down is not None
        place = self._hanging(found)
        target = bias[3:] - place.offset
        part, left = self._explained(target, self._turning(place.moment))
        part = part + (target - part) * min(self._twist / max(left, 1e-12), 1.0)
        self.bias_change = -np.concatenate((share, part))
        self.shift = None
        self.unknown = place.unknown(self._down) if found else 0.0
        self._gone = ''
        if found < self._taken:
            self._gone = (
                f'the weight of {1e3 * self.payload.mass:.0f} g that hung on the hand is gone, or '
                'something bears it; call ~/confirm_weight or ~/tare in free space'
            )
        if not found:
            self._is_confirmed = False
        self._taken = found
        self._reference = self._down
        self._known = place if found else None
        self.payload = Payload()
        if found:
            self.payload = Payload(found / self._gravity, place_of(place.moment, found))
