# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Motor models, effort to torque and friction losses, as YAML."""

from __future__ import annotations

import datetime
import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import yaml
from numpy.typing import NDArray

from frame_ros.core.errors import SetupError
from frame_ros.core.input_files import read_text
from frame_ros.core.output_files import write_whole
from frame_ros.core.strict_yaml import load_yaml
from frame_ros.robots import load_robot
from frame_ros.robots.profiles import find_profile, simulated_robots
from frame_ros.sensing.contact.joints.motor_choices import GENERIC
from frame_ros.sensing.contact.joints.supply_current import winding_effort

Array = NDArray[np.float64]
WIDER = 4.0  # times the thresholds of motors that are not those of the arm
REST_SPEED = 0.05  # rad/s at which 0.37 is left of the friction that a joint breaks away from
# N m of threshold that other torque sensors need, wrong otherwise than these: with the margin
# more than four waves of a Panda's published accuracy, 0.15, that add up (0.42).
OTHER_SENSORS = 0.4
# rad by which an STS3215's gear gives without load: about a degree, measured by others
# (TheRobotStudio/SO-ARM100, issue 134). Joints of a real arm that stood have swung by 11 mrad.
SERVO_PLAY = 0.0175
OTHER_FRICTION = 0.35  # N m by which the friction of one servo's gear differs from another's
# Column -> (unit, whether it may be negative). rad and N m are m and N of a joint that slides.
COLUMNS = {
    'effort_scale': ('N m per unit of joint_states.effort', True),
    'coulomb': ('N m, friction at any speed', False),
    'stribeck': ('N m, how much more of it there is near rest', False),
    'viscous': ('N m s/rad, friction per speed, including losses between samples', True),
    'load_friction': ('N m per N m of the motor, friction of loaded gears', False),
    'load_stribeck': ('N m per N m of the motor, how much more of it there is near rest', False),
    'weight_friction': (
        'N m per N m that holds the links, friction of gears that bear them',
        False,
    ),
    'rest': ('N m, friction that the joint breaks away from', False),
    'load_rest': ('N m per N m of the motor, how much more of it there is with load', False),
    'weight_rest': (
        'N m per N m that holds the links, how much more of it there is with weight',
        False,
    ),
    'offset': ('N m, at zero speed', True),
    'armature': ('kg m^2 of rotor and gears at the joint', True),
    'threshold_base': ('N m, largest residual of free motion, with margin', False),
    'threshold_reversal': ('N m, added by rest and reversals', False),
    'threshold_velocity': ('N m s/rad, added by speed', False),
    'threshold_acceleration': ('N m s^2/rad, added by acceleration', False),
    'residual_rms': ('N m, not explained by the model in free motion', False),
    'off_against': (
        'rad, farthest that a joint was off its goal for 0.3 s, driven against its weight; 0: '
        'unknown',
        False,
    ),
    'off_with': ('rad, the same, driven with its weight', False),
    'off_weight': ('N m, largest weight of its links meanwhile', False),
    'stiffness': ('N m/rad, torque of the motor per distance from its goal', False),
}
REQUIRED = ('effort_scale',)
THRESHOLDS = ('base', 'reversal', 'velocity', 'acceleration')


