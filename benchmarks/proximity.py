#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Cost and accuracy of distances from a depth image.

Frames are of simulated robots among clutter, 640 x 480 pixels, with the noise of a depth camera.
Timed, on one thread of a shell with OMP_NUM_THREADS=1:

- scan: from the raw image to the least distance of every link over all 307,200 pixels, with
  self-filter, against 9 capsules (FR3) and against the exact shapes of the links;
- full scan: the same, every pixel against every shape, in numpy;
- measure: all that DepthProximity does, with smoothing, filter of edges, crop and visibility.

The loops are compiled before anything is timed. Every frame's distances must be those of the full
scan. Errors are of `measure` against the true distances, for obstacles whose nearest point the
camera sees.

    OMP_NUM_THREADS=1 python benchmarks/proximity.py [--frames 40] [--repeats 5] [--json]
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from dataclasses import dataclass
from typing import Any

import cv2
import numpy as np
from parts.bars import Bars, parse

from frame_ros.robots import Capsule, load_robot
from frame_ros.robots.link_frames import LinkFrames
from frame_ros.robots.shapes.link_shapes import (
    LinkShapes,
    PlacedShapes,
    Shape,
    arranged,
    capsule_shape,
    enclosing_capsule,
    link_shapes,
)
from frame_ros.scenes import PickPlaceSimulation
from frame_ros.scenes.simulation.noise.depth_noise import DEPTH_SENSORS, DepthNoise
from frame_ros.sensing.proximity.depth.camera import DepthCamera
from frame_ros.sensing.proximity.depth.detector import DepthProximity, compile_loops
from frame_ros.sensing.proximity.depth.options import DepthOptions
from frame_ros.sensing.proximity.depth.scan import DepthScan
from frame_ros.sensing.proximity.depth.shapes import CameraShapes
from frame_ros.sensing.proximity.depth.valid_range import DepthRange
from frame_ros.sensing.proximity.link_distances import DistanceReading

BARS = {'scan_ms': 2.5, 'ratio': 60.0, 'difference_m': 1e-6}
ERROR_BARS = {'median_mm': 5.0, 'percentile_99_mm': 20.0, 'further_percent': 0.1}
WIDTH, HEIGHT, CAMERA = 640, 480, 'front'
SETTINGS = DepthOptions(surface_height=0.0)
FURTHER = 0.01  # m
LIMITS = (0.1, 6.0)  # m: the walls of the room count as well
FULL_SCANS = 10  # of the frames are timed; all are compared


@dataclass(frozen=True)
class Frame:
    """One image of the camera, and what is true at it."""

    depth: np.ndarray
    positions: np.ndarray
    rotation: np.ndarray
    translation: np.ndarray
    truth: DistanceReading
    is_seen: np.ndarray


def record(robot: str, count: int) -> tuple[DepthCamera, tuple[str, ...], list[Frame]]:
    """Frames of a robot in random poses among random things; its camera and its joints."""
    simulation = PickPlaceSimulation(0, robot=robot)
    rng = np.random.default_rng(0)
    frames = []
    for number in range(count):
        if number % 4 == 0:
            simulation.clear_obstacles()
            simulation.add_clutter(number)
        frames.append(_frame(simulation, rng, number))
    seen = simulation.intrinsics(CAMERA, WIDTH, HEIGHT)
    simulation.close()
    camera = DepthCamera(WIDTH, HEIGHT, seen.focal, seen.focal, seen.cx, seen.cy)
    return camera, simulation.joint_names, frames


def _frame(simulation: PickPlaceSimulation, rng: np.random.Generator, seed: int) -> Frame:
    home, span = np.array(simulation.robot.home), simulation.upper - simulation.lower
    things = [name for name in simulation.obstacle_names if name != 'table'] + ['cube']
    while True:
        simulation.reset(seed)
        simulation.step(
            home + rng.normal(0.0, 0.12, len(home)) * span, int(0.8 / simulation.timestep)
        )
        truth = simulation.distances_of_links(things)
        if truth.distance > SETTINGS.padding:
            break
    picture = simulation.render(CAMERA, WIDTH, HEIGHT, with_depth=True)
    sensor = DEPTH_SENSORS[simulation.robot.cameras[CAMERA].depth_sensor]
    noise = DepthNoise(simulation.intrinsics(CAMERA, WIDTH, HEIGHT), sensor, seed)
    translation, rotation = simulation.camera_pose(CAMERA)
    return Frame(
        noise(picture.depth, picture.rgb), simulation.joint_state().positions, rotation,
        translation, truth, simulation.visible(truth, CAMERA),
    )  # fmt: skip


