# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Contact from a robot's own report: its contact and collision flags, and its estimate of the
external wrench, as published by Franka arms.
"""

from __future__ import annotations

from collections import deque
from math import isfinite
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from frame_ros.core.errors import ShapeError
from frame_ros.core.options import option, options
from frame_ros.core.time import SECOND
from frame_ros.sensing.contact.detection import Detection
from frame_ros.sensing.contact.sensitivity import UNKNOWN, Sensitivity
from frame_ros.sensing.contact.source import ContactSource
from frame_ros.sensing.contact.threshold import Threshold, end_share, time_of
from frame_ros.sensing.contact.wrench_offset import PostureOffset
from frame_ros.sensing.stream_health.publishers import AXES

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]


class RobotFlags(NamedTuple):
    """Flags of libfranka's RobotState, true where set: (N,) of joints, (6,) cartesian. A contact
    flag clears itself; a collision flag stays until the robot's error is recovered.
    """

    joint_contact: Flags
    joint_collision: Flags
    cartesian_contact: Flags
    cartesian_collision: Flags


@options
class RobotContactOptions:
    """Contact by the robot's own flags and its estimate of the external wrench."""

    is_force_on_robot: bool = option(
        False,
        'the wrench is what the surroundings do to the robot; false: the reverse, as of libfranka',
    )
    force_on: float = option(
        3.0,
        'norm of the force from which it is a contact, beyond what is not yet known of free space',
        unit='N',
        above=0.0,
        live=True,
    )
    torque_on: float = option(1.0, 'norm of the torque, likewise', unit='N m', above=0.0, live=True)
    hysteresis: float = end_share(0.6)
    on_time: float = time_of(0.02, 'a contact')
    off_time: float = time_of(0.05, 'its end')
    offset_force: float = option(
        4.0, 'force that is typical in free space; learnt posture by posture', unit='N', above=0.0
    )
    offset_torque: float = option(1.0, 'torque, likewise', unit='N m', above=0.0)
    spread_gain: float = option(
        3.0,
        'standard deviations of what is not yet known of that by which the thresholds are wider',
        at_least=0.0,
        live=True,
    )
    largest_spread: float = option(
        2.0,
        'standard deviation of the offset from which the force is not reported',
        unit='N',
        above=0.0,
        live=True,
    )
    speed_gain: float = option(
        1.0,
        'force per speed of the fastest joint by which the threshold is wider, and a tenth '
        'of that in N m',
        unit='N s/rad',
        at_least=0.0,
        live=True,
    )
    posture_step: float = option(
        0.03, 'distance of postures that are learnt', unit='rad', above=0.0
    )
    learn_below: float = option(
        0.6,
        'share of the threshold from which nothing is learnt',
        above=0.0,
        at_most=1.0,
        live=True,
    )
    learn_delay: float = option(
        0.3,
        'time for which a posture waits to be learnt, and is dropped if contact begins',
        unit='s',
        above=0.0,
    )
    collision_time: float = option(
        0.1,
        'time for which a collision flag counts as contact by itself',
        unit='s',
        above=0.0,
        live=True,
    )


