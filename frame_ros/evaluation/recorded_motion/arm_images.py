# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Depth images of a real arm that were recorded with its joint positions, and masks of the arm.

A YAML file says what is where, relative to its folder:

    robot: med7.urdf             # with the makers' meshes
    shapes: med7_shapes.yaml     # of `frame-ros capsules --visual`; without: the URDF's primitives
    joints: [lbr_A1, lbr_A2]     # in the order of the positions
    links: [lbr_link_2]          # judged; without: all with meshes but the base
    camera: {width: 848, height: 480, fx: 430.7, fy: 430.7, cx: 423.7, cy: 240.1}
    pose: pose.npy               # or its rows; (4, 4), m, of the camera in the robot's base frame
    is_optical: false            # whether its axes are right, down, ahead; else ahead, left, up
    mask_camera: {fx: 908.3, fy: 908.3, cx: 643.0, cy: 372.7, x: 0.0148}  # if masks are another's
    frames:
    - {depth: depth_0.npy, joints: joints_0.npy, mask: mask_0.png}
    - {depth: depth_1.npy, joints: [0.1, 0.5]}

`depth` is an image, (H, W) in m or uint16 mm (or in units of `depth_unit` m), as .npy or .png; or
points (..., 3), m, in the camera's axes, each of which lies on the ray of a pixel. Joints are a
file or the positions themselves. A mask is above 127 where the arm is seen; without one the arm is
where its meshes are drawn. A mask's camera of its own sees what the depth camera sees `x` m farther
to the right.
"""

from __future__ import annotations

import io
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import yaml
from numpy.typing import NDArray

from frame_ros.core.errors import BagError
from frame_ros.core.input_files import MESH, read_bytes, read_text
from frame_ros.core.strict_yaml import load_yaml, yaml_problem
from frame_ros.evaluation.recorded_motion.arm_drawing import ArmDrawing
from frame_ros.robots import load_robot
from frame_ros.robots.robot import Robot
from frame_ros.robots.shapes.filter_shapes import filter_shapes
from frame_ros.robots.shapes.link_shapes import LinkShapes
from frame_ros.robots.shapes.mesh_capsules import link_meshes
from frame_ros.robots.shapes.placed_meshes import VISUAL
from frame_ros.sensing.proximity.depth.camera import DepthCamera

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]
# Axes of a camera that looks along x in those of one that looks along z.
AHEAD = np.array([[0.0, 0.0, 1.0], [-1.0, 0.0, 0.0], [0.0, -1.0, 0.0]])
MASKED = 127
NEEDED = 'robot', 'joints', 'camera', 'pose', 'frames'


@dataclass(frozen=True)
class ArmImage:
    """One image.

    Attributes:
        depth: (H, W) m, 0 where there is none.
        mask: (H, W) pixels that show the arm.
        positions: (J,) rad or m.
    """

    depth: NDArray[np.float32]
    mask: Mask
    positions: Array


@dataclass(frozen=True)
class ArmImages:
    """Images of one arm by one camera.

    Attributes:
        name: of the file, without its ending.
        shapes: of the robot's links, as the proximity node has them.
        surfaces: link -> (V, 3) m, corners of its meshes, in its frame: those of the links that are
            judged.
        joint_names: (J) of the positions.
        rotation, translation: (3, 3), (3,) m, of the camera's optical frame in the base frame.
    """

    name: str
    robot: Robot
    shapes: LinkShapes
    surfaces: Mapping[str, Array]
    joint_names: tuple[str, ...]
    camera: DepthCamera
    rotation: Array
    translation: Array
    frames: tuple[ArmImage, ...]


def read_arm_images(file: Path) -> ArmImages:
    """Reads a recording.

    Raises:
        BagError: a file is missing or does not fit; the message says which and how.
        RobotError: the robot or its shapes cannot be read.
    """
    try:
        content = load_yaml(read_text(file))
    except yaml.YAMLError as error:
        raise BagError(f'{file}: {yaml_problem(error)}') from error
    missing = [name for name in NEEDED if not isinstance(content, dict) or not content.get(name)]
    if missing:
        raise BagError(f'{file} has no {", ".join(missing)}')
    try:
        return _read(file, content)
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise BagError(f'{file}: {error}') from error


def _read(file: Path, content: dict[str, Any]) -> ArmImages:
    folder = file.parent
    robot = load_robot(folder / content['robot'])
    shapes = folder / content['shapes'] if content.get('shapes') else ''
    meshes = link_meshes(robot, folder, [folder], VISUAL)
    links = content.get('links') or [link for link in meshes if link != robot.base_link]
    bare = [link for link in links if link not in meshes]
    if bare:
        raise ValueError(f'no meshes of {", ".join(bare)}; there are those of {", ".join(meshes)}')
    pose = _pose(folder, content['pose'])
    turn, _, back = np.linalg.svd(pose[:3, :3])  # a rotation that was written with few digits
    axes = np.eye(3) if content.get('is_optical') else AHEAD
    rotation, translation = turn @ back @ axes, pose[:3, 3].astype(float)
    camera, joints = DepthCamera(**content['camera']), tuple(content['joints'])
    drawing = ArmDrawing(robot, meshes, joints, camera)
    frames = []
    for names in content['frames']:
        depth = _depth(folder / names['depth'], camera, content.get('depth_unit'), axes)
        positions = _positions(folder, names['joints'], len(joints))
        if names.get('mask'):
            mask = _mask(folder / names['mask'], depth, camera, content.get('mask_camera'))
        else:
            mask = drawing.depth(positions, rotation, translation) > 0.0
        frames.append(ArmImage(depth, mask, positions))
    return ArmImages(
        file.stem, robot, filter_shapes(robot, shapes, exclude=(robot.base_link,)),
        {link: np.unique(meshes[link].reshape(-1, 3), axis=0) for link in links},
        joints, camera, rotation, translation, tuple(frames),
    )  # fmt: skip


def _pose(folder: Path, given: str | list[list[float]]) -> Array:
    if isinstance(given, str):
        return _array(folder / given, (4, 4))
    found = np.asarray(given, np.float64)
    if found.shape != (4, 4) or not np.isfinite(found).all():
        raise ValueError(f'pose is of shape {found.shape}; (4, 4), finite, is expected')
    return found


def _positions(folder: Path, given: str | list[float], count: int) -> Array:
    if isinstance(given, str):
        return _array(folder / given, (count,))
    found = np.asarray(given, np.float64)
    if found.shape != (count,) or not np.isfinite(found).all():
        raise ValueError(f'joints {given}: {count} finite positions are expected')
    return found


def _mask(
    file: Path,
    depth: NDArray[np.float32],
    camera: DepthCamera,
    seen_by: Mapping[str, float] | None,
) -> Mask:
    mask = _picture(file) > MASKED
    if seen_by is not None:
        return _moved(mask, depth, camera, seen_by)
    if mask.shape != depth.shape:
        raise ValueError(f'{file.name} is {mask.shape}, the depth image {depth.shape}')
    return mask


def _depth(file: Path, camera: DepthCamera, unit: float | None, axes: Array) -> NDArray[np.float32]:
    """axes: those of the optical frame in the camera's."""
    values = _picture(file) if file.suffix == '.png' else _loaded(file)
    if unit is not None:
        values = float(unit) * values
    elif values.dtype == np.uint16:
        values = 1e-3 * values
    elif values.dtype.kind != 'f':
        raise ValueError(
            f'{file.name} is of {values.dtype}; uint16, mm, or floats, m, are expected'
        )
    found = np.nan_to_num(np.asarray(values, np.float32), posinf=0.0, neginf=0.0)
    if found.shape[-1:] == (3,):
        return _drawn(found.reshape(-1, 3).astype(np.float64) @ axes, camera)
    if found.shape != (camera.height, camera.width):
        expected = (camera.height, camera.width)
        raise ValueError(
            f'{file.name} is of shape {found.shape}; {expected} or (..., 3) is expected'
        )
    return found