@dataclass(frozen=True)
class MotorModel:
    """The torque that reaches the links from the motors' effort, (N,) N m:

        tau = effort_scale effort - offset - viscous dq
              - s (coulomb + load_friction |m| + weight_friction |w|
                   + exp(-(dq / stribeck_velocity)^2) (stribeck + load_stribeck |m|))

    with m = effort_scale effort - offset (`motor_torque`), which a supply's current gives by its
    root, w what holds the links (`LinkLoad`), and s, from -1 to 1, the direction of dry friction,
    see `StickingFriction`, which also says what holds a joint that sticks. At rest the bracket is
    at least rest + load_rest |m| + weight_rest |w|, from which a joint breaks away, fading over
    REST_SPEED. Gears lose by the motor's torque or by the weight: an identification finds which.

    The armature is rigid-body dynamics: give it to `RobotDynamics`. Each array is (N,), in the
    order of `joint_names`; the units are those of COLUMNS. Behind torque sensors s is that of
    `JointFriction`.

    Attributes:
        robot: whose motors. presliding: rad over which friction turns round. stribeck_velocity:
        rad/s. gain: 1/s, of the observer that the thresholds were identified with. mass_scales:
        link -> factor of the URDF's mass. has_velocities: whether the identification took
        velocities from the messages. sample_rate: Hz of it. date: of it, ISO 8601. source: where
        the numbers come from. is_simulated: whether that is a simulation, so that they are of no
        real arm. play: rad by which a joint that stands may move without load. effort_unit: of
        joint_states.effort. is_supply_current: whether that is the current of the supply, not of
        the winding, so that `winding_effort` of it stands for effort above, and effort_scale is per
        root of its unit. back_emf: b of that, sqrt(A) s/rad. has_torque_sensors: whether efforts
        are measured behind the gears, so that friction is that between sensor and links alone. arm:
        name that the user gave it; '': none.
        is_generic: whether it stands for another arm than its own, with wide thresholds; no file
        says so.

    Raises:
        SetupError: a value that cannot be, or a column of another length.
    """

    robot: str
    joint_names: tuple[str, ...]
    effort_scale: Array
    coulomb: Array = field(default_factory=lambda: np.zeros(0))
    stribeck: Array = field(default_factory=lambda: np.zeros(0))
    viscous: Array = field(default_factory=lambda: np.zeros(0))
    load_friction: Array = field(default_factory=lambda: np.zeros(0))
    load_stribeck: Array = field(default_factory=lambda: np.zeros(0))
    weight_friction: Array = field(default_factory=lambda: np.zeros(0))
    rest: Array = field(default_factory=lambda: np.zeros(0))
    load_rest: Array = field(default_factory=lambda: np.zeros(0))
    weight_rest: Array = field(default_factory=lambda: np.zeros(0))
    offset: Array = field(default_factory=lambda: np.zeros(0))
    armature: Array = field(default_factory=lambda: np.zeros(0))
    threshold_base: Array = field(default_factory=lambda: np.zeros(0))
    threshold_reversal: Array = field(default_factory=lambda: np.zeros(0))
    threshold_velocity: Array = field(default_factory=lambda: np.zeros(0))
    threshold_acceleration: Array = field(default_factory=lambda: np.zeros(0))
    residual_rms: Array = field(default_factory=lambda: np.zeros(0))
    off_against: Array = field(default_factory=lambda: np.zeros(0))
    off_with: Array = field(default_factory=lambda: np.zeros(0))
    off_weight: Array = field(default_factory=lambda: np.zeros(0))
    stiffness: Array = field(default_factory=lambda: np.zeros(0))
    presliding: float = 0.005
    stribeck_velocity: float = 0.1
    gain: float = 25.0
    play: float = 0.0
    mass_scales: Mapping[str, float] = field(default_factory=dict)
    has_velocities: bool = True
    sample_rate: float = math.nan
    date: str = ''
    source: str = ''
    is_simulated: bool = False
    effort_unit: str = 'N m'
    is_supply_current: bool = False
    back_emf: float = 0.0
    has_torque_sensors: bool = False
    arm: str = ''
    is_generic: bool = False

    def __post_init__(self) -> None:
        names = self.joint_names
        if not names or len(set(names)) != len(names):
            raise SetupError(f'a motor model needs joints, each once, not {list(names)}')
        for name, (unit, may_be_negative) in COLUMNS.items():
            values = np.asarray(getattr(self, name), np.float64)
            if values.size == 0 and name not in REQUIRED:
                values = np.zeros(len(names))
            if values.shape != (len(names),) or not np.isfinite(values).all():
                raise SetupError(
                    f'{name} is {values.tolist()}; {len(names)} finite numbers are needed ({unit})'
                )
            if not may_be_negative and (values < 0.0).any():
                raise SetupError(f'{name} is {values.tolist()}; none may be negative ({unit})')
            object.__setattr__(self, name, values)
        if (self.effort_scale == 0.0).any():
            raise SetupError(f'effort_scale is {self.effort_scale.tolist()}; 0 measures nothing')
        for name in ('presliding', 'stribeck_velocity', 'gain'):
            if not 0.0 < getattr(self, name) < math.inf:
                raise SetupError(f'{name} is {getattr(self, name)}; it must be positive')
        for name in ('back_emf', 'play'):
            if not 0.0 <= getattr(self, name) < math.inf:
                raise SetupError(f'{name} is {getattr(self, name)}; it must not be negative')

    def motor_torque(self, effort: Array, velocity: Array) -> Array:
        """Returns m, (..., N) N m of the motors, of efforts and speeds rad/s."""
        if self.is_supply_current:
            effort = winding_effort(effort, velocity, self.back_emf)
        result: Array = self.effort_scale * effort - self.offset
        return result

    def dry_friction(self, velocity: Array, load: Array, weight: Array) -> Array:
        """Returns (N,) N m of dry friction at speeds rad/s and sizes of the motors' torques and of
        what holds the links, N m; at a speed of 0 what a joint can hold.
        """
        near_rest = velocity / self.stribeck_velocity
        near_rest *= near_rest
        result: Array = self.load_stribeck * load
        result += self.stribeck
        result *= np.exp(-near_rest)
        result += self.load_friction * load
        result += self.weight_friction * weight
        result += self.coulomb
        near_rest = velocity / REST_SPEED
        near_rest *= near_rest
        at_rest: Array = self.load_rest * load
        at_rest += self.weight_rest * weight
        at_rest += self.rest
        at_rest *= np.exp(-near_rest)
        return np.maximum(result, at_rest, out=result)

    @property
    def has_friction(self) -> bool:
        """Returns whether gears rub; False if the efforts are measured behind them."""
        if self.has_torque_sensors:
            return False
        dry = (
            self.coulomb, self.stribeck, self.load_friction, self.load_stribeck,
            self.weight_friction,
        )  # fmt: skip
        return any(bool(column.any()) for column in dry)

    def threshold(self, activity: Array) -> Array:
        """Returns (N,) N m, the expected residual of free motion.

        activity: (3, N), see `activity.JointActivity`.
        """
        result: Array = self.threshold_base + self.threshold_reversal * activity[0]
        result += self.threshold_velocity * activity[1]
        result += self.threshold_acceleration * activity[2]
        return result

    def as_generic(self) -> MotorModel:
        """Returns the model for an arm of the same kind whose own motors are not known: thresholds
        are wider, by a factor and, where gears rub, by how much the friction of gears differs. How
        far off its goals it is in free motion is not known: gains, friction and gears are its own.
        """
        wider = {f'threshold_{n}': WIDER * getattr(self, f'threshold_{n}') for n in THRESHOLDS}
        wider |= {name: np.zeros_like(self.offset) for name in ('off_against', 'off_with')}
        if self.has_friction:
            wider['threshold_base'] = wider['threshold_base'] + OTHER_FRICTION
            return replace(self, is_generic=True, play=max(self.play, SERVO_PLAY), **wider)
        return replace(self, is_generic=True, **wider)

    def for_other_sensors(self) -> MotorModel:
        """Returns the model for an arm of the same kind with other torque sensors behind its gears:
        without the offsets of these, and with thresholds that others need.
        """
        base = np.maximum(self.threshold_base, OTHER_SENSORS)
        return replace(self, offset=np.zeros_like(self.offset), threshold_base=base)

    def of(self, joint_names: Sequence[str]) -> MotorModel:
        """Returns the model of some of the joints, in the order given.

        Raises:
            SetupError: it does not have a joint.
        """
        if tuple(joint_names) == self.joint_names:
            return self
        if missing := [name for name in joint_names if name not in self.joint_names]:
            raise SetupError(
                f'the motor model of {self.robot} has no joint {missing[0]!r}; it has '
                f'{", ".join(self.joint_names)}'
            )
        rows = [self.joint_names.index(name) for name in joint_names]
        columns = {name: getattr(self, name)[rows] for name in COLUMNS}
        return replace(self, joint_names=tuple(joint_names), **columns)


