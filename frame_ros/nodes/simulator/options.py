# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The simulator node's options."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from operator import attrgetter
from typing import Any

from frame_ros.core.options import changed, flatten, group, option, options, rule
from frame_ros.core.time import SECOND
from frame_ros.robots.options import FrameOptions, RobotOptions
from frame_ros.scenes.simulation.gear_friction import FRICTION_SETS
from frame_ros.scenes.simulation.noise.franka_estimates import EstimateOptions
from frame_ros.scenes.simulation.noise.options import NoiseOptions
from frame_ros.scenes.simulation.scene_robot import SceneRobot, scene_robot
from frame_ros.scenes.simulation.timing import FAST_TICK, TICK

OWN = -1.0  # the robot's own value
FAST_RATE = 300.0  # Hz


def stream_rate(default: float, text: str) -> Any:
    """Declares the rate of a stream."""
    besides = (OWN,) if default == OWN else ()
    return option(default, f'rate of {text}', unit='Hz', at_least=0.0, besides=besides)


def at_ticks(name: str) -> Callable[[Any], bool]:
    """The rule that a stream has at most one sample in a tick."""

    @rule(name, '0 (off) to {self.complete.tick_rate:g} Hz')
    def is_met(self: SimulatorOptions) -> bool:
        return bool(attrgetter(name)(self.complete) <= self.complete.tick_rate)

    return is_met


def at_timesteps(name: str) -> Callable[[Any], bool]:
    """The rule that samples of a stream within a tick are whole numbers of timesteps apart."""

    @rule(
        name,
        '0 (off) to {self.complete.tick_rate:g} Hz, or {self.timestep_rate:g} Hz divided by a '
        'whole number',
    )
    def is_met(self: SimulatorOptions) -> bool:
        found = attrgetter(name)(self.complete)
        if found <= self.complete.tick_rate:
            return True
        steps = self.timestep_rate / found
        return round(steps) > 0 and abs(steps - round(steps)) < 1e-6

    return is_met


@options
class RateOptions:
    """Rates of the streams; 0: off, -1: the robot's own. Joints and wrench may be faster than the
    ticks, which are 100 Hz or 200 Hz: all samples of a tick are sent at its end.
    """

    joints: float = stream_rate(OWN, 'joint_states')
    wrench: float = stream_rate(OWN, 'wrench')
    franka: float = stream_rate(OWN, 'franka_robot_state_broadcaster/*, of a Franka arm')
    truth: float = stream_rate(50.0, 'ground_truth/*')


@options
class ImageOptions:
    """Images of the cameras."""

    rate: float = stream_rate(20.0, 'front/image_raw')
    wrist_rate: float = stream_rate(OWN, 'wrist/image_raw; -1: the same rate')
    width: int = option(320, 'pixels in a row', at_least=16, at_most=1280)
    height: int = option(240, 'pixels in a column', at_least=16, at_most=960)


@options
class DepthOptions:
    """Depth of the cameras, of the instant of an image wherever both are due."""

    rate: float = stream_rate(10.0, 'front/depth/image_raw')
    wrist_rate: float = stream_rate(OWN, "wrist/depth/image_raw; -1: the robot's own")