def _drawn(points: Array, camera: DepthCamera) -> NDArray[np.float32]:
    """Returns the image of points (N, 3)."""
    points = points[points[:, 2] > 0.0]
    columns = np.rint(points[:, 0] / points[:, 2] * camera.fx + camera.cx).astype(np.intp)
    rows = np.rint(points[:, 1] / points[:, 2] * camera.fy + camera.cy).astype(np.intp)
    inside = (columns >= 0) & (columns < camera.width) & (rows >= 0) & (rows < camera.height)
    image = np.zeros((camera.height, camera.width), np.float32)
    image[rows[inside], columns[inside]] = points[inside, 2]
    return image


def _moved(
    mask: Mask, depth: NDArray[np.float32], camera: DepthCamera, seen_by: Mapping[str, float]
) -> Mask:
    """Returns a mask of another camera in pixels of the depth camera; where there is no depth, at
    the arm's median.
    """
    x, y = camera.rays()

    def shown(z: Any) -> Mask:
        z = np.maximum(np.broadcast_to(z, depth.shape), 1e-3)
        across = (x * z + seen_by.get('x', 0.0)) / z * seen_by['fx'] + seen_by['cx']
        down = np.broadcast_to(y[:, None] * seen_by['fy'] + seen_by['cy'], depth.shape)
        columns, rows = np.rint(across).astype(np.intp), np.rint(down).astype(np.intp)
        inside = (columns >= 0) & (columns < mask.shape[1]) & (rows >= 0) & (rows < mask.shape[0])
        found = np.zeros(depth.shape, np.bool_)
        found[inside] = mask[rows[inside], columns[inside]]
        return found

    is_there = depth > 0.0
    arm = depth[is_there & shown(depth)]
    return shown(np.where(is_there, depth, np.median(arm) if len(arm) else 1.0))


def _picture(file: Path) -> NDArray[Any]:
    found = cv2.imdecode(np.frombuffer(read_bytes(file, MESH), np.uint8), cv2.IMREAD_UNCHANGED)
    if found is None or found.ndim != 2:
        raise ValueError(f'{file.name} is no picture of one channel')
    return np.asarray(found)


def _array(file: Path, shape: tuple[int, ...]) -> Array:
    found = np.asarray(_loaded(file), np.float64)
    if found.size != np.prod(shape) or not np.isfinite(found).all():
        raise ValueError(f'{file.name} is of shape {found.shape}; {shape}, finite, is expected')
    return found.reshape(shape)


def _loaded(file: Path) -> NDArray[Any]:
    found = np.load(io.BytesIO(read_bytes(file, MESH)), allow_pickle=False)
    return np.asarray(found)
