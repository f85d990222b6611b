# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The simulated robot of a profile: servos, cameras, table, sensors, and the scripted policy's
motion.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs

Triple = tuple[float, float, float]


@attrs.frozen
class JointServo:
    """A joint as its position control holds it; N m (N for a sliding joint), rad (m), s.

    Attributes:
        stiffness: of the control.
        damping: of the control.
        torque: its limit, the weight that it bears included.
        armature: kg m2 (kg) of rotor and gear at the joint.
        joint_damping: of the gear.
        friction: of the gear.
        delay: time constant of the filter that commands go through; 0: none.
    """

    stiffness: float
    damping: float
    torque: float
    armature: float
    joint_damping: float
    friction: float
    delay: float = 0.0


@attrs.frozen
class CameraMount:
    """A camera in the axes of the link that carries it.

    Attributes:
        link: that carries it; '' is the base.
        eye: m.
        fovy: degrees, vertical.
        target: m, what it looks at; None: it looks along -z with y up, tilted.
        up: to which the x axis is level, with a target.
        tilt: rad about x, without a target.
        depth_sensor: the model whose noise its depth has, see `depth_noise.DEPTH_SENSORS`.
    """

    link: str
    eye: Triple
    fovy: float
    target: Triple | None = None
    up: Triple = (0.0, 0.0, 1.0)
    tilt: float = 0.0
    depth_sensor: str = 'D435'


@attrs.frozen(kw_only=True)
class Worktable:
    """The table of a robot, what stands on it, and where. In the robot's base frame, whose plane
    z = 0 is the table top; m, rad, kg.

    Attributes:
        size: of the table top, and its thickness.
        centre: of the table top.
        floor_depth: of the floor below the top.
        room: from the base to each wall.
        cube_size: edge of the cube to pick.
        bin_inner: inner length and width of the bin.
        bin_wall: thickness of its walls and floor.
        can: radius, half height.
        block: half edges.
        axis: x, y from where distances and azimuths are drawn.
        clearance: between the middles of two objects.
        bin_clearance: of an object and the bin.
    """

    size: Triple
    centre: tuple[float, float]
    floor_depth: float
    room: float
    cube_size: float
    cube_mass: float
    bin_inner: float
    bin_height: float
    bin_wall: float
    can: tuple[float, float]
    can_mass: float
    block: Triple
    block_mass: float
    axis: tuple[float, float]
    object_radii: tuple[float, float]
    object_azimuths: tuple[float, float]
    bin_radius: float
    bin_azimuth: float
    distractor_radii: tuple[float, float]
    distractor_azimuths: tuple[float, float]
    clearance: float
    bin_clearance: float

    def bin_parts(self) -> dict[str, tuple[Triple, Triple]]:
        """Floor and walls of the bin as boxes: name -> half edges, and the middle in its frame."""
        half, wall, height = self.bin_inner / 2, self.bin_wall / 2, self.bin_height / 2
        edge, at = half + self.bin_wall, half + wall
        parts = {'bin_floor': ((edge, edge, wall), (0.0, 0.0, wall))}
        for name, x, y in (('left', 0, 1), ('right', 0, -1), ('front', 1, 0), ('back', -1, 0)):
            size = (edge if y else wall, edge if x else wall, height)
            parts[f'bin_{name}'] = (size, (x * at, y * at, height))
        return parts


@attrs.frozen
class EncoderOptions:
    """Joint encoders: rad (m), rad/s (m/s), s.

    Attributes:
        resolution: one step.
        velocity_window: velocities are differences of positions over this time; 0: they are
            measured as they are.
        velocity_noise: RMS of what is added to measured velocities.
    """

    resolution: float
    velocity_window: float = 0.0
    velocity_noise: float = 0.0


@attrs.frozen
class SimulatedStreams:
    """Streams of a robot, where the parameters of the simulator do not say otherwise; Hz.

    Attributes:
        interpolation: s in which the arm's controller goes to a new command.
        joints: of joint_states.
        wrench: of the force-torque sensor.
        franka: of franka_robot_state_broadcaster; 0: the arm is none of Franka.
        wrist_depth: of the camera at the wrist.
    """

    interpolation: float = 0.0
    joints: float = 50.0
    wrench: float = 50.0
    franka: float = 0.0
    wrist_depth: float = 0.0


@attrs.frozen(kw_only=True)
class PickPlaceMotion:
    """The scripted policy's grasp with a hand of two fingers.

    Attributes:
        tip: as `load_robot` takes it.
        gripper_unit: 'rad' or 'm', of the next three.
        opened: position of the gripper to reach for the object.
        released: position to let it go.
        closed: target beyond the object, so that it is pressed.
        closing_time: s, of the gripper.
        opening_time: s, of the gripper.
        above: m, height of the tip over the table before it grasps; so are grasp, lifted, over_bin
            and in_bin of what their names say.
        placed: m, in x and y, between the goal and an object that lies in the bin.
        before_grasp: m, the object's centre in the tip's frame before the fingers close.
        held: m, the same after.
        closing: rad, yaw of the direction in which the fingers close, in the tip's own axes when
            it points down.
        unrolled: rad, the yaw of that direction from the direction towards the object, with the
            wrist at rest.
        first_axis: m, x of the first joint's vertical axis in the base frame.
        first_sign: -1 where that axis points down.
        reach: m from the base frame's origin within which things are picked.
        pace: by which the durations of the arm's motions are multiplied.
        tremor: rad, at quality 0.
        miss: m, at quality 0.
    """

    tip: str
    gripper_unit: str = 'rad'
    opened: float
    released: float
    closed: float
    closing_time: float
    opening_time: float
    above: float
    grasp: float
    lifted: float
    over_bin: float
    in_bin: float
    placed: float
    before_grasp: Triple
    held: Triple
    closing: float
    unrolled: float
    first_axis: float
    first_sign: float
    reach: tuple[float, float]
    pace: float
    tremor: float
    miss: Triple


@attrs.frozen(kw_only=True)
class Simulation:
    """A robot as the simulated scene needs it.

    Attributes:
        timestep: s, of the physics.
        watched_links: whose distances are measured; the base and what turns above it about the
            vertical stay as near to the table whatever is done.
        servos: of the joints that can be commanded, in the URDF's order, the gripper's last.
        cameras: by name.
        table: before the robot.
        encoder: of all joints.
        motors: file of `frame-ros identify joints` on the simulated arm, as the profile's `urdf`.
        streams: rates and interpolation that are this robot's own.
        command_rate: Hz, of trials of the sensing.
        sample_steps: physics steps between two sensor samples of such trials.
        scripted: how the scripted policy moves it; None: it does not.
        tip: short name of the link whose pose the demo watches; '': the default.
        parameters: node -> its parameters in the demo.
    """

    timestep: float
    watched_links: tuple[str, ...]
    servos: tuple[JointServo, ...]
    cameras: Mapping[str, CameraMount]
    table: Worktable
    encoder: EncoderOptions
    motors: str = ''
    streams: SimulatedStreams = SimulatedStreams()
    command_rate: float = 50.0
    sample_steps: int = 1
    scripted: PickPlaceMotion | None = None
    tip: str = ''
    parameters: Mapping[str, Mapping[str, Any]] = {}
