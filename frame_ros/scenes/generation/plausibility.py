# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Values that no scene of a table has, such as a mass in g: what they would ask cannot be done."""

from __future__ import annotations

from frame_ros.scenes.description.mesh_folders import LEAST_EDGE, THINNEST
from frame_ros.scenes.description.scene import Scene, SceneObject
from frame_ros.scenes.description.shapes import MESH, Shape, mesh_of, standing_height
from frame_ros.scenes.generation.setting import JOINT_STATES, Setting
from frame_ros.scenes.run_options import SceneRunOptions
from frame_ros.scenes.simulation.scene_simulation import LARGEST_SHIFT, OVERLAP
from frame_ros.scenes.surroundings import LARGEST_IMAGE, LEAST_IMAGE

Blame = tuple[str, tuple[str, ...]]

# kg/m3. The densest element has 22,600; an empty carton has 40, its box counted whole.
LEAST_DENSITY, MOST_DENSITY = 5.0, 25000.0
LEAST_FRICTION = 0.01  # of the target; dry PTFE on steel has 0.04
MOST_LATENCY = SceneRunOptions().timeout  # s, after which a trial ends with the first message


def sensor_problem(scene: Scene, setting: Setting) -> Blame | None:
    """Returns which stream or camera cannot be as the scene has it, and nobody to blame."""
    if scene.cameras is not None:
        streams = (JOINT_STATES, *(camera.name for camera in scene.cameras))
        if unknown := [name for name in scene.sensors if name not in streams]:
            text = f'sensors has {unknown[0]}, which is no camera of the scene; there are'
            return f'{text} {", ".join(streams)}', ()
    for name, fault in scene.sensors.items():
        if fault.latency >= MOST_LATENCY:
            text = f'the latency of {name} is {fault.latency:g} s; it must be below'
            return f'{text} {MOST_LATENCY:g} s, after which a trial ends', ()
        if fault.dropouts >= 1.0:
            return f'dropouts of {name} is 1: no message comes; it must be below 1', ()
    for camera in scene.cameras or ():
        for size, most in zip((camera.width, camera.height), LARGEST_IMAGE, strict=True):
            if size is not None and not LEAST_IMAGE <= size <= most:
                text = f'{camera.name} has {camera.width}x{camera.height} pixels; it must have'
                ends = (f'{LEAST_IMAGE}x{LEAST_IMAGE}', '{}x{}'.format(*LARGEST_IMAGE))
                return f'{text} {" to ".join(ends)}', ()
    return None


def matter_problem(scene: Scene, setting: Setting) -> Blame | None:
    """Returns which object is too small, or of no material, and that object."""
    for each in scene.objects:
        if each.shape is None:
            continue
        if problem := _size_problem(each.shape) or _density_problem(each, each.shape):
            return f'{each.name} {problem}', (each.name,)
    target = scene.target
    if target.friction is not None and target.friction < LEAST_FRICTION:
        text = f'the friction of {target.name} is {target.friction:g}; nothing can hold it below'
        return f'{text} {LEAST_FRICTION:g}', (target.name,)
    return None


def _size_problem(shape: Shape) -> str:
    if shape.kind == MESH:
        return ''  # refused as it is read
    edges = 2 * shape.half_edges
    if edges.max() >= LEAST_EDGE and edges.min() >= THINNEST:
        return ''
    lengths = ' x '.join(f'{1e3 * edge:.3g}' for edge in edges)
    return (
        f'measures {lengths} mm; it must be {1e3 * LEAST_EDGE:g} mm long and '
        f'{1e3 * THINNEST:g} mm thick at least'
    )


def _density_problem(each: SceneObject, shape: Shape) -> str:
    if each.mass is None:
        return ''
    least = most = shape.volume
    if shape.kind == MESH:  # whose pieces may be thin, or lie in each other
        least, most = sorted((least, mesh_of(shape).hull.volume))
    if each.mass > MOST_DENSITY * most:
        density, what = each.mass / most, f'no material has more than {MOST_DENSITY:g}'
    elif each.mass < LEAST_DENSITY * least:
        density, what = each.mass / least, f'nothing solid has less than {LEAST_DENSITY:g}'
    else:
        return ''
    return f'has {each.mass:g} kg, so {density:.3g} kg/m3; {what}; masses are in kg, lengths in m'


def standing_problem(scene: Scene, setting: Setting) -> Blame | None:
    """Returns which object is above or in the table, and that object."""
    for each in scene.objects:
        if each.shape is None or each.height is None:
            continue
        wanted = standing_height(each.shape, each.rotation)
        above = each.height - wanted
        if not -OVERLAP <= above <= LARGEST_SHIFT:
            where = 'above the table' if above > 0 else 'in the table'
            text = f'{each.name} is {abs(above):.3g} m {where}: its height is {each.height:g} m'
            return f'{text}; it stands at {wanted:.4g} m', (each.name,)
    return None