def load_motors(path_or_robot: str | os.PathLike[str]) -> MotorModel:
    """Reads a motor model from a YAML file, or that of a simulated robot by name from
    config/motors.

    Raises:
        SetupError: there is no such file, or it is not a motor model.
    """
    path = find_motors(os.fspath(path_or_robot))
    try:
        content = load_yaml(read_text(path))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise SetupError(f'the motor model {path} cannot be read: {error}') from error
    try:
        return _from_content(content)
    except SetupError as error:
        raise SetupError(f'{path}: {error}') from error


def own_motors(path: str | os.PathLike[str]) -> MotorModel:
    """Reads the motor model of a real arm.

    Raises:
        SetupError: as `load_motors`, or it was identified in simulation.
    """
    motors = load_motors(path)
    if motors.is_simulated:
        raise SetupError(
            f'{path} is of a simulated {motors.robot} ({motors.source.rstrip(".")}), and says '
            "nothing of a real arm's motors: identify yours with `frame-ros identify joints "
            f'--robot {motors.robot}`, and give the file that it writes as joints.motors_file; '
            f"until then '{GENERIC}' takes these numbers with wide thresholds"
        )
    return motors


def find_motors(path_or_robot: str) -> Path:
    """Returns the file of a motor model, from its path or the robot's name.

    Raises:
        SetupError: there is none.
    """
    path = Path(path_or_robot).expanduser()
    if path.is_file():
        return path
    if path_or_robot in simulated_robots():
        return _of_simulation(path_or_robot)
    raise SetupError(
        f'no motor model {path_or_robot!r}: give the file that `frame-ros identify joints` wrote, '
        f'or the name of a simulated robot: {", ".join(simulated_robots())}'
    )