@options
class SimulatorOptions(FrameOptions, RobotOptions):
    """Simulator node: a robot at a table, in real time."""

    seed: int = option(
        0,
        'seed of the first scene; the service reset_scene draws others; not used with scenes_file',
        at_least=0,
    )
    scenes_file: str = option(
        '',
        'scene file, JSON or YAML, whose scenes are run in turn: the service reset_scene goes to '
        "the next, or to number seed + 1, after the last to the first; '': drawn from seeds",
    )
    scene: str = option('1', 'with scenes_file: name of the first scene, or its number from 1')
    interpolation: float = option(
        OWN,
        "time in which the arm's controller goes to a new command in a straight line; -1: the "
        "robot's own",
        unit='s',
        at_least=0.0,
        at_most=1.0,
        besides=(OWN,),
    )
    friction: str = option(
        '',
        "measured friction of the gears of an SO-101's arm, with LeRobot's position gain; motors "
        'must then be identified; none: ideal servos, whose currents alone have friction',
        choices=('', *FRICTION_SETS),
    )
    cameras: tuple[str, ...] = option(('front', 'wrist'), 'cameras that there are')
    viewer: str = option(
        'auto',
        "MuJoCo's window; auto: where there is a display",
        choices=('auto', 'true', 'false'),
    )
    realtime_priority: int = option(
        48,
        "priority of the physics' thread, where the system permits it: no arm waits for a "
        'computer; 0: none',
        at_least=0,
        at_most=99,
    )
    rates: RateOptions = group(RateOptions)
    images: ImageOptions = group(ImageOptions)
    depth: DepthOptions = group(DepthOptions)
    noise: NoiseOptions = group(NoiseOptions)
    estimates: EstimateOptions = group(EstimateOptions)

    @cached_property
    def scene_robot(self) -> SceneRobot:
        """The robot as the scene has it."""
        return scene_robot(self.robot)

    @cached_property
    def complete(self) -> SimulatorOptions:
        """The options with the robot's own values instead of -1."""
        streams = self.scene_robot.streams
        own = {
            'interpolation': streams.interpolation,
            'rates.joints': streams.joints,
            'rates.wrench': streams.wrench,
            'rates.franka': streams.franka,
            'images.wrist_rate': self.images.rate,
            'depth.wrist_rate': streams.wrist_depth,
        }
        given = flatten(self)
        lacking = {name: value for name, value in own.items() if given[name] == OWN}
        return changed(self, lacking) if lacking else self

    @property
    def tick(self) -> int:
        """ns between two looks at the commands; shorter where streams are fast, so that what is
        sampled in a tick waits less for its end. It is a whole number of the physics' timesteps.
        """
        is_fast = max(self.rates.joints, self.rates.wrench) > FAST_RATE
        is_whole = FAST_TICK % round(self.scene_robot.timestep * SECOND) == 0
        return FAST_TICK if is_fast and is_whole else TICK

    @property
    def tick_rate(self) -> float:
        """Ticks per second."""
        return SECOND / self.tick

    @property
    def timestep_rate(self) -> float:
        """Timesteps of the physics per second."""
        return 1.0 / self.scene_robot.timestep

    @property
    def known_cameras(self) -> str:
        """Names of the robot's cameras."""
        return ', '.join(self.scene_robot.cameras)

    def image_rate_of(self, camera: str) -> float:
        """Hz of a camera's images."""
        return self.images.wrist_rate if camera == 'wrist' else self.images.rate

    def depth_rate_of(self, camera: str) -> float:
        """Hz of a camera's depth."""
        return self.depth.wrist_rate if camera == 'wrist' else self.depth.rate

    @rule('friction', "'': scenes of files have ideal servos")
    def _is_of_drawn_scenes(self) -> bool:
        return not (self.friction and self.scenes_file)

    @rule('scene', "'1' without scenes_file, which has the scenes")
    def _has_scene_of_file(self) -> bool:
        return bool(self.scenes_file) or self.scene == '1'

    @rule('cameras', 'some of its cameras: {self.known_cameras}')
    def _has_cameras(self) -> bool:
        return set(self.cameras) <= set(self.scene_robot.cameras)

    @rule('rates.franka', '0: the robot {self.robot} is not a Franka arm')
    def _is_of_franka(self) -> bool:
        return self.complete.rates.franka == 0.0 or self.scene_robot.streams.franka > 0.0

    _joints = at_timesteps('rates.joints')
    _wrench = at_timesteps('rates.wrench')
    _franka = at_ticks('rates.franka')
    _truth = at_ticks('rates.truth')
    _images = at_ticks('images.rate')
    _wrist_images = at_ticks('images.wrist_rate')
    _depth = at_ticks('depth.rate')
    _wrist_depth = at_ticks('depth.wrist_rate')
