# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The texts of a set-up card: objects, light, cameras, and what to check."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path

import attrs
import numpy as np
from scipy.spatial.transform import Rotation

from frame_ros.core.errors import FrameRosError
from frame_ros.core.plain_text import counted
from frame_ros.scenes.cards.ghosts import UNKNOWN_COLOUR, srgb
from frame_ros.scenes.cards.mat import MM, Mat
from frame_ros.scenes.cards.outlines import footprint
from frame_ros.scenes.description.scene import Scene, SceneCamera, SceneObject
from frame_ros.scenes.description.shapes import MESH
from frame_ros.scenes.generation.layout import COLOURS
from frame_ros.scenes.generation.setting import camera_of
from frame_ros.scenes.simulation.scene_robot import scene_robot

NOT_KNOWN = 'not known'
_UPRIGHT = math.cos(math.radians(1.0))  # within which an axis counts as vertical or level
_MOVED, _TURNED = 5e-4, math.radians(0.05)  # m and rad, less of which is no shift of a camera


@attrs.frozen(kw_only=True)
class ObjectFacts:
    """One object as a card states it.

    Attributes:
        number: at the object on the mat, from 1.
        name, role, type: as in the scene.
        size, posture, colour, cell: in words; `cell`: of the object's middle.
        paint: CSS colour.
        yaw: rad of `arrow` from x towards y; None: the object looks the same from all sides.
        arrow: what the arrow on the mat shows, in words.
        x, y: mm, of its middle.
        near, left: mm from the mat's near and left edges to the footprint; None: no shape.
        mass: kg; None: not known.
        friction: coefficient of sliding friction; None: not known.
    """

    number: int
    name: str
    role: str
    type: str
    size: str
    posture: str
    colour: str
    cell: str
    paint: str
    yaw: float | None
    arrow: str
    x: float
    y: float
    near: float | None
    left: float | None
    mass: float | None
    friction: float | None

    @property
    def degrees(self) -> str:
        """The yaw in words."""
        return 'any' if self.yaw is None else f'{math.degrees(self.yaw):+.0f}°'


def object_facts(scene: Scene, mat: Mat) -> list[ObjectFacts]:
    """Returns the facts of the objects: target, receptacle, then the others in their order."""
    order = {'target': 0, 'receptacle': 1}
    objects = sorted(scene.objects, key=lambda each: order.get(each.role, 2))
    return [_facts(number, each, mat) for number, each in enumerate(objects, 1)]


def _facts(number: int, each: SceneObject, mat: Mat) -> ObjectFacts:
    outline = footprint(each)
    posture, yaw, arrow = standing_of(each)
    return ObjectFacts(
        number=number, name=each.name, role=each.role, type=each.type.replace('_', ' '),
        size=size_text(each), posture=posture, colour=colour_text(each), paint=paint_of(each),
        yaw=yaw, arrow=arrow, cell=mat.label(*each.position),
        x=MM * each.position[0], y=MM * each.position[1],
        near=MM * float(outline[:, 0].min() - mat.low[0]) if len(outline) else None,
        left=MM * float(mat.high[1] - outline[:, 1].max()) if len(outline) else None,
        mass=each.mass, friction=each.friction,
    )  # fmt: skip


def standing_of(each: SceneObject) -> tuple[str, float | None, str]:
    """Returns how an object stands in words, the yaw (rad) of the arrow that is drawn, and which
    of its axes that is; None: it looks the same from all sides.
    """
    kind = each.shape.kind if each.shape else ''
    rotation = each.rotation
    if kind == 'sphere':
        return 'ball', None, ''
    edge = 'axis' if kind == MESH else 'edge'
    up = rotation[2, 2]
    if up >= _UPRIGHT or up <= -_UPRIGHT:
        posture = 'upright' if up > 0 else 'upside down'
        if kind == 'cylinder':
            return posture, None, ''
        return posture, math.atan2(rotation[1, 0], rotation[0, 0]), f'x {edge}'
    level = abs(up) <= math.sqrt(1 - _UPRIGHT**2)
    posture = 'lying' if level else f'tilted by {math.degrees(math.acos(np.clip(up, -1, 1))):.0f}°'
    if kind == 'cylinder':
        return posture, math.atan2(rotation[1, 2], rotation[0, 2]), 'axis'
    axis = 0 if abs(rotation[2, 0]) < math.sqrt(0.5) else 1
    if level:
        posture += f' on its {"yx"[axis]} side'
    return posture, math.atan2(rotation[1, axis], rotation[0, axis]), f'{"xy"[axis]} {edge}'


def size_text(each: SceneObject) -> str:
    """Returns the sizes of an object in words, mm."""
    if each.shape is None:
        return NOT_KNOWN
    size = [f'{MM * edge:.3g}' for edge in each.shape.size]
    return {
        'box': lambda: f'{" × ".join(size)} mm',
        'cylinder': lambda: f'⌀ {2 * MM * each.shape.size[0]:.3g} × {size[1]} mm',
        'sphere': lambda: f'⌀ {2 * MM * each.shape.size[0]:.3g} mm',
        'tray': lambda: f'{" × ".join(size[:3])} mm, wall {size[3]} mm',
        MESH: lambda: f'{" × ".join(size)} mm about the mesh {Path(each.shape.mesh).name}',
    }[each.shape.kind]()


