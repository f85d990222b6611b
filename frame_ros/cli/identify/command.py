# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""`frame-ros identify`: the motors of a robot's joints, or the tool behind a force-torque sensor.

See docs/identification.md.
"""

from __future__ import annotations

import argparse
import contextlib
import math
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from frame_ros.cli.arguments import any_path, given
from frame_ros.cli.metrics import format_table
from frame_ros.core.errors import SetupError, ValueRangeError
from frame_ros.core.option_texts import add_options, from_arguments
from frame_ros.core.options import evolved, option, options
from frame_ros.core.output_files import check_file, check_folder, make_folder
from frame_ros.core.plain_text import counted
from frame_ros.robots.catalogue import load_robot
from frame_ros.robots.options import RobotOptions
from frame_ros.sensing.contact.identification_options import (
    FEWEST_POSES,
    IdentificationOptions,
    MotionOptions,
    ToolOptions,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from frame_ros.robots import Robot
    from frame_ros.robots.dynamics import Payload
    from frame_ros.sensing.contact.joints.fitting.identification import JointIdentification
    from frame_ros.sensing.contact.joints.fitting.joint_fit import JointFit
    from frame_ros.sensing.contact.joints.fitting.recording import JointRecording
    from frame_ros.sensing.contact.wrench.sensor_rotation import SensorRotation
    from frame_ros.sensing.contact.wrench.still_poses import StillPose
    from frame_ros.sensing.contact.wrench.tool_file import ToolMount
    from frame_ros.sensing.contact.wrench.tool_identification import ToolFit

    Array = NDArray[np.float64]


@options
class JointsOptions(IdentificationOptions):
    """Joints."""

    joints: tuple[str, ...] = option((), "those to identify; none: all that move the robot's tip")
    arm: str = option('', 'name of this arm, which its file then has; none: none')
    payload: str = option(
        '',
        'LINK,KG,X,Y,Z: what the robot carries during the motion and its URDF does not know; '
        'centre of mass in m, in the axes of the link',
    )


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the arguments."""
    parser.add_argument(
        'what',
        choices=('joints', 'tool'),
        help='joints: motor constants, friction and thresholds for contact without a sensor; '
        'tool: mass and centre of mass of what a force-torque sensor carries',
    )
    add_options(parser, RobotOptions)
    parser.add_argument(
        '--output',
        type=any_path,
        metavar='FILE',
        help='the YAML file to write (default: motors-ROBOT.yaml, tool-ROBOT.yaml)',
    )
    parser.add_argument(
        '--bag',
        action='append',
        default=[],
        metavar='BAG',
        help='use this recording, move nothing; may be repeated',
        type=given,
    )
    parser.add_argument(
        '--joint-topic',
        default='',
        metavar='TOPIC',
        help='joint states of the bags (default: the only joint_states)',
    )
    add_options(
        parser.add_argument_group('joints'), JointsOptions, ('has_torque_sensors', 'max_gap')
    )
    motion = parser.add_argument_group('moving the robot')
    hidden = ('period', 'harmonics', 'acceleration', 'self_clearance')
    add_options(motion, MotionOptions, hidden, {'range_share': '--range'})
    motion.add_argument('--yes', action='store_true', help='move without asking')
    tool = parser.add_argument_group('tool')
    add_options(tool, ToolOptions)
    tool.add_argument(
        '--move',
        action='store_true',
        help='go to the poses; else the user moves the arm from one to the next',
    )
    tool.add_argument(
        '--reaction',
        action='store_true',
        help='the sensor at rest reads the weight pointing up (default: what gives a mass above 0)',
    )


def run(args: argparse.Namespace) -> int:
    """Identifies, prints the result, and writes the file; returns 1 if a motion ended early.

    Raises:
        SetupError: an argument, or the robot's topics, cannot be used.
        RobotError: no motion keeps clear of table and limits.
        BagError: a bag cannot be read.
    """
    return _joints(args) if args.what == 'joints' else _tool(args)


def _output(args: argparse.Namespace, kind: str, robot: Robot) -> Path:
    return writable(args.output or Path(f'{kind}-{robot.name}.yaml'))


def writable(path: Path) -> Path:
    """Returns the path, which can be written: a wrong one must not cost minutes of motion.

    Raises:
        SetupError: it cannot.
    """
    check_folder(path.parent, '--output')
    make_folder(path.parent, '--output')
    return check_file(path, '--output')


