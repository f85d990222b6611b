# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The profile of a robot: every fact about one arm that its URDF does not hold."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import attrs
from attrs.validators import deep_mapping, ge, gt, in_, instance_of

from frame_ros.core.errors import RobotError
from frame_ros.core.shared_files import shared_folders
from frame_ros.robots.simulated import Simulation

# What the joints go out as. none: not at all. joint_state: sensor_msgs/JointState. trajectory:
# trajectory_msgs/JointTrajectory of one point. positions: std_msgs/Float64MultiArray. pose:
# geometry_msgs/PoseStamped of the tip.
KINDS = ('none', 'joint_state', 'trajectory', 'positions', 'pose')
# What the gripper joints go out as. with_joints: in the message of the others. trajectory,
# positions: as above, on a topic of their own. opening: Float64MultiArray of one share, 0 closed to
# 1 open. gripper_command: goals of the action control_msgs/GripperCommand, the position of one
# finger. none: not at all.
GRIPPER_KINDS = ('none', 'with_joints', 'trajectory', 'positions', 'opening', 'gripper_command')


def _finite(_: Any, field: attrs.Attribute[float], value: float) -> None:
    """Raises ValueError for a number that is not finite."""
    if not math.isfinite(value):
        raise ValueError(f'{field.name} must be finite, not {value}')


@attrs.frozen(kw_only=True)
class Gripper:
    """The gripper's joint and its positions, rad or m.

    Attributes:
        joint: its name in joint_states.
        closed: position from which it counts as closed; never that of `opened`.
        opened: position from which it counts as open; below `closed` where the position grows as
            the gripper closes.
        empty: position of the gripper closed on nothing.
        margin: how far an object keeps it from there, at least; 0: that is not asked.
    """

    joint: str
    closed: float = attrs.field(validator=_finite)
    opened: float = attrs.field(validator=_finite)
    empty: float = attrs.field(default=0.0, validator=_finite)
    margin: float = attrs.field(default=0.0, validator=[_finite, ge(0.0)])

    @opened.validator
    def _check_opened(self, _: attrs.Attribute[float], value: float) -> None:
        if value == self.closed:
            raise ValueError(f'closed and opened are both {value}; they must differ')

    @property
    def smaller_is_closed(self) -> bool:
        """True if the position falls when the gripper closes."""
        return self.closed < self.opened


@attrs.frozen(kw_only=True)
class Rates:
    """Limits of one joint that its URDF does not hold; rad or m.

    Attributes:
        velocity: per s; infinite: the URDF's.
        acceleration: per s^2.
        source: where the numbers come from.
    """

    velocity: float = attrs.field(default=math.inf, validator=gt(0.0))
    acceleration: float = attrs.field(validator=gt(0.0))
    source: str = ''


@attrs.frozen
class TrackingPreset:
    """The way in which the tip of one kind of arm can follow a pose.

    Attributes:
        tip: the link that policies mean by the end effector; empty: the robot's own tip.
        orientation_cost: m/rad; an orientation 1 rad off weighs as much as a position this far off.
        position_tolerance: m; a larger residual is out of reach.
        orientation_tolerance: rad, likewise.
    """

    tip: str = ''
    orientation_cost: float = attrs.field(default=0.3, validator=[_finite, ge(0.0)])
    position_tolerance: float = attrs.field(default=0.02, validator=gt(0.0))
    orientation_tolerance: float = attrs.field(default=0.2, validator=gt(0.0))


@attrs.frozen
class ControllerPreset:
    """A controller to which the command gate can send.

    Attributes:
        kind: one of KINDS.
        topic: a relative one lies in the node's namespace; {robot} is the robot's name.
        gripper: one of GRIPPER_KINDS.
        gripper_topic: as `topic`.
        is_partial: whether a message may leave joints out.
        source: where the names come from.
    """

    kind: str = attrs.field(validator=in_(KINDS))
    topic: str = ''
    gripper: str = attrs.field(default='none', validator=in_(GRIPPER_KINDS))
    gripper_topic: str = ''
    is_partial: bool = False
    source: str = ''


@attrs.frozen(kw_only=True)
class Topics:
    """Names under which the arm's driver publishes and listens.

    Attributes:
        joint_states: measured joints, sensor_msgs/JointState.
        joint_commands: executed actions, sensor_msgs/JointState.
        wrench: at the wrist, geometry_msgs/WrenchStamped.
        gripper: the gripper's state, sensor_msgs/JointState; empty: it is in joint_states.
    """

    joint_states: str = 'joint_states'
    joint_commands: str = 'joint_commands'
    wrench: str = 'wrench'
    gripper: str = ''


@attrs.frozen(kw_only=True)
class LeRobotTypes:
    """Names that LeRobot's registry has for the arm and its leader; empty: none."""

    follower: str = ''
    leader: str = ''


