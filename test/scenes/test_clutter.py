# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Obstacles beside the task's own; exact distances to them, by coal; what cameras see of them."""

import numpy as np
import pytest

pytest.importorskip('mujoco')

from frame_ros.core.errors import SetupError, ValueRangeError
from frame_ros.robots.profiles import simulated_robots
from frame_ros.scenes import (
    Obstacle,
    PickPlaceSimulation,
    draw_clutter,
    draw_layout,
    scene_robot,
)
from frame_ros.scenes.simulation.visibility import VisibilityRule, visible_points

SEEDS = range(12)


@pytest.fixture(scope='module', params=simulated_robots())
def cluttered(request):
    simulation = PickPlaceSimulation(robot=request.param)
    simulation.add_clutter(3)
    yield simulation
    simulation.close()


@pytest.mark.parametrize('robot', map(scene_robot, simulated_robots()), ids=simulated_robots())
def test_clutter_follows_from_the_seed_and_keeps_out_of_the_way(robot):
    drawn = [draw_clutter(seed, robot) for seed in SEEDS]
    assert drawn == [draw_clutter(seed, robot) for seed in SEEDS]
    assert len(set(drawn)) == len(SEEDS)
    assert {obstacle.kind for clutter in drawn for obstacle in clutter} == {
        'box', 'cylinder', 'sphere',
    }  # fmt: skip
    for seed, clutter in zip(SEEDS, drawn, strict=True):
        layout = draw_layout(seed, robot.table)
        for obstacle in clutter:
            lowest = obstacle.position[2] - obstacle.half_height
            if lowest > 0.01:
                continue
            for thing in (layout.target, layout.bin, *layout.distractors):
                gap = np.linalg.norm(np.subtract(obstacle.position[:2], thing.position[:2]))
                assert gap > np.linalg.norm(obstacle.half_sizes[:2]) * 0.7


def test_clutter_is_clear_of_the_robot_at_home_and_seen_in_distances(cluttered):
    cluttered.reset(0)
    assert not cluttered.contacts()
    names = [obstacle.name for obstacle in cluttered.obstacles]
    assert names == [f'clutter_{i}' for i in range(6)]
    assert cluttered.distances_of_links(names).distance > 0.02
    assert set(names) < set(cluttered.obstacle_names)


def shape_of(coal, model, geom):
    size = model.geom_size[geom]
    kinds = {
        2: lambda: coal.Sphere(size[0]),
        5: lambda: coal.Cylinder(size[0], 2 * size[1]),
        6: lambda: coal.Box(*(2 * size)),
    }
    return kinds[int(model.geom_type[geom])]()


def pairs(simulation, link):
    """(geom of the link, geom of an obstacle, its name)."""
    model = simulation.model
    solid = np.flatnonzero(model.geom_contype)
    names = [model.body(model.geom_bodyid[g]).name for g in range(model.ngeom)]
    own = [g for g in solid if names[g] == link]
    return [(g, o, names[o]) for g in own for o in solid if names[o] in simulation.obstacle_names]


def test_distances_and_closest_points_equal_those_of_coal(cluttered):
    coal = pytest.importorskip('coal')
    rng = np.random.default_rng(0)
    cluttered.reset(2)
    robot, model, data = cluttered.robot, cluttered.model, cluttered.data
    spread = 0.4 * np.minimum(1.0, cluttered.upper - cluttered.lower)
    for _ in range(3):
        q = np.array(robot.home) + rng.normal(0.0, spread)
        for name, value in zip(robot.joint_names, q, strict=True):
            data.joint(name).qpos[0] = value
        cluttered.step(None, 0)
        reading = cluttered.distances_of_links()
        for row, link in enumerate(reading.links):
            found = []
            for own, other, name in pairs(cluttered, link):
                result = coal.DistanceResult()
                placed = [
                    (shape_of(coal, model, g),
                     coal.Transform3s(data.geom_xmat[g].reshape(3, 3), data.geom_xpos[g]))
                    for g in (own, other)
                ]  # fmt: skip
                distance = coal.distance(*placed[0], *placed[1], coal.DistanceRequest(True), result)
                found.append((distance, name))
            least, name = min(found)
            assert reading.distances[row] == pytest.approx(max(least, 0.0), abs=1e-5)
            if least > 0:
                assert reading.obstacles[row] == name
                apart = reading.points_on_robot[row] - reading.points_on_obstacle[row]
                assert np.linalg.norm(apart) == pytest.approx(least, abs=1e-5)
        least = cluttered.distance()
        assert (least.distance, least.link) == (
            reading.distance,
            reading.links[reading.nearest],
        )


def test_distances_to_the_cube_are_asked_for_by_name(cluttered):
    cluttered.reset(0)
    assert set(cluttered.distances_of_links(['cube']).obstacles) == {'cube'}
    with pytest.raises(ValueRangeError, match='cupboard'):
        cluttered.distances_of_links(['cupboard'])
    with pytest.raises(ValueRangeError, match='nothing'):
        cluttered.distances_of_links([])