# joints


def _joints(args: argparse.Namespace) -> int:
    from dataclasses import replace

    from frame_ros.bags.joint_recordings import read_joints
    from frame_ros.cli.identify.kept_recording import kept_recording
    from frame_ros.cli.identify.motion import record_joints
    from frame_ros.robots.dynamics import RobotDynamics
    from frame_ros.sensing.contact.joints.fitting.identification import identify_joints
    from frame_ros.sensing.contact.joints.motor_model import save_motors

    motion = from_arguments(MotionOptions, args)
    options = from_arguments(JointsOptions, args)
    robot = load_robot(from_arguments(RobotOptions, args).robot)
    dynamics = RobotDynamics(robot, options.joints or None, tool=_payload(options.payload))
    options = evolved(options, has_torque_sensors=robot.profile.has_torque_sensors)
    path = _output(args, 'motors', robot)

    def identify(recording: JointRecording, source: str) -> None:
        identification = identify_joints(dynamics, recording, options, source)
        print_joints(identification)
        save_motors(replace(identification.motors, arm=options.arm), path)
        print(f'\nwritten to {path}; the contact node takes it as joints.motors_file')

    if args.bag:
        names = ', '.join(Path(b).name for b in args.bag)
        recording = read_joints(args.bag, dynamics.joint_names, args.joint_topic, robot.continuous)
        identify(recording, f'frame-ros identify joints, bag {names}')
        return 0
    with kept_recording('joints', robot.name, path) as kept:
        found = record_joints(motion, dynamics, kept.bag, args.yes)
        if found is None:
            return 1
        identify(found, 'frame-ros identify joints, on the robot')
        kept.is_used = True
    return 0


def _payload(text: str) -> Payload | None:
    """Returns the payload of LINK,KG,X,Y,Z; None of an empty text."""
    from frame_ros.robots.dynamics import Payload

    if not text:
        return None
    link, *numbers = text.split(',')
    try:
        mass, x, y, z = map(float, numbers)
    except ValueError as error:
        raise SetupError(f'--payload is {text!r}; LINK,KG,X,Y,Z is expected') from error
    return Payload(link, mass, (x, y, z))


def print_joints(found: JointIdentification) -> None:
    """Prints a table with a row per joint, and the values that are uncertain."""
    from frame_ros.sensing.contact.joints.fitting.joint_fit import explains_little

    motors = found.motors
    print(
        f'{motors.robot}: {found.duration:.0f} s at {motors.sample_rate:.0f} Hz, velocities '
        f'{"from the messages" if motors.has_velocities else "by differences"}, '
        f'{100 * found.left_out:.1f} % outliers left out'
    )
    print(
        f'dry friction turns round over {motors.presliding:g} rad; observer gain '
        f'{motors.gain:g} 1/s'
    )
    if motors.is_supply_current:
        print(
            f'efforts are currents of the supply: the torque goes with their root (back EMF '
            f'{motors.back_emf:g} sqrt(A) s/rad)'
        )
    print()
    rows: list[tuple[str, ...]] = [
        ('joint', 'effort scale', 'coulomb', 'viscous', 'armature', 'cond', 'residual rms before',
         'after', 'threshold at rest'),
        ('', 'N m per unit', 'N m', 'N m s/rad', 'kg m^2', '', 'N m', 'N m', 'N m'),
    ]  # fmt: skip
    at_rest = motors.threshold_base + motors.threshold_reversal
    for joint, threshold in zip(found.joints, at_rest, strict=True):
        cells = (
            _with_error(joint.values[name], joint.standard_errors[name])
            for name in ('effort_scale', 'coulomb', 'viscous', 'armature')
        )
        errors = (f'{value:.3f}' for value in (joint.rms_before, joint.rms_after, threshold))
        rows.append((joint.name, *cells, f'{joint.condition:.0f}', *errors))
    print(format_table(rows))
    for joint in found.joints:
        for name, why in joint.not_identifiable.items():
            print(f'not identifiable: {joint.name} {name.replace("_", " ")}: {why}')
    for joint, threshold in zip(found.joints, at_rest, strict=True):
        if explains_little(joint, motors.has_torque_sensors):
            print(f'hardly explained: {joint.name}: {_little(joint, float(threshold))}')


