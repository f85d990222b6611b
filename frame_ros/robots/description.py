# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Parsing of URDFs: links, joints with their limits, and collision shapes."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from xml.etree import ElementTree

import numpy as np
from numpy.typing import NDArray

from frame_ros.core.errors import RobotError
from frame_ros.core.input_files import ROBOT_PARTS
from frame_ros.robots.profiles import UNNAMED

Array = NDArray[np.float64]
MOVING = ('revolute', 'continuous', 'prismatic')


@dataclass(frozen=True)
class Joint:
    """One joint: `translation` (m) and `rotation` (3x3) place the child in the parent at position
    0. Limits are in rad or m, rad/s or m/s, N m or N; what the URDF leaves open is infinite.
    `mimic` is (joint followed, multiplier, offset), or None; that joint moves by itself.
    """

    name: str
    kind: str
    parent: str
    child: str
    translation: Array
    rotation: Array
    axis: Array
    lower: float = -math.inf
    upper: float = math.inf
    velocity: float = math.inf
    effort: float = math.inf
    mimic: tuple[str, float, float] | None = None

    @property
    def is_moving(self) -> bool:
        return self.kind in MOVING


@dataclass(frozen=True)
class Capsule:
    """All points within `radius` (m) of the segment from `start` to `end` (m, link's frame)."""

    start: Array
    end: Array
    radius: float


@dataclass(frozen=True)
class Primitive:
    """A collision shape in its link's frame. `size`: a box's edges x, y, z; a cylinder's radius and
    length (along z); a sphere's radius. In m.
    """

    kind: str
    size: tuple[float, ...]
    translation: Array
    rotation: Array

    def capsule(self) -> Capsule:
        """Returns a capsule that contains the shape; for a box, along its longest edge."""
        half, radius, axis = 0.0, self.size[0], 2
        if self.kind == 'cylinder':
            half = self.size[1] / 2
        elif self.kind == 'box':
            axis = int(np.argmax(self.size))
            half = self.size[axis] / 2
            radius = math.hypot(*(edge / 2 for i, edge in enumerate(self.size) if i != axis))
        reach = half * self.rotation[:, axis]
        return Capsule(self.translation - reach, self.translation + reach, radius)


@dataclass(frozen=True)
class RobotDescription:
    """A parsed URDF. `mesh_links` are links with collision meshes, which are not read."""

    name: str
    links: tuple[str, ...]
    joints: tuple[Joint, ...]
    base_link: str
    shapes: dict[str, tuple[Primitive, ...]]
    mesh_links: tuple[str, ...] = field(default=())

    @property
    def outwards(self) -> list[Joint]:
        """The joints, each after those that carry it, branch by branch."""
        carried: dict[str, list[Joint]] = {}
        for joint in reversed(self.joints):
            carried.setdefault(joint.parent, []).append(joint)
        ordered: list[Joint] = []
        waiting = carried.pop(self.base_link, [])
        while waiting:
            ordered.append(waiting.pop())
            waiting += carried.pop(ordered[-1].child, [])
        return ordered

    @property
    def joint_limits(self) -> dict[str, tuple[float, float]]:
        """Joint -> (lower, upper) in rad or m, of every joint that can be commanded."""
        return {
            joint.name: (joint.lower, joint.upper)
            for joint in self.joints
            if joint.is_moving and not joint.mimic
        }

    @property
    def continuous(self) -> tuple[str, ...]:
        """The joints that turn without end: their positions are whole turns from each other."""
        return tuple(joint.name for joint in self.joints if joint.kind == 'continuous')

    @property
    def farthest(self) -> float:
        """The distance from the base, m, beyond which no link's origin gets: the chain's sections,
        and the ways of joints that slide, as if all pointed the same way.
        """
        return max((self._stretched(link) for link in self.links), default=0.0)

    def _stretched(self, link: str) -> float:
        length = 0.0
        for joint in self.chain(link):
            length += float(np.linalg.norm(joint.translation))
            if joint.is_moving and joint.kind == 'prismatic':
                length += max(abs(joint.lower), abs(joint.upper))
        return length

    def chain(self, tip: str) -> tuple[Joint, ...]:
        """The joints from the base to `tip`, fixed ones included.

        Raises:
            RobotError: there is no such link.
        """
        if tip not in self.links:
            raise RobotError(
                f'{self.name} has no link {tip!r}; its links are {", ".join(self.links)}'
            )
        by_child = {joint.child: joint for joint in self.joints}
        joints = []
        while tip in by_child:
            joints.append(by_child[tip])
            tip = by_child[tip].parent
        return tuple(reversed(joints))