def colour_text(each: SceneObject) -> str:
    """Returns the name of an object's colour, or its sRGB in hexadecimal digits."""
    if each.colour is None:
        return NOT_KNOWN
    return next((name for name, value in COLOURS.items() if value == each.colour), paint_of(each))


def paint_of(each: SceneObject) -> str:
    """Returns an object's colour for CSS; grey where it is not known."""
    return '#{:02x}{:02x}{:02x}'.format(*srgb(each.colour or UNKNOWN_COLOUR))


def light_texts(scene: Scene) -> list[str]:
    """Returns the settings of the lights, one a line."""
    lines = [f'Brightness: {scene.light_factor:.2f} times the usual']
    if scene.lights is None:
        return [*lines, f'Lights: {NOT_KNOWN}']
    lines.append(f'{len(scene.lights)} lights on')
    for each in scene.lights:
        place = ', '.join(f'{MM * value:.0f}' for value in each.position)
        strength = each.intensity * scene.light_factor
        lines.append(f'{each.name}: at {place} mm, strength {strength:.2f}')
    return lines


def camera_texts(scene: Scene) -> list[str]:
    """Returns the settings of the cameras, one a line: the shift from the robot's usual place."""
    if scene.cameras is None:
        return [f'Cameras: {NOT_KNOWN}']
    return [f'{each.name}: {_camera_text(scene, each)}' for each in scene.cameras]


def _camera_text(scene: Scene, camera: SceneCamera) -> str:
    if camera.position is None or camera.orientation is None:
        return f'place {NOT_KNOWN}'
    place = ', '.join(f'{MM * value:.0f}' for value in camera.position)
    where = f'at {place} mm in {camera.link or scene.frame}'
    usual = _usual(scene, camera)
    if usual is None or usual.position is None:
        return where
    words = []
    shift = np.subtract(camera.position, usual.position)
    if float(np.linalg.norm(shift)) > _MOVED:
        words.append('moved by {:+.0f}, {:+.0f}, {:+.0f} mm in x, y, z'.format(*(MM * shift)))
    turn = Rotation.from_quat(usual.orientation).inv() * Rotation.from_quat(camera.orientation)
    if turn.magnitude() > _TURNED:
        x, y, z = (np.degrees(turn.as_rotvec()).round(1) + 0.0).tolist()
        words.append(f'turned by {x:+.1f}° pitch, {y:+.1f}° yaw, {z:+.1f}° roll')
    if camera.focal and usual.focal and camera.height and usual.height:
        zoom = camera.focal[1] / camera.height / (usual.focal[1] / usual.height)
        if abs(zoom - 1) > 1e-3:
            words.append(f'focal length {zoom:.2f} times the usual')
    if camera.width and camera.height:
        words.append(f'{camera.width}x{camera.height} pixels')
    moved = any(word.startswith(('moved', 'turned')) for word in words)
    return f'{where}, {", ".join(words if moved else ["as usual", *words])}'


def _usual(scene: Scene, camera: SceneCamera) -> SceneCamera | None:
    """The camera where the robot's profile has it; None: it has none such."""
    try:
        mount = scene_robot(scene.robot).cameras.get(camera.name)
    except FrameRosError:
        return None
    if mount is None or mount.link != camera.link:
        return None
    return camera_of(camera.name, mount, camera.width or 320, camera.height or 240)


def other_texts(scene: Scene) -> list[str]:
    """Returns what else a scene sets, one a line: table, sensors that are late or incomplete."""
    lines = []
    if scene.table is not None:
        paint = '#{:02x}{:02x}{:02x}'.format(*srgb(scene.table.colour))
        lines.append(f'Table: {scene.table.texture}, {paint}')
    for name, fault in scene.sensors.items():
        if fault.latency or fault.dropouts:
            lines.append(
                f'{name}: {MM * fault.latency:.0f} ms late, {100 * fault.dropouts:.0f} % missing '
                '(by software)'
            )
    return lines


def check_texts(scene: Scene, mat: Mat) -> Iterator[str]:
    """Yields what an operator ticks off."""
    yield (
        f"Mat: its near edge {MM * mat.low[0]:.0f} mm from the base's origin along x, its left "
        f'edge at y = {MM * mat.high[1]:+.0f} mm'
    )
    yield 'Nothing on the table that is not on this card'
    yield f'{counted(len(scene.objects), "object")} at the places, postures and arrows stated'
    yield 'Distances measured again with a ruler: none off by more than 10 mm'
    yield 'Lights and cameras as stated here'
    yield 'Robot at its home posture, gripper open, nobody within reach'
    yield f'Instruction typed as above; policy seed {seed_text(scene)}'


def seed_text(scene: Scene) -> str:
    """Returns the seed of the policy in words."""
    return 'not set' if scene.policy_seed is None else str(scene.policy_seed)
