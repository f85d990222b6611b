# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Changes that operators make: a scene, values by dimension, and a setting give a scene.

Objects are found by their roles, so that scenes written by hand may call them as they like.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import attrs
from scipy.spatial.transform import Rotation

from frame_ros.core.errors import ValueRangeError
from frame_ros.scenes.description.scene import (
    Quaternion,
    Scene,
    SceneCamera,
    SceneObject,
    SensorFault,
    TableTop,
    with_values,
)
from frame_ros.scenes.generation.layout import COLOURS
from frame_ros.scenes.generation.setting import (
    JOINT_STATES,
    MOST_CONFOUNDERS,
    Setting,
    confounder_colour,
    lights_of,
    orientation_of,
    polar,
    settled,
    standing,
    with_instruction,
)
from frame_ros.scenes.surroundings import TABLE_COLOUR

Values = Mapping[str, Any]
Change = Callable[[SceneObject], SceneObject]


def set_types(scene: Scene, values: Values, setting: Setting) -> Scene:
    """Target and receptacle of other types."""
    for role in ('target', 'receptacle'):
        if role in values:
            scene = _with_object(scene, role, _as_type(setting, values[role]))
    return with_instruction(scene, setting)


def set_unseen(scene: Scene, values: Values, setting: Setting) -> Scene:
    """Unseen types for the target, the confounders, or all."""
    if values['who'] in ('target', 'all'):
        chosen = {'target': values['target']} if 'target' in values else {}
        if values['who'] == 'all' and 'receptacle' in values:
            chosen['receptacle'] = values['receptacle']
        scene = set_types(scene, chosen, setting)
    return scene if values['who'] == 'target' else set_confounder_types(scene, values, setting)


def set_positions(scene: Scene, values: Values, setting: Setting) -> Scene:
    """Target and receptacle elsewhere."""
    for role in _roles(values):
        scene = _with_object(scene, role, _at(setting, values, role))
    return scene


def set_orientations(scene: Scene, values: Values, setting: Setting) -> Scene:
    """Target and receptacle turned."""
    for role in _roles(values):
        scene = _with_object(scene, role, _turned(values, role))
    return scene


def set_confounder_count(scene: Scene, values: Values, setting: Setting) -> Scene:
    """So many confounders, on an arc at the edge of where they may stand."""
    table = setting.robot.table
    first, last = table.distractor_azimuths
    added = []
    for index in range(values['count']):
        azimuth = first + (last - first) * index / (MOST_CONFOUNDERS - 1)
        kind = setting.types[('can', 'block')[index % 2]]
        place = polar(setting, table.distractor_radii[1], azimuth)
        name = f'confounder_{index}'
        added.append(standing(kind, 'confounder', confounder_colour(index), place, name=name))
    kept = [each for each in scene.objects if each.role != 'confounder']
    return with_values(scene, objects=(*kept, *added))


def set_confounder_types(scene: Scene, values: Values, setting: Setting) -> Scene:
    """Confounders of other types."""
    return _each_confounder(scene, values, lambda i: _as_type(setting, values[f'{i}.type']))


def set_confounder_positions(scene: Scene, values: Values, setting: Setting) -> Scene:
    """Confounders elsewhere."""
    return _each_confounder(scene, values, lambda i: _at(setting, values, i))


def set_confounder_orientations(scene: Scene, values: Values, setting: Setting) -> Scene:
    """Confounders turned."""
    return _each_confounder(scene, values, lambda i: _turned(values, i))


def set_intensity(scene: Scene, values: Values, setting: Setting) -> Scene:
    """All lights brighter or darker."""
    return with_values(scene, light_factor=values['factor'])


def set_light_count(scene: Scene, values: Values, setting: Setting) -> Scene:
    """Other lights, as bright in sum."""
    return with_values(scene, lights=lights_of(values['count']))


def move_cameras(scene: Scene, values: Values, setting: Setting) -> Scene:
    """The cameras that stand, shifted in the base's axes."""

    def moved(camera: SceneCamera) -> SceneCamera:
        if camera.position is None:
            raise _unknown(scene, f'the position of the camera {camera.name}', 'camera_position')
        x, y, z = camera.position
        place = (x + values['x'], y + values['y'], z + values['z'])
        return attrs.evolve(camera, position=place)

    return _standing_cameras(scene, moved)


def turn_cameras(scene: Scene, values: Values, setting: Setting) -> Scene:
    """The cameras that stand, turned about their own x (pitch) and y (yaw)."""
    turn = Rotation.from_euler('xy', (values['pitch'], values['yaw']))

    def turned(camera: SceneCamera) -> SceneCamera:
        if camera.orientation is None:
            what = f'the orientation of the camera {camera.name}'
            raise _unknown(scene, what, 'camera_orientation')
        found = (Rotation.from_quat(camera.orientation) * turn).as_quat(canonical=True)
        orientation: Quaternion = tuple(found.tolist())
        return attrs.evolve(camera, orientation=orientation)

    return _standing_cameras(scene, turned)


def set_intrinsics(scene: Scene, values: Values, setting: Setting) -> Scene:
    """The cameras that stand, with another focal length and centre."""

    def changed(camera: SceneCamera) -> SceneCamera:
        focal, centre, (width, height) = _pinhole(scene, camera, 'camera_intrinsics')
        factor = values['focal']
        moved = (centre[0] + values['centre_x'] * width, centre[1] + values['centre_y'] * height)
        scaled = (focal[0] * factor, focal[1] * factor)
        return attrs.evolve(camera, focal=scaled, centre=moved)

    return _standing_cameras(scene, changed)