def rotation_from_rpy(roll: float, pitch: float, yaw: float) -> Array:
    """3x3 rotation of URDF's roll, pitch, yaw (rad): about the fixed x, then y, then z axis."""
    cr, sr, cp, sp = math.cos(roll), math.sin(roll), math.cos(pitch), math.sin(pitch)
    cy, sy = math.cos(yaw), math.sin(yaw)
    return np.array(
        [
            [cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr],
            [sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr],
            [-sp, cp * sr, cp * cr],
        ]
    )


def parse_urdf(text: str) -> RobotDescription:
    """Read a URDF's text.

    Raises:
        RobotError: not XML, not a URDF, joints that name unknown links or form no tree, that share
            a name or follow (mimic) none that moves by itself, a joint type without a single
            position, limits that are none, or numbers that cannot be read.
    """
    found = _parsed(text)
    return replace(found, shapes=dict(found.shapes))


@lru_cache(maxsize=16)
def _parsed(text: str) -> RobotDescription:
    """`parse_urdf`, once per text: every scene loads its robot several times."""
    if '<!ENTITY' in text:
        raise RobotError('the robot description declares entities, of which a URDF has none')
    try:
        root = ElementTree.fromstring(text)
    except (ElementTree.ParseError, ValueError) as error:
        raise RobotError(f'the robot description is not well-formed XML: {error}') from error
    if root.tag != 'robot':
        raise RobotError(
            f'the robot description starts with <{root.tag}>, a URDF starts with <robot>'
        )
    if any('xacro' in element.tag for element in root.iter() if isinstance(element.tag, str)):
        raise RobotError('the robot description holds xacro elements: run it through xacro first')
    for kind in ('link', 'joint'):
        if (count := len(root.findall(kind))) > ROBOT_PARTS.now:
            raise RobotError(f'the robot description has {ROBOT_PARTS.excess(count)}: <{kind}>')
    links = tuple(_attribute(link, 'name') for link in root.findall('link'))
    joints = tuple(_joint(element) for element in root.findall('joint'))
    shapes = {_attribute(link, 'name'): _shapes(link) for link in root.findall('link')}
    meshes = tuple(
        _attribute(link, 'name')
        for link in root.findall('link')
        if link.find('collision/geometry/mesh') is not None
    )
    name, base = root.get('name') or UNNAMED, _base_link(links, joints)
    return RobotDescription(name, links, _with_followed(joints), base, shapes, meshes)


def _base_link(links: tuple[str, ...], joints: tuple[Joint, ...]) -> str:
    if len(set(links)) != len(links):
        raise RobotError('the robot description has two links of the same name')
    children = [joint.child for joint in joints]
    for joint in joints:
        for link in (joint.parent, joint.child):
            if link not in links:
                raise RobotError(
                    f'joint {joint.name!r} names the link {link!r}, which is not described'
                )
        if children.count(joint.child) > 1:
            raise RobotError(f'the link {joint.child!r} is the child of more than one joint')
    roots = [link for link in links if link not in children]
    if len(roots) != 1:
        raise RobotError(f'a robot has one base link, this description has {len(roots)}: {roots}')
    mounted: dict[str, list[str]] = {link: [] for link in links}
    for joint in joints:
        mounted[joint.parent].append(joint.child)
    reached, waiting = set(), [roots[0]]
    while waiting:
        link = waiting.pop()
        reached.add(link)
        waiting += mounted[link]
    if apart := [link for link in links if link not in reached]:
        raise RobotError(f'the links {", ".join(apart)} are mounted on each other in a ring')
    return roots[0]


def _with_followed(joints: tuple[Joint, ...]) -> tuple[Joint, ...]:
    """Returns the joints, of which each that follows (mimic) another that follows a third names the
    last, which moves by itself.

    Raises:
        RobotError: joints share a name, or follow none that moves by itself.
    """
    by_name = {joint.name: joint for joint in joints}
    if len(by_name) != len(joints):
        twice = next(joint.name for joint in joints if by_name[joint.name] is not joint)
        raise RobotError(f'the robot description has two joints of the same name: {twice}')
    return tuple(replace(joint, mimic=_followed(joint, by_name)) for joint in joints)


def _followed(joint: Joint, by_name: Mapping[str, Joint]) -> tuple[str, float, float] | None:
    """Returns the `mimic` of a joint by one that moves by itself."""
    found, passed = joint.mimic, {joint.name}
    while found is not None:
        name, multiplier, offset = found
        followed = by_name.get(name)
        if followed is None or not followed.is_moving or name in passed:
            why = 'is not described' if followed is None else 'does not move by itself'
            raise RobotError(
                f'joint {joint.name!r} follows (mimic) {name!r}, which {why}; it must be a joint '
                'that can be commanded'
            )
        if followed.mimic is None:
            break
        passed.add(name)
        name, factor, constant = followed.mimic
        found = name, multiplier * factor, multiplier * constant + offset
    return found


