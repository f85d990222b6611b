# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Exact shapes of links, against coal's distances."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation
from surfaces import on_surface

from frame_ros.core.errors import RobotError, ShapeError
from frame_ros.robots import Capsule, load_robot
from frame_ros.robots.link_frames import LinkFrames
from frame_ros.robots.shapes.capsule_files import format_capsules
from frame_ros.robots.shapes.filter_shapes import load_shapes
from frame_ros.robots.shapes.link_shapes import (
    CAPSULE,
    CYLINDER,
    UNWATCHED,
    Shape,
    box,
    capsule_shape,
    cylinder,
    link_shapes,
    placed,
    rounded_box,
    rounded_cylinder,
    sphere,
)

coal = pytest.importorskip('coal')

sizes = st.floats(0.005, 0.4)
numbers = st.floats(-1.0, 1.0)
places = st.tuples(numbers, numbers, numbers)


@st.composite
def shapes(draw) -> Shape:
    turn = Rotation.from_rotvec(np.array(draw(places)) * 3).as_matrix()
    at = np.array(draw(places))
    kind = draw(
        st.sampled_from(['box', 'sphere', 'cylinder', 'capsule', 'rounded box', 'rounded cylinder'])
    )
    if kind == 'rounded box':
        return rounded_box([draw(sizes), draw(sizes), draw(sizes)], draw(sizes), at, turn)
    if kind == 'rounded cylinder':
        return rounded_cylinder(draw(sizes), draw(sizes), draw(sizes), at, turn)
    if kind == 'box':
        return box([draw(sizes), draw(sizes), draw(sizes)], at, turn)
    if kind == 'sphere':
        return sphere(draw(sizes), at)
    if kind == 'cylinder':
        return cylinder(draw(sizes), draw(sizes), at, turn)
    reach = turn[:, 2] * draw(sizes)
    return capsule_shape(Capsule(at - reach, at + reach, draw(sizes)))


def coal_distance(shape: Shape, point) -> float:
    geometry = {
        'rounded box': lambda: coal.Box(*(2 * shape.half_sizes)),
        'rounded cylinder': lambda: coal.Cylinder(shape.half_sizes[0], 2 * shape.half_sizes[2]),
        'box': lambda: coal.Box(*(2 * shape.half_sizes)),
        'sphere': lambda: coal.Sphere(shape.radius),
        'cylinder': lambda: coal.Cylinder(shape.radius, 2 * shape.half_sizes[2]),
        'capsule': lambda: coal.Capsule(shape.radius, 2 * shape.half_sizes[2]),
    }[shape.kind]()
    if shape.kind.startswith('rounded'):
        geometry.setSweptSphereRadius(shape.radius)
    tiny = 1e-9
    here = coal.Transform3s(shape.rotation, shape.translation)
    there = coal.Transform3s(np.eye(3), np.asarray(point, float))
    result = coal.DistanceResult()
    coal.distance(geometry, here, coal.Sphere(tiny), there, coal.DistanceRequest(), result)
    return result.min_distance + tiny


@settings(max_examples=150, deadline=None)
@given(shapes(), places)
def test_distances_are_those_of_coal(shape, point):
    distance = placed('a', [shape]).shape_distances([point])[0, 0]
    expected = coal_distance(shape, point)
    if expected > 1e-4:
        assert distance == pytest.approx(expected, abs=2e-6)
    else:
        assert distance < 2e-4


@settings(max_examples=50, deadline=None)
@given(shapes(), places, places)
def test_distances_do_not_depend_on_the_frame(shape, point, turn):
    rotation = Rotation.from_rotvec(turn).as_matrix()
    seen = placed('a', [shape]).seen_from(rotation, [0.3, -0.2, 0.5])
    local = (np.array(point) - [0.3, -0.2, 0.5]) @ rotation
    expected = placed('a', [shape]).shape_distances([point])
    np.testing.assert_allclose(seen.shape_distances([local]), expected, atol=1e-12)


@pytest.mark.parametrize('name', ['so101', 'fr3', 'panda'])
def test_link_shapes_are_the_urdf_collision_geometry(name):
    """Points are as near to the shapes as to the single primitives of the description."""
    robot = load_robot(name)
    found = link_shapes(robot)
    at_origin = found.place(np.tile(np.eye(3), (len(robot.links), 1, 1)),
                            np.zeros((len(robot.links), 3)))  # fmt: skip
    points = np.random.default_rng(0).uniform(-0.4, 0.4, (200, 3))
    distances = at_origin.link_distances(points)
    make = {'box': lambda p: box(p.size, p.translation, p.rotation),
            'sphere': lambda p: sphere(p.size[0], p.translation),
            'cylinder': lambda p: cylinder(*p.size, p.translation, p.rotation)}  # fmt: skip
    for row, link in enumerate(found.links):
        single = [make[p.kind](p) for p in robot.collision_geometry[link]]
        expected = placed(link, single).link_distances(points)[:, 0]
        outside = expected > 0
        np.testing.assert_allclose(distances[outside, row], expected[outside], atol=2e-6)
        assert (distances[~outside, row] < 1e-6).all()


