# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""A recording of depth images as of a real arm, drawn: to show that what reads and judges works."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import cv2
import numpy as np
import yaml
from numpy.typing import NDArray

from frame_ros.evaluation.recorded_motion.arm_drawing import ArmDrawing
from frame_ros.evaluation.recorded_motion.arm_images import AHEAD
from frame_ros.robots import load_robot
from frame_ros.robots.shapes.mesh_capsules import link_meshes
from frame_ros.robots.shapes.placed_meshes import VISUAL
from frame_ros.sensing.proximity.depth.camera import DepthCamera

WIDTH, HEIGHT, FOCAL = 320, 240, 200.0
WALL = 2.5  # m behind the camera's place
POSE = np.array([[-1.0, 0, 0, 1.2], [0, -1.0, 0, 0.0], [0, 0, 1.0, 0.3], [0, 0, 0, 1.0]])
JOINTS = 'turn', 'bend'
POSTURES = ((0.0, 0.3), (0.6, 0.8), (-0.7, 0.5), (0.3, -0.6))
BOXES = {'base': (0.2, 0.2, 0.1), 'lower': (0.1, 0.1, 0.3), 'upper': (0.08, 0.08, 0.3)}
NAME = 'recording.yaml'


def draw_recording(folder: Path, smeared: int = 0, **content: Any) -> Path:
    """Writes a recording; returns its file.

    Args:
        smeared: pixels about the arm that have its depth.
        content: of the file, in place of what else it says.
    """
    (folder / 'arm.urdf').write_text(_urdf(), encoding='utf-8')
    for link, size in BOXES.items():
        (folder / f'{link}.stl').write_text(_box(size), encoding='utf-8')
    np.save(folder / 'pose.npy', POSE)
    frames = []
    for number, positions in enumerate(POSTURES):
        depth, mask = picture(folder, positions, smeared)
        names = {
            'depth': f'depth_{number}.png', 'joints': f'joints_{number}.npy',
            'mask': f'mask_{number}.png',
        }  # fmt: skip
        cv2.imwrite(str(folder / names['depth']), np.rint(1e3 * depth).astype(np.uint16))
        cv2.imwrite(str(folder / names['mask']), 255 * mask.astype(np.uint8))
        np.save(folder / names['joints'], np.array(positions))
        frames.append(names)
    lens = {'fx': FOCAL, 'fy': FOCAL, 'cx': (WIDTH - 1) / 2, 'cy': (HEIGHT - 1) / 2}
    every = {
        'robot': 'arm.urdf', 'joints': list(JOINTS), 'pose': 'pose.npy', 'frames': frames,
        'camera': {'width': WIDTH, 'height': HEIGHT, **lens}, **content,
    }  # fmt: skip
    file = folder / NAME
    file.write_text(yaml.safe_dump(every), encoding='utf-8')
    return file


def picture(
    folder: Path, positions: tuple[float, ...], smeared: int
) -> tuple[NDArray[np.float32], NDArray[np.bool_]]:
    robot = load_robot(folder / 'arm.urdf')
    meshes = link_meshes(robot, folder, [folder], VISUAL)
    camera = DepthCamera(WIDTH, HEIGHT, FOCAL, FOCAL, (WIDTH - 1) / 2, (HEIGHT - 1) / 2)
    drawing = ArmDrawing(robot, meshes, JOINTS, camera)
    depth = drawing.depth(np.array(positions), POSE[:3, :3] @ AHEAD, POSE[:3, 3].copy())
    inverse = np.where(depth > 0.0, 1.0 / np.maximum(depth, 1e-6), 0.0).astype(np.float32)
    mask = inverse > 0.0
    side = 2 * smeared + 1
    near = cv2.dilate(inverse, np.ones((side, side), np.uint8))
    return np.where(near > 0.0, 1.0 / np.maximum(near, 1e-6), WALL).astype(np.float32), mask


def _urdf() -> str:
    links = ''.join(
        f'<link name="{link}"><visual><origin xyz="0 0 {z / 2}"/><geometry>'
        f'<mesh filename="{link}.stl"/></geometry></visual><collision><origin xyz="0 0 {z / 2}"/>'
        f'<geometry><box size="{x} {y} {z}"/></geometry></collision></link>'
        for link, (x, y, z) in BOXES.items()
    )
    return (
        f'<robot name="drawn">{links}{_joint("turn", "base", "lower", 0.1, "0 0 1")}'
        f'{_joint("bend", "lower", "upper", 0.3, "0 1 0")}</robot>'
    )


def _joint(name: str, parent: str, child: str, height: float, axis: str) -> str:
    return (
        f'<joint name="{name}" type="revolute"><parent link="{parent}"/><child link="{child}"/>'
        f'<origin xyz="0 0 {height}"/><axis xyz="{axis}"/>'
        '<limit lower="-2" upper="2" effort="1" velocity="1"/></joint>'
    )


def _box(size: tuple[float, float, float]) -> str:
    """Returns a box about the origin as STL."""
    half = np.array(size) / 2
    corners = [half * np.array([x, y, z]) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]
    sides = ((0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3))
    facets = []
    for a, b, c, d in sides:
        for triangle in ((a, b, c), (a, c, d)):
            points = ''.join(
                'vertex {:g} {:g} {:g}\n'.format(*corners[corner]) for corner in triangle
            )
            facets.append(f'facet normal 0 0 0\nouter loop\n{points}endloop\nendfacet\n')
    return f'solid box\n{"".join(facets)}endsolid box\n'