def _joint(element: ElementTree.Element) -> Joint:
    name, kind = _attribute(element, 'name'), _attribute(element, 'type')
    if kind not in (*MOVING, 'fixed'):
        raise RobotError(
            f'joint {name!r} is {kind}; it must be fixed, revolute, continuous or prismatic'
        )
    parent, child = element.find('parent'), element.find('child')
    if parent is None or child is None:
        raise RobotError(f'joint {name!r} lacks its parent or its child')
    axis = element.find('axis')
    vector = _numbers(axis, 'xyz', (1.0, 0.0, 0.0))
    length = float(np.linalg.norm(vector))
    if kind != 'fixed' and not length > 0:
        raise RobotError(f'joint {name!r} has an axis of length {length}')
    translation, rotation = _origin(element)
    return Joint(
        name,
        kind,
        _attribute(parent, 'link'),
        _attribute(child, 'link'),
        translation,
        rotation,
        _kept(vector / length) if length > 0 else vector,
        *_limits(element, kind),
        # A joint that an option of a xacro fixes may keep what it followed.
        _mimic(element) if kind != 'fixed' else None,
    )


def _limits(element: ElementTree.Element, kind: str) -> tuple[float, float, float, float]:
    limit = element.find('limit')
    if limit is None or kind == 'fixed':
        return -math.inf, math.inf, math.inf, math.inf
    bounded = kind in ('revolute', 'prismatic')
    lower, upper = (
        _number(limit, bound, 0.0) if bounded else sign * math.inf for bound, sign in _BOUNDS
    )
    velocity, effort = (_number(limit, each, math.inf) for each in ('velocity', 'effort'))
    # Of a joint that follows another nobody asks for its limits.
    if element.find('mimic') is None and (lower > upper or min(velocity, effort) < 0):
        raise RobotError(
            f'joint {element.get("name")!r} has the limits lower={lower:g}, upper={upper:g}, '
            f'velocity={velocity:g}, effort={effort:g}; lower must be at most upper, '
            'velocity and effort 0 or more'
        )
    return lower, upper, velocity, effort


_BOUNDS = (('lower', -1), ('upper', 1))


def _mimic(element: ElementTree.Element) -> tuple[str, float, float] | None:
    mimic = element.find('mimic')
    if mimic is None:
        return None
    return (
        _attribute(mimic, 'joint'),
        _number(mimic, 'multiplier', 1.0),
        _number(mimic, 'offset', 0.0),
    )


def _shapes(link: ElementTree.Element) -> tuple[Primitive, ...]:
    shapes = []
    for collision in link.findall('collision'):
        placed = _origin(collision)
        for shape in collision.findall('geometry/*'):
            if shape.tag == 'box':
                shapes.append(Primitive('box', tuple(_numbers(shape, 'size', ())), *placed))
            elif shape.tag in ('cylinder', 'capsule'):
                size = (_number(shape, 'radius'), _number(shape, 'length'))
                shapes.append(Primitive('cylinder', size, *placed))
            elif shape.tag == 'sphere':
                shapes.append(Primitive('sphere', (_number(shape, 'radius'),), *placed))
    return tuple(shapes)


def _origin(element: ElementTree.Element) -> tuple[Array, Array]:
    origin = element.find('origin')
    rpy = _numbers(origin, 'rpy', (0.0, 0.0, 0.0))
    return _numbers(origin, 'xyz', (0.0, 0.0, 0.0)), _kept(rotation_from_rpy(*rpy))


def _attribute(element: ElementTree.Element, name: str) -> str:
    value = element.get(name)
    if not value:
        raise RobotError(f'a <{element.tag}> of the robot description lacks its {name}')
    return value


def _number(element: ElementTree.Element, name: str, default: float | None = None) -> float:
    text = element.get(name)
    if text is None and default is not None:
        return default
    try:
        value = float(text or '')
    except ValueError:
        value = math.nan
    if math.isnan(value):
        raise RobotError(f'<{element.tag}> has {name}="{text}", which is not a number')
    return value


def _numbers(element: ElementTree.Element | None, name: str, default: tuple[float, ...]) -> Array:
    text = None if element is None else element.get(name)
    if text is None and default:
        return _kept(np.array(default))
    try:
        values = np.array([float(part) for part in (text or '').split()])
    except ValueError:
        values = np.array([])
    if values.shape != (3,) or not np.isfinite(values).all():
        raise RobotError(f'the robot description has {name}="{text}", three numbers are needed')
    return _kept(values)


def _kept(values: Array) -> Array:
    """The array, read only: all robots of a description share it."""
    values.setflags(write=False)
    return values
