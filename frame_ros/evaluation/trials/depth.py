# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Trials of distances from depth cameras in cluttered scenes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from frame_ros.evaluation.trials.campaign import Trial
from frame_ros.robots import load_robot
from frame_ros.robots.link_frames import LinkFrames
from frame_ros.robots.shapes.link_shapes import PlacedShapes, link_shapes
from frame_ros.scenes.generation.free_motion import FreeMotion, MotionStyle
from frame_ros.scenes.simulation.noise.depth_noise import (
    DEPTH_SENSORS,
    DepthNoise,
    DepthNoiseOptions,
)
from frame_ros.scenes.simulation.noise.sensor_noise import JointNoise
from frame_ros.scenes.simulation.simulation import PickPlaceSimulation
from frame_ros.sensing.proximity.depth.camera import DepthCamera
from frame_ros.sensing.proximity.depth.detector import DepthProximity
from frame_ros.sensing.proximity.depth.options import DepthOptions
from frame_ros.sensing.proximity.link_distances import DistanceReading, fuse

Array = NDArray[np.float64]
WIDTH, HEIGHT = 640, 480
CAMERAS = ('front', 'wrist')
CLUTTER = 6  # objects in addition to those of the task
FRAME_PERIOD = 0.7  # s between two frames
# The arm comes near things, and touches none.
STYLE = MotionStyle(reach=0.7, speed=(0.1, 0.5), pause=(0.0, 0.5), clearance=0.005)
TABLE = 0.0  # m, height of the table's top
MARGIN = 0.4  # m around the table that is watched
CEILING = 1.4  # m


class DepthSensing:
    """A scene, its cameras with their noise, and the measured distances."""

    def __init__(self, trial: Trial) -> None:
        self.simulation = simulation = PickPlaceSimulation(trial.seed, robot=trial.robot)
        simulation.add_clutter(trial.seed, CLUTTER)
        robot = load_robot(trial.robot)
        self._frames = LinkFrames(robot, simulation.joint_names)
        self._shapes = link_shapes(robot, simulation.robot.watched_links)
        self._joints = JointNoise(
            1.0 / FRAME_PERIOD, simulation.robot.encoder, len(simulation.joint_names), trial.seed
        )
        workspace = _workspace(simulation)
        self._noise: dict[str, DepthNoise] = {}
        self._sensors: dict[str, DepthProximity] = {}
        self._pictures: dict[str, NDArray[np.uint16]] = {}  # as sensors gave them
        for index, name in enumerate(CAMERAS):
            noise = DEPTH_SENSORS[simulation.robot.cameras[name].depth_sensor]
            lens = simulation.intrinsics(name, WIDTH, HEIGHT)
            camera = DepthCamera(WIDTH, HEIGHT, lens.focal, lens.focal, lens.cx, lens.cy)
            self._noise[name] = DepthNoise(lens, noise, 2 * trial.seed + index)
            settings = DepthOptions(
                surface_height=TABLE, workspace=workspace, depth_noise=expected_noise(noise)
            )
            self._sensors[name] = DepthProximity(camera, settings)
        self._mounts = {name: simulation.camera_mount(name) for name in CAMERAS}
        # Everything in view except the table, which is excluded by its height.
        self.obstacles = (*(n for n in simulation.obstacle_names if n != 'table'), 'cube')

    def measure(self) -> DistanceReading:
        """Returns the cameras' distances at the present state, by noisy joint positions."""
        readings = self.simulation.joint_state()
        positions, _ = self._joints(readings.positions, readings.velocities)
        rotations, translations = self._frames.compute(positions)
        shapes = self._shapes.place(rotations, translations)
        return fuse([self._of_camera(name, shapes, rotations, translations) for name in CAMERAS])

    def _of_camera(
        self, name: str, shapes: PlacedShapes, rotations: Array, translations: Array
    ) -> DistanceReading:
        link, offset, quaternion = self._mounts[name]
        row = self._frames.index(link)
        rotation = rotations[row] @ _matrix(quaternion)
        position = translations[row] + rotations[row] @ offset
        frame = self.simulation.render(name, WIDTH, HEIGHT, with_depth=True)
        assert frame.depth is not None
        picture = self._pictures[name] = self._noise[name](frame.depth, frame.rgb)
        return self._sensors[name].measure(picture, shapes, rotation, position)

    def truth(self) -> tuple[DistanceReading, NDArray[np.bool_]]:
        """Returns true distances of the watched links, and (L,) whether any camera sees the closest
        point on the obstacle and gave a depth there.
        """
        reading = self.simulation.distances_of_links(self.obstacles)
        seen = np.zeros(len(reading.links), bool)
        for name in CAMERAS:
            valid = self._pictures[name] > 0
            seen |= self.simulation.visible(reading, name, WIDTH, HEIGHT, valid=valid)
        return reading, seen


def run(trial: Trial) -> dict[str, Any]:
    """settings: frames.

    Result, a row per frame: truth, measured: m, of the nearest link (measured None: unavailable);
    is_visible: whether a camera sees the closest point of that obstacle, and its sensor gave a
    depth there; unavailable: why. links:
    names; link_truth, link_measured (frames, L) m; link_visible.
    """
    sensing = DepthSensing(trial)
    simulation = sensing.simulation
    rate = simulation.robot.command_rate
    commands = FreeMotion(simulation, trial.seed, rate, STYLE).commands()
    steps = round(1.0 / (rate * simulation.timestep))
    rows: dict[str, list] = {
        name: []
        for name in (
            'truth', 'measured', 'is_visible', 'unavailable',
            'link_truth', 'link_measured', 'link_visible',
        )
    }  # fmt: skip
    links: tuple[str, ...] = ()
    for _ in range(int(trial.settings['frames'])):
        for _ in range(round(FRAME_PERIOD * rate)):
            simulation.step(next(commands), steps)
        measured = sensing.measure()
        truth, seen = sensing.truth()
        nearest = truth.nearest
        assert nearest is not None
        links = truth.links
        order = [measured.links.index(link) for link in links]
        rows['truth'].append(truth.distance)
        rows['measured'].append(measured.distance)
        rows['is_visible'].append(bool(seen[nearest]))
        rows['unavailable'].append(measured.unavailable)
        rows['link_truth'].append(truth.distances)
        rows['link_measured'].append(measured.distances[order])
        rows['link_visible'].append(seen)
    simulation.close()
    return {'links': links, **rows}


def expected_noise(sensor: DepthNoiseOptions) -> float:
    """m at 1 m of depth, for `depth_noise`: three times the RMS of the sensor's data sheet, and at
    least the default, which also covers what of the arm stands out of its collision shapes.
    """
    datasheet = 3.0 * sensor.subpixel / (sensor.native_focal * sensor.baseline)
    return max(DepthOptions().depth_noise, datasheet)


def _workspace(
    simulation: PickPlaceSimulation,
) -> tuple[tuple[float, float, float], tuple[float, float, float]]:
    """Returns the box around the table: walls and floor of the room are further away."""
    table = simulation.robot.table
    (x, y), (length, width) = table.centre[:2], table.size[:2]
    reach_x, reach_y = length / 2 + MARGIN, width / 2 + MARGIN
    return (x - reach_x, y - reach_y, -0.2), (x + reach_x, y + reach_y, CEILING)


def _matrix(quaternion: Array) -> Array:
    """(3, 3) of a quaternion xyzw."""
    from scipy.spatial.transform import Rotation

    return np.asarray(Rotation.from_quat(quaternion).as_matrix())
