# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The contact sensors' streams, of which those that lie are not used."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, NamedTuple

from frame_ros.core.health import Status
from frame_ros.core.time import SECOND
from frame_ros.robots.joint_state_merge import FullJointState
from frame_ros.robots.robot import Robot
from frame_ros.sensing.contact.detection import Detection
from frame_ros.sensing.contact.robot_sensor import RobotSensor
from frame_ros.sensing.contact.sensor_mount import SensorMount
from frame_ros.sensing.contact.wrench_sensor import WrenchSensor
from frame_ros.sensing.stream_health.options import StreamHealthOptions
from frame_ros.sensing.stream_health.streams import WRENCH, StreamHealth

PART_KEPT = 2 * SECOND  # ns


class Trust(NamedTuple):
    """The judgement on a sample. is_used: false: it says nothing new, and is left out. stamp: ns,
    on the clock of the joints. unavailable: why it cannot be used; '': it can.
    """

    is_used: bool
    stamp: int
    unavailable: str = ''


class _Part(NamedTuple):
    """The newest joint state of some joints: ns, and why it or its efforts cannot be used."""

    stamp: int
    states: str
    efforts: str


class TrustedInputs:
    """Judges joint states and wrenches before the contact sensors take them.

    Joint states may come in parts, each with its own joints: what is wrong with one counts until
    its next, or until it has not come for `PART_KEPT`.
    """

    def __init__(self, robot: Robot, settings: StreamHealthOptions) -> None:
        self._robot, self._is_checked = robot, settings.is_checked
        self._health = StreamHealth(settings, robot)
        self._mount: SensorMount | None = None
        self._parts: dict[frozenset[str], _Part] = {}
        self._states = ''  # why the newest states of some joints cannot be used

    def reset(self) -> None:
        """The clock was set back or forward."""
        self._health.reset()
        self._parts.clear()
        self._states = ''

    def place(self, mount: SensorMount | None, centre_of_mass: Sequence[float]) -> None:
        """Sets where the force-torque sensor sits, and its tool's centre, m in the sensor's
        axes.
        """
        if mount is None or mount is self._mount:
            return
        self._mount = mount
        centre = mount.translation + mount.rotation @ centre_of_mass
        self._health.mount_wrench(self._robot, mount.link, mount.rotation, centre)

    def arrived(self, name: str, stamp: int, arrival: int) -> None:
        """Takes when a message of a wrench or of the joint states arrived, ns: before it is judged,
        and also where its stamp is not after the last. name: as of `StreamHealth.on_arrival`.
        """
        if self._is_checked:
            self._health.on_arrival(name, stamp, arrival)

    def published(self, name: str, publisher: Hashable, arrival: int, value: Any) -> None:
        """Takes a message of a wrench or of the joint states, also one whose stamp is not after the
        last, to compare it with those of other publishers: before it is judged.

        Args:
            publisher: names its node as a string.
            arrival: ns.
            value: a joint state, or a wrench with `frame` and `values`.
        """
        if not self._is_checked:
            return
        check, stamp = self._health.publishers, value.stamp
        if isinstance(value, FullJointState):
            check.joints(name, publisher, arrival, stamp, value.names, value.positions)
        else:
            check.wrench(name, publisher, arrival, stamp, value.frame, value.values)

    def joints(self, state: FullJointState) -> Trust:
        """Takes a joint state whose arrays have the length of its names, or none."""
        if not self._is_checked:
            return Trust(True, state.stamp)
        found, efforts = self._health.on_joints(
            state.stamp, state.names, state.positions, state.velocities, state.efforts
        )
        self._parts[frozenset(state.names)] = _Part(
            state.stamp,
            found.unavailable and f'joint_states {found.unavailable}',
            efforts.unavailable and f'efforts of joint_states {efforts.unavailable}',
        )
        self._forget(state.stamp)
        self._states = next((part.states for part in self._parts.values() if part.states), '')
        is_new = not found.is_repeat or bool(found.unavailable)
        return Trust(is_new, state.stamp, self._states)

    @property
    def efforts(self) -> str:
        """Tells why the newest efforts cannot be used; '': they can."""
        return next((part.efforts for part in self._parts.values() if part.efforts), '')

    def _forget(self, stamp: int) -> None:
        if len(self._parts) == 1:
            return  # that of now
        old = [each for each, part in self._parts.items() if stamp - part.stamp > PART_KEPT]
        for each in old:
            del self._parts[each]

    def wrench(self, stamp: int, values: Sequence[float], name: str = WRENCH) -> Trust:
        """Takes a wrench, 6 values; that of the robot itself under another name."""
        if not self._is_checked:
            return Trust(True, stamp)
        found = self._health.on_wrench(stamp, values, name)
        why = found.unavailable and f'{name} {found.unavailable}'
        is_new = not found.is_repeat or bool(why)
        return Trust(is_new, self._health.corrected(name, stamp), why or self._states)

    def stamp_error(self, name: str = WRENCH) -> float:
        """Returns s by which the stamps of a wrench may differ from those of the joints."""
        return self._health.stamp_error(name) if self._is_checked else 0.0

    def detections(
        self, sensor: WrenchSensor | RobotSensor, stream: str, wrench: Any, holding: bool | None
    ) -> list[Detection]:
        """Returns what a sensor detects in its wrench, with `stamp`, `frame` and `values`: nothing
        in one that is the one before it again; one that cannot be used makes it unavailable.
        """
        trust = self.wrench(wrench.stamp, wrench.values, stream)
        if not trust.is_used:
            return []
        if trust.unavailable:
            return [Detection(wrench.stamp, sensor.source, None, unavailable=trust.unavailable)]
        if isinstance(sensor, WrenchSensor) and self._is_checked:
            sensor.stamp_error = self.stamp_error(stream)
        found = sensor.on_wrench(trust.stamp, wrench.frame, wrench.values, holding)
        if isinstance(sensor, WrenchSensor):
            self.place(sensor.mount, sensor.centre_of_mass)
        return [found]

    @property
    def warnings(self) -> tuple[str, ...]:
        """Of streams that are used though their stamps are not those of the joints, or though they
        have several publishers.
        """
        why = self._health.correction(WRENCH)
        return (*((f'{WRENCH}: {why}',) if why else ()), *self.shared)

    @property
    def shared(self) -> tuple[str, ...]:
        """Of streams that are used though they have several publishers."""
        return self._health.publishers.warnings

    def statuses(self) -> list[Status]:
        """One of each stream, for diagnostics."""
        return self._health.statuses()