def simulated_motors(robot: str) -> MotorModel:
    """Reads the motor model of a simulated robot, by its name or profile. Its file was identified
    on one of them; where efforts are measured behind the gears, each has sensors of its own.

    Raises:
        FrameRosError: there is none.
    """
    found = load_motors(_of_simulation(robot))
    return found if found.has_friction else found.for_other_sensors()


def generic_motors(robot: str) -> MotorModel:
    """Returns motors, with wide thresholds, for an arm whose own are not identified.

    Raises:
        FrameRosError: its profile names none, or those of a robot with other joints.
    """
    named = find_profile(robot).generic_motors
    if not named:
        return simulated_motors(robot).as_generic()
    found, model = simulated_motors(named).as_generic(), load_robot(robot)
    if len(found.joint_names) != len(model.joint_names):
        raise SetupError(
            f'generic_motors of {model.name} is {named}, whose motors have '
            f'{len(found.joint_names)} joints, not {len(model.joint_names)}'
        )
    return replace(found, robot=model.name, joint_names=model.joint_names)


def _of_simulation(robot: str) -> Path:
    profile = find_profile(robot)
    if profile.simulation is None or not profile.simulation.motors:
        raise SetupError(
            f'the profile of {robot!r} names no motors of its simulation; those of the arm itself '
            'are found by `frame-ros identify joints`'
        )
    return profile.path(profile.simulation.motors)