def set_resolution(scene: Scene, values: Values, setting: Setting) -> Scene:
    """All cameras with more or fewer pixels, and the same field of view."""
    width, height = map(int, values['size'].split('x'))

    def scaled(camera: SceneCamera) -> SceneCamera:
        focal, centre, size = _pinhole(scene, camera, 'camera_resolution')
        across, down = width / size[0], height / size[1]
        return attrs.evolve(
            camera, width=width, height=height, focal=(focal[0] * across, focal[1] * down),
            centre=((centre[0] + 0.5) * across - 0.5, (centre[1] + 0.5) * down - 0.5),
        )  # fmt: skip

    return with_values(scene, cameras=tuple(map(scaled, scene.cameras or ())))


def set_latency(scene: Scene, values: Values, setting: Setting) -> Scene:
    """Late images and joint states."""
    return _with_faults(scene, 'latency', values)


def set_dropouts(scene: Scene, values: Values, setting: Setting) -> Scene:
    """Missing images and joint states."""
    return _with_faults(scene, 'dropouts', values)


def set_friction(scene: Scene, values: Values, setting: Setting) -> Scene:
    """Another friction of the target."""
    return _with_object(scene, 'target', lambda o: attrs.evolve(o, friction=values['target']))


def set_mass(scene: Scene, values: Values, setting: Setting) -> Scene:
    """A heavier or lighter target."""

    def changed(each: SceneObject) -> SceneObject:
        if each.mass is None:
            raise _unknown(scene, f'the mass of {each.name}', 'mass')
        return attrs.evolve(each, mass=each.mass * values['target'])

    return _with_object(scene, 'target', changed)


def set_table(scene: Scene, values: Values, setting: Setting) -> Scene:
    """Another texture and colour of the table top."""
    colour = COLOURS.get(values['colour'], TABLE_COLOUR)
    return with_values(scene, table=TableTop(texture=values['texture'], colour=colour))


def _roles(values: Values) -> list[str]:
    return list(dict.fromkeys(name.partition('.')[0] for name in values))


def _as_type(setting: Setting, name: str) -> Change:
    kind = setting.types[name]
    return lambda each: settled(
        attrs.evolve(
            each, type=name, shape=kind.shape, mass=kind.mass, friction=kind.friction,
            colour=kind.colour or each.colour,
        )
    )  # fmt: skip


def _at(setting: Setting, values: Values, name: str) -> Change:
    place = polar(setting, values[f'{name}.radius'], values[f'{name}.azimuth'])
    return lambda each: attrs.evolve(each, position=place)


def _turned(values: Values, name: str) -> Change:
    turn = orientation_of(values[f'{name}.yaw'], values.get(f'{name}.posture', 'upright'))
    return lambda each: settled(attrs.evolve(each, orientation=turn))


def _with_object(scene: Scene, role: str, change: Change) -> Scene:
    """The scene with target or receptacle changed, whatever its name is."""
    if role not in (each.role for each in scene.objects):
        raise ValueRangeError(
            f'the scene {scene.name} has no {role}, of which there is a value; its task is '
            f'{scene.task.kind}'
        )
    objects = tuple(change(o) if o.role == role else o for o in scene.objects)
    return with_values(scene, objects=objects)


def _each_confounder(scene: Scene, values: Values, change: Callable[[str], Change]) -> Scene:
    """The scene with its confounders changed, the first of them by the values of number 0."""
    count = len(scene.confounders)
    valued = {name.partition('.')[0] for name in values}
    if lacking := [str(i) for i in range(count) if str(i) not in valued]:
        raise ValueRangeError(
            f'the scene {scene.name} has {count} confounders; there are no values of number '
            f'{", ".join(lacking)}'
        )
    order = {each.name: str(i) for i, each in enumerate(scene.confounders)}
    objects = tuple(change(order[o.name])(o) if o.name in order else o for o in scene.objects)
    return with_values(scene, objects=objects)


def _standing_cameras(scene: Scene, change: Callable[[SceneCamera], SceneCamera]) -> Scene:
    cameras = tuple(change(c) if c.link == '' else c for c in scene.cameras or ())
    return with_values(scene, cameras=cameras)


def _with_faults(scene: Scene, field: str, values: Values) -> Scene:
    cameras = (camera.name for camera in scene.cameras or ())
    # A scene written by hand names only the streams that have faults.
    every = {name: scene.sensors.get(name, SensorFault()) for name in (*cameras, JOINT_STATES)}
    sensors = {
        name: attrs.evolve(fault, **{field: values['joints' if name == JOINT_STATES else 'images']})
        for name, fault in {**every, **scene.sensors}.items()
    }
    return with_values(scene, sensors=sensors)


def _pinhole(
    scene: Scene, camera: SceneCamera, operator: str
) -> tuple[tuple[float, float], tuple[float, float], tuple[int, int]]:
    """The focal lengths, centre and size of a camera, pixels."""
    for name in ('focal', 'centre', 'width', 'height'):
        if getattr(camera, name) is None:
            raise _unknown(scene, f'{name} of the camera {camera.name}', operator)
    assert camera.focal and camera.centre and camera.width and camera.height
    return camera.focal, camera.centre, (camera.width, camera.height)


def _unknown(scene: Scene, what: str, operator: str) -> ValueRangeError:
    return ValueRangeError(
        f'{what} in the scene {scene.name} is null, so the operator {operator} cannot change it; '
        'give it in the file'
    )