def _little(joint: JointFit, threshold: float) -> str:
    share = max(1.0 - joint.rms_after / joint.rms_before, 0.0)
    return (
        f'the fit explains {100 * share:.0f} % of {joint.rms_before:.3g} N m; friction or masses '
        f'differ from the model, and below {threshold:.2g} N m no contact is felt. Check the tool '
        "(--payload), that the driver's efforts have the arm's weight in them, and that nothing "
        'touched the arm, and identify again'
    )


def _with_error(value: float, error: float) -> str:
    return f'{value:.3g}' if math.isnan(error) else f'{value:.3g} +- {error:.1g}'


# tool


def _tool(args: argparse.Namespace) -> int:
    from frame_ros.cli.identify.kept_recording import kept_recording
    from frame_ros.cli.identify.motion import collect_poses

    motion = from_arguments(MotionOptions, args)
    options = from_arguments(ToolOptions, args)
    name = from_arguments(RobotOptions, args).robot
    robot = load_robot(name)
    link = options.sensor_link or robot.profile.sensor_link
    if link is None:
        raise SetupError(f'the profile of {robot.name} names no sensor link: give --sensor-link')
    robot = load_robot(name, link)
    path = _output(args, 'tool', robot)
    if args.bag:
        return _identify_tool(args, options, robot, link, path, _bag_poses(args, options, robot))
    with kept_recording('tool', robot.name, path) as kept:
        poses = collect_poses(options, motion, robot, kept.bag, args.move, args.yes)
        status = _identify_tool(args, options, robot, link, path, poses)
        kept.is_used = status == 0
    return status


def _identify_tool(
    args: argparse.Namespace,
    options: ToolOptions,
    robot: Robot,
    link: str,
    path: Path,
    poses: list[StillPose],
) -> int:
    """Returns 1 if there are too few poses."""
    from frame_ros.sensing.contact.wrench.tool_file import ToolMount
    from frame_ros.sensing.contact.wrench.tool_identification import too_few

    if len(poses) < FEWEST_POSES:
        print(too_few(len(poses)), file=sys.stderr)
        return 1
    # Without a mount the frame of the wrench says where the sensor is, not this file.
    is_given = not vars(args).keys().isdisjoint(('mount_xyz', 'mount_rpy'))
    (r, p, y), xyz = options.mount_rpy, options.mount_xyz
    mount = ToolMount(link, (r, p, y), (xyz[0], xyz[1], xyz[2]) if is_given else None)
    rotations = link_rotations(robot, poses) @ mount.pose().rotation
    fit, is_reaction = _fit_either_way(rotations, poses, args.reaction)
    print_tool(fit, str(mount))
    fit.tool()  # raises where the poses do not determine it
    if why := why_not(robot, rotations, poses, fit, mount, is_reaction, options.most_residual):
        raise SetupError(f'{why}. Nothing is written')
    _write_tool(path, robot, fit, mount)
    if is_reaction:
        print('the sensor reads the weight pointing up: set wrench.is_force_on_tool to false, too')
    return 0


def link_rotations(robot: Robot, poses: list[StillPose]) -> Array:
    """Returns (K, 3, 3) of the robot's tip, which is the sensor's link, in the base frame."""
    from scipy.spatial.transform import Rotation

    quaternions = [robot.forward(pose.positions)[1] for pose in poses]
    found: Array = Rotation.from_quat(quaternions).as_matrix()
    return found


def _fit_either_way(
    rotations: Array, poses: list[StillPose], is_reaction: bool
) -> tuple[ToolFit, bool]:
    """Returns the tool, and True if the sensor reads the reaction: a mass below 0 with one sign is
    above it with the other.
    """
    try:
        return fit_poses(rotations, poses, not is_reaction), is_reaction
    except ValueRangeError:
        with contextlib.suppress(ValueRangeError):
            return fit_poses(rotations, poses, is_reaction), not is_reaction
        raise


def why_not(
    robot: Robot,
    rotations: Array,
    poses: list[StillPose],
    fit: ToolFit,
    mount: ToolMount,
    is_reaction: bool,
    most_residual: float | None,
) -> str:
    """Returns why the tool is not that of the readings, with the mount that would be right."""
    from frame_ros.sensing.contact.wrench.sensor_rotation import fit_sensor_rotation
    from frame_ros.sensing.contact.wrench.tool_fit_check import is_turned, misfit

    wrenches = wrenches_of(poses)
    turned = fit_sensor_rotation(rotations, wrenches, is_force_on_tool=not is_reaction)
    why = misfit(fit, poses, turned, most_residual)
    if not why or turned is None or not is_turned(fit, poses, turned):
        return why
    return f'{why}; {_right_mount(robot, mount, turned)}'