def nine_capsules() -> LinkShapes:
    """One capsule for each of the FR3's links, and one for its hand with the fingers."""
    robot = load_robot('fr3')
    frames = LinkFrames(robot)
    rotations, translations = frames.compute(np.array([0.0] * 7 + [0.02]))
    hand = frames.index('fr3_hand')
    fingers: list[Shape] = []
    exact = link_shapes(robot)
    for shape, row in zip(exact.shapes, exact.frames):
        if robot.links[row] in ('fr3_hand', 'fr3_leftfinger', 'fr3_rightfinger'):
            turn = rotations[hand].T @ rotations[row]
            at = rotations[hand].T @ (translations[row] - translations[hand])
            fingers.append(
                Shape(shape.kind, shape.half_sizes, shape.radius, turn @ shape.translation + at,
                      turn @ shape.rotation)
            )  # fmt: skip
    capsules: dict[str, Capsule] = {
        link: capsule for link, capsule in zip(exact.links, exact.capsules) if 'link' in link
    }
    capsules['fr3_hand'] = enclosing_capsule(fingers)
    return arranged(robot, {link: [capsule_shape(each)] for link, each in capsules.items()})


def full_scan(camera: DepthCamera, frame: Frame, shapes: PlacedShapes) -> tuple[np.ndarray, int]:
    """(L,) m of every link, and how many pixels show the robot: each pixel as a point in float64,
    its distance to each shape.
    """
    x, y = camera.rays()
    z = frame.depth * 1e-3
    points = np.stack((z * x, z * y[:, None], z), axis=2).reshape(-1, 3)
    points = points @ frame.rotation.T + frame.translation
    is_valid = ((z >= LIMITS[0] - 1e-9) & (z <= LIMITS[1] + 1e-9)).ravel()
    nearest = np.full((len(points), len(shapes.links)), np.inf)
    for row, owner in enumerate(shapes.owners):
        np.minimum(nearest[:, owner], _distances(shapes, row, points), out=nearest[:, owner])
    is_self = is_valid & (nearest.min(axis=1) <= SETTINGS.padding)
    return nearest[is_valid & ~is_self].min(axis=0, initial=np.inf), int(is_self.sum())


def _distances(shapes: PlacedShapes, row: int, points: np.ndarray) -> np.ndarray:
    """(N,) m from points (N, 3) to one shape."""
    half, radius = shapes.half_sizes[row], shapes.radii[row]
    if shapes.kinds[row] in ('capsule', 'sphere'):
        reach = shapes.rotations[row][:, 2] * half[2]
        start, axis = shapes.translations[row] - reach, 2 * reach
        length = max(float(axis @ axis), 1e-18)
        along = np.clip((points - start) @ axis / length, 0.0, 1.0)
        return np.linalg.norm(points - start - along[:, None] * axis, axis=1) - radius
    local = (points - shapes.translations[row]) @ shapes.rotations[row]
    if 'cylinder' in shapes.kinds[row]:
        is_flat = shapes.kinds[row] == 'cylinder'
        core, radius = (radius, 0.0) if is_flat else (half[0], radius)
        across = np.maximum(np.hypot(local[:, 0], local[:, 1]) - core, 0.0)
        return np.hypot(across, np.maximum(np.abs(local[:, 2]) - half[2], 0.0)) - radius
    return np.linalg.norm(np.maximum(np.abs(local) - half, 0.0), axis=1) - radius


