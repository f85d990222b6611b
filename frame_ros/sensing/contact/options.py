# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Options of the contact sensors, and what they make."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import yaml

from frame_ros.core.errors import SetupError
from frame_ros.core.options import evolved, flatten, group, option, options, rule
from frame_ros.core.strict_yaml import load_yaml
from frame_ros.robots.dynamics import Payload
from frame_ros.robots.options import TIPS, FrameOptions, TipOptions
from frame_ros.robots.profiles import find_profile
from frame_ros.robots.robot import Robot
from frame_ros.sensing.contact.expectation import (
    AllowedRegion,
    ContactExpectations,
    ExpectationOptions,
)
from frame_ros.sensing.contact.joints.detector import JointContactOptions
from frame_ros.sensing.contact.joints.stall import StallOptions
from frame_ros.sensing.contact.mount_options import MountPlaceOptions
from frame_ros.sensing.contact.robot_flags import RobotContactOptions
from frame_ros.sensing.contact.wrench.options import ORIGIN, WrenchOptions
from frame_ros.sensing.contact.wrench.tool_file import ToolFile, read_tool_file
from frame_ros.sensing.contact.wrench.tool_model import HEAVIEST, Tool
from frame_ros.sensing.stream_health.options import StreamHealthOptions

SOURCES = ('wrench', 'joint_effort', 'robot')
Vector = tuple[float, float, float]


@options
class ToolOptions:
    """Tool beyond the force-torque sensor."""

    file: str = option('', "file that `frame-ros identify tool` wrote; '': mass and centre_of_mass")
    mass: float = option(
        0.0,
        'mass of all that is beyond the sensor',
        unit='kg',
        at_least=0.0,
        at_most=HEAVIEST,
    )
    centre_of_mass: tuple[float, ...] = option(
        ORIGIN, "its centre, in the sensor's axes from its origin", unit='m', lengths=(3,)
    )
    joints_link: str = option(
        '',
        'link with this tool for the dynamics of the joints, where the URDF does not know '
        "it; '': none",
    )

    @rule('mass', '0 with a tool.file, which has mass and centre of mass')
    def _has_one_mass(self) -> bool:
        return not (self.file and self.mass)

    @rule('centre_of_mass', '0, 0, 0 with a tool.file, which has mass and centre of mass')
    def _has_one_centre(self) -> bool:
        return not (self.file and any(self.centre_of_mass))

    def load(self) -> Tool:
        """The tool; raises as `read`."""
        return self.read().tool

    def read(self) -> ToolFile:
        """The tool, with the mount that its file has.

        Raises:
            FrameRosError: the file cannot be read, or the tool cannot be.
        """
        if self.file:
            return read_tool_file(self.file)
        x, y, z = self.centre_of_mass
        return ToolFile(Tool(self.mass, (x, y, z)))


@options
class TareOptions:
    """Tare of the force-torque sensor."""

    at_start: bool = option(
        True,
        'contact is unavailable until a tare succeeds; false: begin with '
        'wrench.expected_bias, or none',
    )
    timeout: float = option(3.0, 'time after which ~/tare gives up', unit='s', above=0.0)


@options
class WrenchSensorOptions(MountPlaceOptions, WrenchOptions):
    """Contact by a force-torque sensor."""

    topic: str = option('wrench', 'geometry_msgs/WrenchStamped of the sensor, raw')
    frame: str = option(
        '', "frame of the wrench, whatever its header contains; '': header.frame_id"
    )
    mount_link: str = option(
        '',
        "link that carries the sensor, if its frame is no link and not in tf_static; '': by the"
        ' frame, or as tool.file has it, where it was identified with a mount',
    )


@options
class JointSensorOptions(JointContactOptions):
    """Contact by the efforts of the joints."""

    motors_file: str = option(
        '',
        'file that `frame-ros identify joints` wrote for this arm; simulated: '
        'config/motors/<robot>.yaml, of the simulated arm; generic: the same on a real arm whose '
        'motors are not identified yet, with wide thresholds; joint_effort needs one of them',
    )
    arm: str = option(
        '', 'name of this arm, as `frame-ros identify joints --arm` wrote it; none: not compared'
    )
    rate: float = option(
        250.0,
        'largest rate of joint states that are judged; faster ones cost time and add '
        'nothing; above 1 / max_sensor_age',
        unit='Hz',
        above=1.0,
    )


@options
class RobotSensorOptions(RobotContactOptions):
    """Contact by the robot's own flags and its estimate of the external wrench."""

    topics: str = option(
        'franka_robot_state_broadcaster',
        'prefix of robot_state (franka_msgs), external_wrench_in_base_frame, contact',
    )
    wrench_frame: str = option(
        '',
        'link, fixed to the base, in whose axes that wrench is, whatever its frame is '
        "called; '': header.frame_id",
    )
    wrench_point: str = option(
        'tip',
        "point about which that wrench's torque is: the tip, or the origin of that frame",
        choices=('tip', 'base'),
    )


