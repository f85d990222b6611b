# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""What differs between the robots of the simulated scene."""

from __future__ import annotations

import math
from dataclasses import dataclass

from frame_ros.core.errors import ValueRangeError
from frame_ros.scenes.generation.layout import FR3_TABLE, SO101_TABLE, Worktable

Triple = tuple[float, float, float]


@dataclass(frozen=True)
class JointServo:
    """A joint as its position control holds it; N m (N for a sliding joint), rad (m), s.

    stiffness, damping: of the control. torque: its limit, the weight that it bears included.
    armature: kg m2 (kg) of rotor and gear at the joint. joint_damping, friction: of the gear.
    delay: time constant of the filter that commands go through; 0: none.
    """

    stiffness: float
    damping: float
    torque: float
    armature: float
    joint_damping: float
    friction: float
    delay: float = 0.0


@dataclass(frozen=True)
class CameraMount:
    """A camera: eye, and target or tilt, in the axes of the link that carries it ('' is the base).

    target: m, what it looks at; its x axis is level to `up`. tilt: rad about x, from looking along
    -z with y up; used where there is no target. fovy: degrees, vertical. depth_sensor: the model
    whose noise its depth has, see `depth_noise.DEPTH_SENSORS`.
    """

    link: str
    eye: Triple
    fovy: float
    target: Triple | None = None
    up: Triple = (0.0, 0.0, 1.0)
    tilt: float = 0.0
    depth_sensor: str = 'D435'


@dataclass(frozen=True)
class SceneRobot:
    """A robot as the scene needs it.

    joint_names: that can be commanded, the gripper's last; a joint that mimics another follows it.
    home: rad (m) of them. arm_joints: without the gripper. gripper_joint: its joint. tip_link: of
    the gripper. wrench_link: the force-torque sensor sits where this link meets the one before.
    watched_links: whose distances are measured; the base and what turns above it about the vertical
    stay as near to the table whatever is done. has_torque_sensors: efforts are those of sensors
    behind the gears, the weight included, and the control compensates gravity; else they are those
    of the motors.
    """

    name: str
    timestep: float
    joint_names: tuple[str, ...]
    home: tuple[float, ...]
    base_link: str
    tip_link: str
    wrench_link: str
    finger_links: tuple[str, ...]
    watched_links: tuple[str, ...]
    servos: tuple[JointServo, ...]
    cameras: dict[str, CameraMount]
    table: Worktable
    has_torque_sensors: bool = False

    @property
    def arm_joints(self) -> tuple[str, ...]:
        """The joints that move the tip."""
        return self.joint_names[:-1]

    @property
    def gripper_joint(self) -> str:
        """The joint that opens the gripper."""
        return self.joint_names[-1]


# The STS3215 servo as a position actuator. Stiffness and damping are such that the closed loop
# follows a moving target by about 30 ms and sags by about a degree under the arm's weight, as the
# real one does; the torque limit is that of the 12 V version, the armature its rotor and gears seen
# at the output.
_STS3215 = JointServo(90.0, 2.6, 2.94, 0.028, 0.3, 0.04)
# The grip is limited, as by the servo's torque setting.
_SO101_GRIPPER = JointServo(20.0, 2.6, 0.8, 0.028, 0.3, 0.04)
_SO101_FINGERS = ('gripper_link', 'moving_jaw_so101_v1_link')

SO101 = SceneRobot(
    name='so101',
    timestep=0.002,
    joint_names=(
        'shoulder_pan', 'shoulder_lift', 'elbow_flex', 'wrist_flex', 'wrist_roll', 'gripper',
    ),
    # Folded back, the gripper above the table's near edge.
    home=(0.0, -1.35, 1.25, 0.85, 0.0, 0.3),
    base_link='base_link',
    tip_link='gripper_frame_link',
    wrench_link='gripper_link',
    finger_links=_SO101_FINGERS,
    watched_links=('upper_arm_link', 'lower_arm_link', 'wrist_link', *_SO101_FINGERS),
    servos=(_STS3215,) * 5 + (_SO101_GRIPPER,),
    cameras={
        'front': CameraMount('', (0.62, -0.40, 0.42), 42.0, target=(0.15, 0.03, 0.07)),
        # Above the fingers, looking along them and a little towards the fixed one.
        'wrist': CameraMount(
            'gripper_link', (0.0, 0.055, -0.005), 70.0, tilt=-math.radians(22.0),
            depth_sensor='D405',
        ),
    },
    table=SO101_TABLE,
)  # fmt: skip

# A joint-impedance control, critically damped for the arm's inertia in the middle of its range,
# that lags a moving target by about 50 ms. The torque limits are the URDF's. Rotors and gears: the
# joints of a Panda move as if 0.5 to 0.1 kg m2 were added (identified by Gaz et al., Dynamic
# Identification of the Franka Emika Panda Robot, RA-L 2019, as part of the links' inertias).
# Franka's interface passes commands through a low-pass filter.
_FR3_DELAY = 0.01
_FR3_SHOULDER = JointServo(1500.0, 80.0, 87.0, 0.2, 1.0, 0.3, _FR3_DELAY)
_FR3_WRIST = JointServo(300.0, 15.0, 12.0, 0.08, 0.4, 0.1, _FR3_DELAY)
# Franka Hand: up to 70 N of continuous grip; here 40 N on each finger, and 0.1 m/s.
_FR3_GRIPPER = JointServo(2500.0, 150.0, 80.0, 0.2, 5.0, 0.5, 0.1)
_FR3_FINGERS = ('fr3_leftfinger', 'fr3_rightfinger')

FR3 = SceneRobot(
    name='fr3',
    timestep=0.001,
    joint_names=(*(f'fr3_joint{i}' for i in range(1, 8)), 'fr3_finger_joint1'),
    # Franka's ready posture, the gripper open.
    home=(
        0.0, -math.pi / 4, 0.0, -3 * math.pi / 4, 0.0, math.pi / 2, math.pi / 4, 0.04,
    ),
    base_link='fr3_link0',
    tip_link='fr3_hand_tcp',
    wrench_link='fr3_hand',
    finger_links=_FR3_FINGERS,
    watched_links=(*(f'fr3_link{i}' for i in range(2, 8)), 'fr3_hand', *_FR3_FINGERS),
    servos=(_FR3_SHOULDER,) * 4 + (_FR3_WRIST,) * 3 + (_FR3_GRIPPER,),
    cameras={
        'front': CameraMount(
            '', (0.95, -0.75, 0.75), 58.0, target=(0.32, 0.03, 0.28), depth_sensor='D455'
        ),
        # Before the hand, looking at what is between the fingers; a D405's vertical view.
        'wrist': CameraMount(
            'fr3_hand', (0.075, 0.0, 0.015), 58.0, target=(0.031, 0.0, 0.15), up=(1.0, 0.0, 0.0),
            depth_sensor='D405',
        ),
    },
    table=FR3_TABLE,
    has_torque_sensors=True,
)  # fmt: skip

ROBOTS = {robot.name: robot for robot in (SO101, FR3)}


def scene_robot(name: str) -> SceneRobot:
    """The robot of that name.

    Raises:
        ValueRangeError: the scene has no such robot.
    """
    if name not in ROBOTS:
        raise ValueRangeError(f'the scene has no robot {name!r}: there are {", ".join(ROBOTS)}')
    return ROBOTS[name]