class RobotContact:
    """Contact if a contact flag is set, or the external wrench is over a threshold.

    The wrench that the arm estimates in free space depends on the posture. It is learnt there
    (PostureOffset): from postures at least `posture_step` apart, so that standing still teaches
    nothing and a lasting contact is not absorbed; only below `learn_below` of the threshold,
    without flags, while nothing is held; and only once `learn_delay` has passed without contact.
    The uncertainty widens the thresholds, and where it is more than `largest_spread`, force and
    wrench are NaN and only the flags report contact. A contact is absorbed if it begins before
    anything was learnt of such postures and stays below the widened threshold.

    A collision flag means that there was a collision until the robot is recovered: `collisions` and
    `collision_since` report it, and it counts as contact for `collision_time` only; one that is
    already set in the first flags does not, as its time is unknown.

    A sample whose stamp is not after the last is counted in `late`, and returns the last detection
    again; a stamp that falls by more than 1 s means that the clock was reset.
    """

    def __init__(self, settings: RobotContactOptions, joints: int = 7) -> None:
        """`joints`: number N of the arm's joints."""
        self.settings = settings
        self.joints = joints
        scales = np.repeat([settings.offset_force, settings.offset_torque], 3)
        self.offset = PostureOffset(joints, scales, noise=0.1)
        self.threshold = Threshold(1.0, settings.hysteresis, settings.on_time, settings.off_time)
        self.share = 0.0  # of the threshold that the newest sample reached
        self.sensitivity = UNKNOWN  # of the newest wrench; the robot's own filter is not known
        self.spread = float(settings.offset_force)  # N, of the offset at the newest posture
        self.late = 0
        self.collisions: tuple[str, ...] = ()  # where collision flags are set
        self.collision_since: int | None = None  # ns, when the newest that was seen to be set was
        self._has_flags = False
        self._pending: deque[tuple[int, Array, Array]] = deque()
        self._taken: Array | None = None
        self._known: tuple[Array, Array, Array] | None = None
        self._last: int | None = None
        self._detection = Detection(
            0, int(ContactSource.ROBOT), None, unavailable='nothing from the robot yet'
        )

    def change(self, settings: RobotContactOptions) -> None:
        """Takes other values of the options that are live, from the next sample on."""
        self.settings = settings
        self.threshold.change(1.0, settings.hysteresis, settings.on_time, settings.off_time)

    def reset(self) -> None:
        """Forgets the samples; keeps the learnt offsets."""
        self.threshold.reset()
        self._pending.clear()
        self._last = None
        self.share = 0.0
        self.collisions, self.collision_since = (), None
        self._has_flags = False

    def update(
        self,
        stamp: int,
        q: ArrayLike,
        external: ArrayLike | None = None,
        flags: RobotFlags | None = None,
        *,
        speed: float = 0.0,
        is_holding: bool | None = None,
    ) -> Detection:
        """Takes one sample.

        Args:
            stamp: ns.
            q: (N,) rad.
            external: (6,) N and N m about the tip, in axes of the base; None: not published.
            flags: None likewise.
            speed: rad/s of the fastest joint.
            is_holding: whether the gripper holds something; while it does, nothing is learnt.

        Raises:
            ShapeError: q or external has another shape.
        """
        q = np.asarray(q, dtype=np.float64)
        if q.shape != (self.joints,):
            raise ShapeError(f'joint positions of shape {q.shape}; ({self.joints},) is expected')
        if not self._is_next(stamp):
            return self._detection
        is_flagged = self._take_flags(stamp, flags)
        wrench = self._external(q, external)
        if wrench is None:
            self.sensitivity = UNKNOWN
            self.share = 0.0
            self.threshold.reset()
            self._pending.clear()
            if flags is None:
                why = 'the robot reports neither flags nor a finite external wrench and posture'
                return self._keep(Detection(stamp, int(ContactSource.ROBOT), None, unavailable=why))
            return self._keep(Detection(stamp, int(ContactSource.ROBOT), is_flagged))
        offset, spread = self._offset(q)
        own = wrench - offset
        is_contact = self._compare(stamp, own, spread, speed) or is_flagged
        self._collect(stamp, q, wrench, is_contact or bool(is_holding))
        return self._keep(self._detect(stamp, own, is_contact))

    def _is_next(self, stamp: int) -> bool:
        if self._last is not None and stamp <= self._last:
            if self._last - stamp <= SECOND:
                self.late += 1
                return False
            self.reset()
        self._last = stamp
        return True

    def _keep(self, detection: Detection) -> Detection:
        self._detection = detection
        return detection

    def _take_flags(self, stamp: int, flags: RobotFlags | None) -> bool:
        """Returns whether the flags report contact now."""
        if flags is None:
            return False
        latched = [f'joint {i + 1}' for i in np.flatnonzero(flags.joint_collision).tolist()]
        latched += [AXES[i] for i in np.flatnonzero(flags.cartesian_collision).tolist()]
        if self._has_flags and set(latched) - set(self.collisions):
            self.collision_since = stamp
        self.collisions, self._has_flags = tuple(latched), True
        if not latched:
            self.collision_since = None
        is_fresh = (
            self.collision_since is not None
            and stamp - self.collision_since <= self.settings.collision_time * SECOND
        )
        return is_fresh or bool(
            np.any(flags.joint_contact) or np.any(flags.cartesian_contact)
        )  # fmt: skip

    def _external(self, q: Array, external: ArrayLike | None) -> Array | None:
        """Returns the wrench (6,) on the robot; None if unknown."""
        if external is None:
            return None
        wrench = np.asarray(external, dtype=np.float64)
        if wrench.shape != (6,):
            raise ShapeError(f'an external wrench of shape {wrench.shape}; (6,) is expected')
        if not isfinite(float(wrench.sum() + q.sum())):
            return None
        return wrench if self.settings.is_force_on_robot else -wrench

    def _offset(self, q: Array) -> tuple[Array, Array]:
        """Returns offset and spread, from the last posture if this one is within 1 mrad of it."""
        if self._known is None or np.abs(q - self._known[0]).max() > 1e-3:
            self._known = (q.copy(), *self.offset.predict(q))
        self.spread = float(self._known[2][0])
        return self._known[1], self._known[2]

    def _compare(self, stamp: int, own: Array, spread: Array, speed: float) -> bool:
        settings = self.settings
        fx, fy, fz, tx, ty, tz = own.tolist()
        more = settings.speed_gain * abs(speed) if isfinite(speed) else 0.0
        force_on = settings.force_on + settings.spread_gain * float(spread[0]) + more
        torque_on = settings.torque_on + settings.spread_gain * float(spread[3]) + 0.1 * more
        self.sensitivity = Sensitivity(force_on, settings.on_time)
        force = (fx * fx + fy * fy + fz * fz) ** 0.5
        torque = (tx * tx + ty * ty + tz * tz) ** 0.5
        self.share = max(force / force_on, torque / torque_on)
        return self.threshold.update(stamp, self.share)

    def _collect(self, stamp: int, q: Array, wrench: Array, is_touched: bool) -> None:
        """Learns the postures that have waited long enough, and queues this one."""
        if is_touched:
            self._pending.clear()
            self._taken = q.copy()
            return
        delay = self.settings.learn_delay * SECOND
        while self._pending and stamp - self._pending[0][0] >= delay:
            _, posture, values = self._pending.popleft()
            self.offset.learn(posture, values)
            self._known = None
        if self.share > self.settings.learn_below and self.offset.samples:
            return
        taken, step = self._taken, self.settings.posture_step
        if taken is not None and np.abs(q - taken).max() < step:
            return
        self._taken = q.copy()
        self._pending.append((stamp, q.copy(), wrench))

    def _detect(self, stamp: int, own: Array, is_contact: bool) -> Detection:
        source = int(ContactSource.ROBOT)
        if self.spread > self.settings.largest_spread:
            return Detection(stamp, source, is_contact, share=self.share)
        force = float(np.linalg.norm(own[:3]))
        if not is_contact or force == 0:
            return Detection(stamp, source, is_contact, force, own, share=self.share)
        normal = own[:3] / force
        return Detection(stamp, source, is_contact, force, own, normal=normal, share=self.share)