@options
class ExpectedOptions(ExpectationOptions):
    """Contacts that are expected."""

    finger_links: tuple[str, ...] = option(
        (),
        "links that may touch while the gripper closes or holds; none: those of the robot's"
        ' profile',
    )
    allowed_links: tuple[str, ...] = option((), 'links that may always touch')
    allowed_regions: tuple[str, ...] = option(
        (),
        "boxes in the base frame where contact is expected, each in YAML: '{name: table, "
        "lower: [0, -0.3, -0.01], upper: [0.4, 0.3, 0.02], max_force: 15}'; links, phases, "
        'and held_only: true (only what the gripper holds) may be added',
    )

    @property
    def shared(self) -> dict[str, Any]:
        """The options that the rules have as they are."""
        return {name: getattr(self, name) for name in flatten(ExpectationOptions())}

    def of(
        self, robot: Robot, fingers: Sequence[str], smaller_is_closed: bool
    ) -> ContactExpectations:
        """The rules for the contacts of a robot with these fingers.

        Raises:
            FrameRosError: a link that the robot does not have, or a region that cannot be.
        """
        regions = tuple(map(region_of, self.allowed_regions))
        for link in (*self.allowed_links, *(link for region in regions for link in region.links)):
            robot.parent_of(link)
        return ContactExpectations(
            **self.shared,
            finger_links=tuple(dict.fromkeys(fingers)),
            allowed_links=self.allowed_links,
            regions=regions,
            smaller_is_closed=smaller_is_closed,
        )


@options
class SensingOptions(FrameOptions, TipOptions):
    """Contact sensors of a robot."""

    tip: str = option('', f'link at which the external wrench is given; {TIPS}')
    sources: tuple[str, ...] = option(
        (),
        'sources of contact; robot: the flags and external wrench of a Franka arm; none: '
        'wrench, and joint_effort with a joints.motors_file',
        choices=SOURCES,
    )
    max_joint_age: float = option(
        0.1,
        'age of the joint states with which anything is judged; older: unavailable; of '
        'robot the flags count in any case',
        unit='s',
        above=0.0,
    )
    max_sensor_age: float = option(
        0.25,
        'time without a message after which a source counts as silent: unavailable',
        unit='s',
        above=0.0,
    )
    max_command_age: float = option(
        0.5, 'time for which a commanded position counts for stalls', unit='s', above=0.0
    )
    wrench: WrenchSensorOptions = group(WrenchSensorOptions)
    tool: ToolOptions = group(ToolOptions)
    tare: TareOptions = group(TareOptions)
    joints: JointSensorOptions = group(JointSensorOptions)
    stall: StallOptions = group(StallOptions)
    robot_contact: RobotSensorOptions = group(RobotSensorOptions)
    expected: ExpectedOptions = group(ExpectedOptions)
    streams: StreamHealthOptions = group(StreamHealthOptions, is_offset_corrected=True)

    @rule('sources', 'each at most once')
    def _are_different(self) -> bool:
        return len(set(self.sources)) == len(self.sources)

    @rule('joints.rate', 'more than one in max_sensor_age')
    def _comes_in_time(self) -> bool:
        return self.joints.rate * self.max_sensor_age > 1.0

    @rule('tare.timeout', 'at least wrench.tare_window')
    def _has_time(self) -> bool:
        return self.tare.timeout >= self.wrench.tare_window

    @property
    def chosen_sources(self) -> tuple[str, ...]:
        """Sources as given; of none the wrench, and joint_effort with known motors."""
        known = ('wrench', 'joint_effort') if self.joints.motors_file else ('wrench',)
        return self.sources or known

    @property
    def fingers(self) -> tuple[str, ...]:
        """The links that close on things."""
        return self.expected.finger_links or find_profile(self.robot).finger_links

    def wrench_at(self, tip: Vector, weight_point: Vector | None = None) -> WrenchSensorOptions:
        """The options of the force-torque sensor. tip, weight_point: (3,) m, in its axes."""
        return evolved(self.wrench, tip=tip, weight_point=weight_point)

    def joint_contact(self) -> JointContactOptions:
        """The options of the joints, with those of stalls."""
        return evolved(self.joints, stall=self.stall)

    def joint_tool(self) -> Payload | None:
        """The tool that the URDF does not know, for the dynamics of the joints; None: no link."""
        if not self.tool.joints_link:
            return None
        tool = self.tool.load()
        return Payload(self.tool.joints_link, tool.mass, tool.centre_of_mass)

    def expectations(self, robot: Robot, also: Sequence[str] = ()) -> ContactExpectations:
        """The rules for expected contacts. also: links that stand for the fingers, where a sensor
        cannot distinguish them.

        Raises:
            FrameRosError: a link that the robot does not have, or a region that cannot be.
        """
        for link in self.fingers:
            robot.parent_of(link)
        gripper = find_profile(self.robot).gripper
        is_falling = gripper is None or gripper.smaller_is_closed
        return self.expected.of(robot, (*self.fingers, *also), is_falling)


@options
class ContactSensingOptions(SensingOptions):
    """Contact sensors of a robot, and how often their state is given."""

    publish_rate: float = option(
        50.0,
        'rate of contact and external_wrench; a contact that begins, ends or turns '
        'unexpected is published at once',
        unit='Hz',
        above=0.0,
        at_most=1000.0,
        live=True,
    )
    joint_wait: float = option(
        0.0,
        'time for which a sample waits for joint states of its time, which may come late; '
        'without, their motion is that of before',
        unit='s',
        at_least=0.0,
    )

    @rule('joint_wait', 'below max_sensor_age')
    def _is_short(self) -> bool:
        return self.joint_wait < self.max_sensor_age


def region_of(text: str) -> AllowedRegion:
    """A region from YAML, as in '{name: table, lower: [0, -0.3, 0], upper: [0.4, 0.3, 0.02]}'.

    Raises:
        SetupError: it is none.
    """
    example = '{name: table, lower: [0, -0.3, -0.01], upper: [0.4, 0.3, 0.02], max_force: 15}'
    try:
        found = load_yaml(text)
        given = {key: _tuples(value) for key, value in found.items()}
        return AllowedRegion(**given)
    except (yaml.YAMLError, AttributeError, TypeError, ValueError) as error:
        raise SetupError(
            f'expected.allowed_regions has {text!r}: {error}; a region is such as {example}, '
            'with links, phases and held_only if wanted'
        ) from error


def _tuples(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value