@attrs.frozen(kw_only=True)
class RobotProfile:
    """One robot. Only the name is needed; what is not known keeps its default.

    Attributes:
        name: as commands and launch files take it; empty: only a URDF is known.
        title: as written in text.
        urdf: file, relative to `folder`, or to the folders of the package's data.
        file: the profile's own, or the URDF alone; empty: it comes with the package.
        tips: short names of links that are good tips; 'default' is the one taken without a name.
        finger_links: links that close on things.
        sensor_link: a force-torque sensor sits where this link meets the one before.
        has_torque_sensors: joint_states.effort comes from sensors behind the gears, N m.
        gripper: None: there is none, or it is not known.
        rates: of joints by name.
        tracking: how the tip follows poses; None: by the number of joints.
        controllers: outputs of the command gate by name, which take precedence over general ones.
        command_frame: frame of poses that are commanded; empty: the base link.
        topics: of the arm's driver.
        wrench_is_estimate: the topic of the wrench has the arm's own estimate, no sensor's.
        postures: named postures, each a position (rad or m) of every joint that can be commanded.
            'home' is where it starts.
        shapes: file of `frame-ros capsules` with shapes fitted to the real surface, as `urdf`; by
            them the robot is taken out of depth images. Empty: by the URDF's collision primitives.
        motors: file of `frame-ros identify joints` on the real arm, as `urdf`.
        generic_motors: robot whose simulated motors, joint by joint, stand with wide thresholds for
            those of an arm that is not identified. Empty: those of its own simulation.
        cameras: mounts of depth cameras, as the launch argument extrinsics has them.
        lerobot: types of our driver's devices.
        rviz: layout file, as `urdf`.
        parameters: node -> its parameters where they are not the node's defaults.
        simulation: the robot in the simulated scene; None: it has none.
    """

    name: str
    title: str = attrs.field(default=attrs.Factory(lambda self: self.name, takes_self=True))
    urdf: str = ''
    file: str = ''
    tips: Mapping[str, str] = {}
    finger_links: tuple[str, ...] = ()
    sensor_link: str = ''
    has_torque_sensors: bool = False
    gripper: Gripper | None = None
    rates: Mapping[str, Rates] = attrs.field(
        default={}, validator=deep_mapping(instance_of(str), instance_of(Rates))
    )
    tracking: TrackingPreset | None = None
    controllers: Mapping[str, ControllerPreset] = {}
    command_frame: str = ''
    topics: Topics = Topics()
    wrench_is_estimate: bool = False
    postures: Mapping[str, Mapping[str, float]] = {}
    shapes: str = ''
    motors: str = ''
    generic_motors: str = ''
    cameras: Mapping[str, tuple[Any, ...]] = attrs.field(default={})
    lerobot: LeRobotTypes = LeRobotTypes()
    rviz: str = 'rviz/frame_ros_fr3.rviz'
    parameters: Mapping[str, Mapping[str, Any]] = {}
    simulation: Simulation | None = None

    @cameras.validator
    def _check_mounts(self, _: attrs.Attribute[Any], value: Mapping[str, Any]) -> None:
        for name, mount in value.items():
            numbers = [n for n in mount[1:] if type(n) in (int, float) and math.isfinite(n)]
            if len(mount) not in (7, 8) or len(numbers) < len(mount) - 1:
                raise ValueError(
                    f'cameras.{name} is {list(mount)}; it must be a link, x y z (m), and roll '
                    'pitch yaw (rad) or a quaternion x y z w'
                )

    @property
    def folder(self) -> str:
        """The folder of its file; empty: it comes with the package."""
        return str(Path(self.file).parent) if self.file else ''

    @property
    def label(self) -> str:
        """The profile as errors name it."""
        if not self.file:
            return f'the profile of {self.name}'
        return f'the robot {"profile " if self.name else ""}{self.file}'

    @property
    def files(self) -> dict[str, str]:
        """Field -> the file that it names; RViz's layout only where it is not the package's."""
        layout = '' if self.rviz == attrs.fields(RobotProfile).rviz.default else self.rviz
        simulated = self.simulation.motors if self.simulation else ''
        named = {
            'urdf': self.urdf, 'shapes': self.shapes, 'motors': self.motors,
            'simulation.motors': simulated, 'rviz': layout,
        }  # fmt: skip
        return {field: file for field, file in named.items() if file}

    def posture(self, name: str, joints: Sequence[str]) -> tuple[float, ...]:
        """The positions of joints in a posture, rad or m.

        Raises:
            RobotError: it has none of a joint.
        """
        posture = self.postures.get(name, {})
        if lacking := [joint for joint in joints if joint not in posture]:
            raise RobotError(
                f'{self.label} has no position of {", ".join(lacking)} in postures.{name}'
            )
        return tuple(posture[joint] for joint in joints)

    def path(self, file: str) -> Path:
        """The place of a file that the profile names.

        Raises:
            RobotError: it is in none of the folders.
        """
        name, parent = Path(file).name, str(Path(file).parent)
        folders = [Path(self.folder) / parent] if self.folder else []
        folders += shared_folders(parent) if not Path(file).is_absolute() else []
        for folder in folders:
            if (folder / name).is_file():
                return folder / name
        looked = ', '.join(map(str, folders))
        field = next((field for field, named in self.files.items() if named == file), 'a file')
        raise RobotError(f'{self.label}: {field} is {file}, which is not there: looked in {looked}')