def _right_mount(robot: Robot, mount: ToolMount, turned: SensorRotation) -> str:
    """Returns the options with which the readings fit."""
    import numpy as np

    from frame_ros.sensing.contact.sensor_mount import SensorMount, links_with_axes
    from frame_ros.sensing.contact.wrench.sensor_rotation import rpy_of

    right = SensorMount(mount.link, mount.pose().rotation @ turned.rotation, np.zeros(3))
    within = max(math.radians(1.0), 3.0 * turned.error)
    links = links_with_axes(robot, right, within)
    same = f'these are the axes of {", ".join(links)} (--sensor-link), else ' if links else ''
    angles = ','.join(f'{angle + 0.0:.4f}' for angle in rpy_of(right.rotation).round(4))
    return (
        f'{same}give --sensor-link {mount.link} --mount-rpy={angles} (the contact node has it as '
        'wrench.mount_link and wrench.mount_rpy)'
    )


def _bag_poses(args: argparse.Namespace, options: ToolOptions, robot: Robot) -> list[StillPose]:
    from frame_ros.bags.joint_recordings import read_wrenches
    from frame_ros.sensing.contact.wrench.still_poses import StillPoses

    still = StillPoses(joint_names=robot.joint_names, continuous=robot.continuous)
    rows = read_wrenches(
        args.bag, robot.joint_names, args.joint_topic, options.wrench_topic, robot.continuous
    )
    for stamp, positions, wrench in rows:
        if positions is not None:
            still.add_joints(stamp, positions)
        elif wrench is not None:
            still.add_wrench(stamp, wrench)
    return still.poses


def wrenches_of(poses: list[StillPose]) -> Array:
    """Returns (K, 6) N and N m."""
    import numpy as np

    return np.array([pose.wrench for pose in poses])


def fit_poses(rotations: Array, poses: list[StillPose], is_force_on_tool: bool) -> ToolFit:
    """Fits the tool, in the axes of a sensor with these rotations (K, 3, 3)."""
    from frame_ros.sensing.contact.wrench.tool_identification import fit_tool

    wrenches = wrenches_of(poses)
    return fit_tool(rotations, wrenches, is_force_on_tool=is_force_on_tool, is_robust=True)


def print_tool(fit: ToolFit, link: str) -> None:
    """Prints the tool, with standard errors, and the residual of each pose."""
    print(f'tool in the axes of {link}, from {counted(len(fit.residuals), "pose")}')
    print(f'  mass             {fit.mass:.4f} +- {fit.mass_error:.2g} kg')
    centre = ', '.join(
        f'{v:.4f} +- {e:.1g}' for v, e in zip(fit.centre_of_mass, fit.centre_error, strict=True)
    )
    print(f'  centre of mass   {centre} m')
    bias = ', '.join(f'{value:.3f}' for value in fit.bias)
    print(f'  bias             {bias} N, N m')
    print(
        f'  residuals        {fit.force_rms:.3f} N, {fit.torque_rms:.4f} N m rms; condition '
        f'{fit.condition:.1f}'
    )
    print('  pose  weight  residual force, N          residual torque, N m')
    for number, (row, weight) in enumerate(zip(fit.residuals, fit.weights, strict=True), 1):
        force = ' '.join(f'{value:+7.3f}' for value in row[:3])
        torque = ' '.join(f'{value:+8.4f}' for value in row[3:])
        print(f'  {number:4}   {weight:5.2f}  {force}    {torque}')
    for what in fit.undetermined:
        print(f'not identifiable: {what}')


def _write_tool(path: Path, robot: Robot, fit: ToolFit, mount: ToolMount) -> None:
    from frame_ros.sensing.contact.wrench.tool_file import write_tool

    comment = (
        f'frame-ros identify tool: {robot.name}, {counted(len(fit.residuals), "pose")}, '
        f'axes of {mount}.\n'
        f'residuals: {fit.force_rms:.3f} N, {fit.torque_rms:.4f} N m rms.'
    )
    write_tool(path, fit.tool(), comment, mount)
    print(f'\nwritten to {path}; the contact node takes it as tool.file')
