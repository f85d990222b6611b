# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The meshes of a MuJoCo description (MJCF) in the frames of its bodies, and meshes in the frames
of links that are named or placed otherwise.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple
from xml.etree import ElementTree

import numpy as np
from numpy.typing import NDArray

from frame_ros.core.engine import load_mujoco
from frame_ros.core.errors import RobotError
from frame_ros.core.input_files import ROBOT_PARTS, names_file
from frame_ros.core.options import option, options, rule
from frame_ros.robots.description import rotation_from_rpy

Array = NDArray[np.float64]
SUFFIXES = ('.xml', '.mjcf')
FARTHEST = 10.0  # m from its link, beyond which a place was meant in another unit


class BodyPlace(NamedTuple):
    """A body whose meshes are those of a link, and its frame in the link's: R @ point + t."""

    body: str
    rotation: Array  # (3, 3)
    translation: Array  # (3,) in m


@options
class PlaceOptions:
    """Links that a description calls or places otherwise."""

    places: Mapping[str, str] = option(
        {},
        "link='body x y z roll pitch yaw': this link has the meshes of that body (or link) of the "
        'description, whose frame is there in the frame of the link (m, rad)',
    )

    @rule('places', "link='body x y z roll pitch yaw' (m, rad), the body within 10 m of the link")
    def _has_places(self) -> bool:
        return all(map(_parsed, self.places.values()))

    def of_links(self) -> dict[str, BodyPlace]:
        """Returns the places as they are used, by the link."""
        parsed = {link: _parsed(text) for link, text in self.places.items()}
        return {link: place for link, place in parsed.items() if place is not None}


def _parsed(text: str) -> BodyPlace | None:
    body, *rest = text.split() or ['']
    try:
        values = np.array([float(word) for word in rest])
    except ValueError:
        return None
    if values.shape != (6,) or not np.isfinite(values).all():
        return None
    if np.linalg.norm(values[:3]) > FARTHEST:
        return None
    return BodyPlace(body, rotation_from_rpy(*values[3:]), values[:3])


def is_mjcf(text: str) -> bool:
    """Returns whether a text names a file that holds a MuJoCo description."""
    if not names_file(text) or Path(text).suffix.lower() not in SUFFIXES:
        return False
    try:
        with Path(text).open('rb') as file:
            _, root = next(iter(ElementTree.iterparse(file, ('start',))))
    except (OSError, ElementTree.ParseError, StopIteration):
        return False
    return bool(root.tag == 'mujoco')


def body_meshes(path: Path) -> tuple[str, dict[str, Array]]:
    """Returns the name of a MuJoCo description, and body -> triangles (T, 3, 3), m in its frame.

    A body's meshes are those that touch nothing, which are drawn; without such, those that do. Its
    other shapes, and what belongs to the world, are left out.

    Raises:
        RobotError: MuJoCo cannot load it, it is too large, or a body with meshes has no name.
        MissingExtraError: mujoco is not installed.
    """
    mj = load_mujoco()
    try:
        spec = mj.MjSpec.from_file(str(path))
        spec.compiler.discardvisual = spec.compiler.fusestatic = False
        model = spec.compile()
    except ValueError as error:
        raise RobotError(f'MuJoCo cannot load {path}: {error}') from error
    if model.nbody > ROBOT_PARTS.now:
        raise RobotError(f'{path} has {ROBOT_PARTS.excess(model.nbody)}: <body>')
    drawn: dict[str, list[Array]] = {}
    solid: dict[str, list[Array]] = {}
    for geom in range(model.ngeom):
        body = int(model.geom_bodyid[geom])
        if body == 0 or model.geom_type[geom] != mj.mjtGeom.mjGEOM_MESH:
            continue
        name = model.body(body).name
        if not name:
            raise RobotError(f'{path} has meshes of a body without a name')
        touches = model.geom_contype[geom] or model.geom_conaffinity[geom]
        (solid if touches else drawn).setdefault(name, []).append(_triangles(mj, model, geom))
    # Bodies in the order of the file.
    names = [model.body(body).name for body in range(1, model.nbody)]
    found = {name: drawn.get(name) or solid.get(name, []) for name in names}
    return spec.modelname, {name: np.concatenate(each) for name, each in found.items() if each}


def _triangles(mj: Any, model: Any, geom: int) -> Array:
    """(T, 3, 3) of a geom's mesh in the frame of its body."""
    mesh = model.geom_dataid[geom]
    start, first = model.mesh_vertadr[mesh], model.mesh_faceadr[mesh]
    corners = model.mesh_vert[start : start + model.mesh_vertnum[mesh]].astype(np.float64)
    faces = model.mesh_face[first : first + model.mesh_facenum[mesh]]
    turn = np.empty(9)
    mj.mju_quat2Mat(turn, model.geom_quat[geom])
    return np.asarray((corners @ turn.reshape(3, 3).T + model.geom_pos[geom])[faces])


def placed_bodies(
    name: str, meshes: Mapping[str, Array], places: Mapping[str, BodyPlace]
) -> dict[str, Array]:
    """Returns link -> triangles (T, 3, 3) m in the link's frame: those of the bodies that `places`
    names, and all others under their own name.

    name: of the description.

    Raises:
        RobotError: it has no meshes of a body that is named, or a link would have those of two.
    """
    lacking = [place.body for place in places.values() if place.body not in meshes]
    if lacking:
        raise RobotError(
            f'{name} has no meshes of {lacking[0]}; it has those of {", ".join(meshes) or "none"}'
        )
    source = {place.body: link for link, place in places.items()}
    twice = [body for body in meshes if body in places and body not in source]
    if len(source) < len(places) or twice:
        raise RobotError(f'a body of {name} stands for two links, or two bodies for one')
    found: dict[str, Array] = {}
    for body, triangles in meshes.items():
        link = source.get(body, body)
        if link in places:
            triangles = triangles @ places[link].rotation.T + places[link].translation
        found[link] = triangles
    return found