def test_what_is_put_in_the_way_is_hit():
    simulation = PickPlaceSimulation(
        robot='fr3', obstacles=[Obstacle('post', 'cylinder', (0.04, 0.2), (0.9, 0.3, 0.1))]
    )
    tip = simulation.tip_position()
    simulation.move_obstacle('post', tip - (0.0, 0.05, 0.08))
    simulation.step(None, 20)
    contacts = simulation.contacts()
    assert {contact.other for contact in contacts} == {'post'}
    assert not any(contact.is_expected for contact in contacts)
    assert simulation.distances_of_links(['post']).distance == pytest.approx(0.0, abs=1e-3)
    with pytest.raises(ValueRangeError, match='wall'):
        simulation.move_obstacle('wall', tip)
    with pytest.raises(ValueRangeError, match='post'):
        simulation.add_obstacles([Obstacle('post', 'sphere', (0.1,), (1.0, 0.0, 0.5))])
    simulation.clear_obstacles()
    assert simulation.obstacles == ()
    assert simulation.contacts() == []


def test_impossible_obstacles_are_refused():
    with pytest.raises(ValueRangeError, match='cone'):
        Obstacle('a', 'cone', (0.1,), (0, 0, 0))
    with pytest.raises(ValueRangeError, match='3 positive'):
        Obstacle('a', 'box', (0.1, 0.1), (0, 0, 0))
    with pytest.raises(ValueRangeError, match='-1'):
        draw_clutter(-1)
    with pytest.raises(ValueRangeError, match='500'):
        draw_clutter(0, count=500)


@pytest.fixture(scope='module')
def looked_at():
    """A ball in the open, and another that the first hides from the front camera."""
    front = np.array((0.95, -0.75, 0.75))
    near = np.array((0.75, -0.1, 0.45))
    behind = near + 0.3 * (near - front) / np.linalg.norm(near - front)
    simulation = PickPlaceSimulation(
        robot='fr3',
        obstacles=[
            Obstacle('near', 'sphere', (0.08,), tuple(near)),
            Obstacle('behind', 'sphere', (0.03,), tuple(behind)),
        ],
    )
    try:
        simulation.render('front', 640, 480)
    except SetupError as error:
        pytest.skip(str(error))
    yield simulation
    simulation.close()


def test_segmentation_names_what_pixels_show(looked_at):
    bodies = looked_at.segment('front', 640, 480)
    shown = {looked_at.body_names[index] for index in np.unique(bodies) if index >= 0}
    assert {'near', 'table', 'cube', 'fr3_link3', 'world'} <= shown
    assert 'behind' not in shown
    camera = looked_at.intrinsics('front', 640, 480)
    position, rotation = looked_at.camera_pose('front')
    x, y, z = rotation.T @ (looked_at.data.body('near').xpos - position)
    u, v = camera.focal * x / z + camera.cx, camera.focal * y / z + camera.cy
    rows, columns = np.nonzero(bodies == looked_at.body_names.index('near'))
    assert (columns.mean(), rows.mean()) == pytest.approx((u, v), abs=3.0)
    radius = np.sqrt(len(rows) / np.pi)
    assert radius == pytest.approx(camera.focal * 0.08 / z, rel=0.03)


def test_only_points_on_the_lit_side_in_the_open_are_visible(looked_at):
    centre = looked_at.data.body('near').xpos
    eye, rotation = looked_at.camera_pose('front')
    towards = (eye - centre) / np.linalg.norm(eye - centre)
    points = [
        centre + 0.08 * towards,
        centre - 0.08 * towards,  # on the far side
        looked_at.data.body('behind').xpos + 0.03 * towards,  # hidden
        centre + 0.12 * towards,  # on nothing
        eye + 0.5 * towards,  # behind the camera
        centre + 2.0 * rotation[:, 0],  # beside the picture
        np.full(3, np.nan),
    ]
    names = looked_at.body_names
    bodies = [names.index(name) for name in ('near', 'near', 'behind', 'near', 'near', 'near')]
    depth = looked_at.render('front', 640, 480, with_depth=True).depth
    segmentation = looked_at.segment('front', 640, 480)
    lens = looked_at.intrinsics('front', 640, 480)
    view = (np.array(points), np.array([*bodies, -1]), depth, segmentation, lens, eye, rotation)
    assert visible_points(*view).tolist() == [True] + [False] * 6
    # Where the sensor gives no depth nothing is.
    valid = np.ones((480, 640), bool)
    assert visible_points(*view, valid=valid).tolist() == [True] + [False] * 6
    assert not visible_points(*view, valid=valid & (segmentation != bodies[0])).any()


def test_a_picture_follows_an_obstacle_that_was_moved(looked_at):
    number = looked_at.body_names.index('near')
    before = looked_at.segment('front', 160, 120) == number
    place = looked_at.data.body('near').xpos.copy()
    looked_at.move_obstacle('near', place + (0.0, 0.0, 0.15))
    after = looked_at.segment('front', 160, 120) == number
    looked_at.move_obstacle('near', place)
    assert np.nonzero(after)[0].mean() < np.nonzero(before)[0].mean() - 5


def test_visibility_of_a_reading(looked_at):
    looked_at.step(None, 0)
    reading = looked_at.distances_of_links(['near', 'table'])
    seen = looked_at.visible(reading, 'front')
    by_link = dict(zip(reading.links, seen, strict=True))
    # The near ball's closest point to the hand lies on its far left; the link stands before its own
    # place on the table.
    assert not by_link['fr3_link2']
    assert not looked_at.visible(reading, 'front', rule=VisibilityRule(least_pixels=10)).any()
    assert looked_at.visible(looked_at.distances_of_links(['near']), 'front').shape == (9,)