def timed_scans(
    camera: DepthCamera, frames: list[Frame], placed: list[PlacedShapes], repeats: int
) -> dict[str, float]:
    """Times in ms, medians over frames of the median of repeats; and the largest difference, m."""
    scan, limits = DepthScan(camera, SETTINGS.padding), DepthRange(*LIMITS)
    image = np.zeros((HEIGHT, WIDTH), np.uint16)
    fast, processor, full, worst, own = [], [], [], 0.0, []
    for number, (frame, shapes) in enumerate(zip(frames, placed)):
        times, used = [], []
        for _ in range(repeats):
            start, before = time.perf_counter(), time.thread_time()
            limits.apply(frame.depth, image)
            seen = CameraShapes(shapes, frame.rotation, frame.translation)
            result = scan.run(image, 1e-3, seen)
            times.append(time.perf_counter() - start)
            used.append(time.thread_time() - before)
        fast.append(float(np.median(times)))
        processor.append(float(np.median(used)))
        start = time.perf_counter()
        expected, pixels = full_scan(camera, frame, shapes)
        if number < FULL_SCANS:
            full.append(time.perf_counter() - start)
        assert result.own == pixels, 'the self-filters differ'
        worst = max(worst, float(np.abs(result.nearest.distances - expected).max()))
        own.append(pixels)
    return {
        'shapes': len(placed[0]), 'scan_ms': float(np.median(fast)) * 1e3,
        'scan_processor_ms': float(np.median(processor)) * 1e3,
        'full_scan_ms': float(np.median(full)) * 1e3,
        'ratio': float(np.median(full) / np.median(fast)), 'difference_m': worst,
        'arm_percent': 100 * float(np.median(own)) / (WIDTH * HEIGHT),
        'frames_with_arm_percent': 100 * float(np.mean(np.array(own) > 0)),
    }  # fmt: skip


def measured(
    camera: DepthCamera, frames: list[Frame], placed: list[PlacedShapes], repeats: int
) -> dict[str, float]:
    """Time of `measure` in ms, and the errors of the least distance in mm."""
    proximity = DepthProximity(camera, SETTINGS)
    times, errors = [], []
    for frame, shapes in zip(frames, placed):
        for _ in range(repeats):
            start = time.perf_counter()
            reading = proximity.measure(frame.depth, shapes, frame.rotation, frame.translation)
            times.append(time.perf_counter() - start)
        nearest = frame.truth.nearest
        if nearest is not None and frame.is_seen[nearest]:
            errors.append(reading.distance - frame.truth.distance)
    found = np.array(errors)
    return {
        'measure_ms': float(np.median(times)) * 1e3, 'visible_frames': len(found),
        'median_mm': float(np.nanmedian(np.abs(found))) * 1e3,
        'percentile_99_mm': float(np.nanpercentile(np.abs(found), 99)) * 1e3,
        'further_percent': 100 * float(np.mean(found > FURTHER)),
        'not_measured': int(np.isnan(found).sum()),
    }  # fmt: skip


def evaluated(robot: str, frames: int, repeats: int) -> dict[str, Any]:
    """All figures of one robot."""
    camera, joints, seen = record(robot, frames)
    kinematics = LinkFrames(load_robot(robot), joints)
    poses = [kinematics.compute(frame.positions) for frame in seen]
    results = {}
    if robot == 'fr3':
        capsules = nine_capsules()
        results['nine capsules'] = timed_scans(
            camera, seen, [capsules.place(*pose) for pose in poses], repeats
        )
    exact = link_shapes(load_robot(robot))
    results['exact shapes'] = timed_scans(
        camera, seen, [exact.place(*pose) for pose in poses], repeats
    )
    watched = link_shapes(load_robot(robot), seen[0].truth.links)
    results['measure'] = measured(camera, seen, [watched.place(*pose) for pose in poses], repeats)
    return results


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    parser.add_argument('--frames', type=int, default=40)
    parser.add_argument('--repeats', type=int, default=5)
    parser.add_argument('--robot', choices=('so101', 'fr3'), action='append')
    parser.add_argument('--json', action='store_true')
    args = parse(parser, frames=4, repeats=1)
    cv2.setNumThreads(1)
    compile_loops()
    robots = args.robot or ['fr3', 'so101']
    results = {robot: evaluated(robot, args.frames, args.repeats) for robot in robots}
    if args.json:
        print(json.dumps(results, indent=2))
    bars = Bars(args)
    for robot, parts in results.items():
        for part, figures in parts.items():
            if not args.json:
                print(f'\n{robot}, {part}')
                for name, value in figures.items():
                    print(f'  {name:26s}{value:12.4g}')
            judge(bars, f'{robot}, {part}', figures)
    return bars.exit_status()


def judge(bars: Bars, part: str, figures: dict[str, float]) -> None:
    """Holds one part's figures against its bars."""
    wanted = ERROR_BARS if part.endswith('measure') else BARS if 'nine' in part else {}
    for name, bar in wanted.items():
        against = bars.at_least if name == 'ratio' else bars.at_most
        against(f'{part}, {name}', figures[name], bar)


if __name__ == '__main__':
    sys.exit(main())