def test_cylinders_with_round_ends_are_capsules():
    found = link_shapes(load_robot('fr3'))
    assert CAPSULE in {shape.kind for shape in found.shapes}
    assert len(found.shapes) < sum(map(len, load_robot('fr3').collision_geometry.values()))


@pytest.mark.parametrize(
    ('name', 'links'), [('so101', ['gripper_link']), ('fr3', ['fr3_link0', 'fr3_link5'])]
)
def test_the_enclosing_capsule_holds_all_of_a_link(name, links):
    found = link_shapes(load_robot(name), links)
    for row, capsule in enumerate(found.capsules):
        own = [s for s, owner in zip(found.shapes, found.owners) if owner == row]
        points = np.random.default_rng(1).normal(size=(300, 3))
        for shape in own:
            on = on_surface(shape, points)
            assert placed('c', [capsule_shape(capsule)]).shape_distances(on).max() < 1e-6


def test_some_links_are_watched_and_all_are_the_robot():
    robot = load_robot('so101')
    every = link_shapes(robot)
    some = link_shapes(robot, exclude=['base_link', 'shoulder_link'])
    assert 'base_link' in every.links and 'base_link' not in some.links
    assert len(some.shapes) == len(every.shapes) and (some.owners == UNWATCHED).sum() == 4
    frames = LinkFrames(robot)
    pose = frames.compute(np.full(6, 0.3))
    instant = some.place(*pose)
    assert len(instant.watched()) == len(instant) - 4
    np.testing.assert_allclose(
        instant.link_distances([[0.5, 0.1, 0.2]])[0],
        every.place(*pose).link_distances([[0.5, 0.1, 0.2]])[0, 2:],
    )
    held = instant.joined(placed('held', [sphere(0.1, [1, 0, 0])]))
    assert held.owners[-1] == UNWATCHED and held.link_distances([[1, 0, 0]]).min() > 0.1
    with pytest.raises(ShapeError, match='all links'):
        some.place(pose[0][:3], pose[1][:3])


def test_wrong_links_are_refused():
    robot = load_robot('so101')
    with pytest.raises(RobotError, match='nonsense'):
        link_shapes(robot, ['nonsense'])
    with pytest.raises(RobotError, match='gripper_frame_link'):
        link_shapes(robot, ['gripper_frame_link'])
    with pytest.raises(RobotError, match='no link'):
        link_shapes(robot, ['wrist_link'], ['wrist_link'])


MESHES = """
<robot name="meshes"><link name="a"><collision><geometry><mesh filename="a.stl"/></geometry>
</collision></link><link name="b"/><joint name="j" type="continuous"><parent link="a"/>
<child link="b"/><axis xyz="0 0 1"/></joint></robot>"""


def test_capsules_of_a_file_take_the_place_of_meshes(tmp_path):
    robot = load_robot(MESHES)
    with pytest.raises(RobotError, match="frame-ros capsules.*`shapes` in the robot's profile"):
        link_shapes(robot)
    path = tmp_path / 'capsules.yaml'
    capsule = Capsule(np.zeros(3), np.array([0.1, 0.0, 0.0]), 0.05)
    path.write_text(format_capsules('meshes', {'a': [capsule]}))
    found = load_shapes(path, robot)
    assert found.links == ('a',)
    instant = found.place(np.tile(np.eye(3), (2, 1, 1)), np.zeros((2, 3)))
    assert instant.link_distances([[0.2, 0, 0]])[0, 0] == pytest.approx(0.05, abs=3e-6)
    path.write_text(format_capsules('meshes', {'nonsense': [capsule]}))
    with pytest.raises(RobotError, match='nonsense'):
        load_shapes(path, robot)


@pytest.mark.parametrize(
    ('text', 'why'),
    [('{', 'YAML'), ('robot: a', '"links"'), ('links: {a: 3}', 'list'),
     ('links: {a: [{start: [0, 0], end: [0, 0, 1], radius: 1}]}', 'three numbers'),
     ('links: {a: [{start: [0, 0, 0], end: [0, 0, 1], radius: -1}]}', 'above 0'),
     ('links: {a: [{start: [0, 0, 0], radius: 1}]}', 'end')],
)  # fmt: skip
def test_files_that_hold_no_capsules_are_refused(tmp_path, text, why):
    path = tmp_path / 'capsules.yaml'
    path.write_text(text)
    with pytest.raises(RobotError, match=why):
        load_shapes(path, load_robot(MESHES))
    with pytest.raises(RobotError, match='cannot be read'):
        load_shapes(tmp_path / 'none.yaml', load_robot(MESHES))


def test_flat_and_round_ends_differ():
    flat, end = cylinder(0.1, 0.4), np.array([[0.0, 0.0, 0.25]])
    assert flat.kind == CYLINDER
    assert placed('a', [flat]).shape_distances(end)[0, 0] == pytest.approx(0.05)
    assert placed('a', [flat]).shape_distances([[0.1, 0.0, 0.25]])[0, 0] == pytest.approx(0.05)