def _from_content(content: Any) -> MotorModel:
    if not isinstance(content, dict) or not isinstance(content.get('joints'), dict):
        raise SetupError('a motor model is a map with robot and joints, each joint with its values')
    joints = content['joints']
    general: dict[str, Any] = {
        name: value for name, value in content.items() if name not in ('joints', 'robot')
    }
    known = {'presliding', 'stribeck_velocity', 'gain', 'mass_scales', 'has_velocities',
             'sample_rate', 'date', 'source', 'is_simulated', 'effort_unit', 'is_supply_current',
             'back_emf', 'play', 'has_torque_sensors', 'arm'}  # fmt: skip
    if unknown := sorted(set(general) - known, key=str):
        raise SetupError(f'{unknown[0]!r} is not known; known: {", ".join(sorted(known))}')
    columns = {name: [] for name in COLUMNS}  # type: dict[str, list[float]]
    for joint, values in joints.items():
        if not isinstance(values, dict):
            raise SetupError(f'joint {joint!r} must have a map of {", ".join(COLUMNS)}')
        if wrong := sorted(set(values) - set(COLUMNS), key=str):
            raise SetupError(f'joint {joint!r} has {wrong[0]!r}; known: {", ".join(COLUMNS)}')
        if missing := [name for name in REQUIRED if name not in values]:
            raise SetupError(f'joint {joint!r} lacks {missing[0]} ({COLUMNS[missing[0]][0]})')
        for name, column in columns.items():
            column.append(_number(values.get(name, 0.0), f'{joint}.{name}'))
    for name in ('presliding', 'stribeck_velocity', 'gain', 'sample_rate', 'back_emf', 'play'):
        if general.get(name) is None:
            general.pop(name, None)
        else:
            general[name] = _number(general[name], name)
    scales = general.pop('mass_scales', None) or {}
    if not isinstance(scales, dict):
        raise SetupError(f'mass_scales is {scales!r}; link: factor is expected')
    general['mass_scales'] = {link: _number(value, link) for link, value in scales.items()}
    general['date'] = str(general.get('date', ''))
    general['arm'] = str(general.get('arm') or '')
    for name in ('is_simulated', 'is_supply_current', 'has_torque_sensors'):
        if not isinstance(general.get(name, False), bool):
            raise SetupError(f'{name} is {general[name]!r}; true or false is expected')
    arrays: dict[str, Any] = {name: np.array(column) for name, column in columns.items()}
    return MotorModel(
        str(content.get('robot', '')), tuple(map(str, joints)),
        **arrays, **general,
    )  # fmt: skip


def _number(value: Any, what: str) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise SetupError(f'{what} is {value!r}; a number is expected')
    return float(value)


def save_motors(motors: MotorModel, path: str | os.PathLike[str]) -> None:
    """Writes a motor model as YAML, with its units in comments.

    Raises:
        SetupError: the file cannot be written.
    """
    general: dict[str, Any] = {
        'robot': motors.robot,
        'arm': motors.arm,
        'date': motors.date or datetime.date.today().isoformat(),
        'source': motors.source,
        'is_simulated': motors.is_simulated,
        'effort_unit': motors.effort_unit,
        'is_supply_current': motors.is_supply_current,
        'back_emf': motors.back_emf,
        'has_torque_sensors': motors.has_torque_sensors,
        'sample_rate': None if math.isnan(motors.sample_rate) else round(motors.sample_rate, 3),
        'has_velocities': motors.has_velocities,
        'presliding': motors.presliding,
        'stribeck_velocity': motors.stribeck_velocity,
        'gain': motors.gain,
        'play': motors.play,
        'mass_scales': {link: float(value) for link, value in motors.mass_scales.items()},
    }
    joints = {
        joint: {name: float(f'{getattr(motors, name)[row]:.6g}') for name in COLUMNS}
        for row, joint in enumerate(motors.joint_names)
    }
    comments = [f'#   {name}: {unit}' for name, (unit, _) in COLUMNS.items()]
    lines = [
        '# Motors of a robot: effort to torque, friction, and residuals of the model.',
        '# sample_rate: Hz; presliding: rad; stribeck_velocity: rad/s; gain: 1/s of the observer.',
        '# Per joint (N and m in place of N m and rad if it is prismatic):',
        *comments,
        yaml.safe_dump(general, sort_keys=False).rstrip(),
        yaml.safe_dump({'joints': joints}, sort_keys=False).rstrip(),
    ]
    target = Path(path).expanduser()
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise SetupError(f'the motor model cannot be written: {error}') from error
    write_whole(target, '\n'.join(lines) + '\n', 'the motor model')
