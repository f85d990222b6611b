# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Robots of published meshes: what is drawn lies at the shapes that are taken out of it, or on
the table, and an empty scene shows nothing.
"""

import numpy as np
import pytest

pytest.importorskip('mujoco')

from frame_ros.core.errors import MissingExtraError, ValueRangeError
from frame_ros.core.shared_files import CHECKOUT
from frame_ros.evaluation.trials.campaign import Trial, run_trial
from frame_ros.evaluation.trials.kinds import FUNCTIONS
from frame_ros.evaluation.trials.worlds.drawn_world import DRAWN_ROBOTS, drawn_world
from frame_ros.evaluation.trials.worlds.obstacles import SPHERE, Obstacle
from frame_ros.robots.link_frames import LinkFrames
from frame_ros.robots.shapes.filter_shapes import filter_shapes


@pytest.fixture(scope='module')
def world():
    try:
        return drawn_world('ur5')
    except MissingExtraError as error:
        pytest.skip(str(error))


def test_what_is_drawn_lies_at_the_shapes_or_on_the_table(world):
    world.set_front_camera([1.2, 0.3, 0.7], [0.3, 0.0, 0.3])
    world.pose(world.ready)
    depth = world.depth_without('front', ())
    turn, place = world.camera_pose('front')
    assert turn @ [0.0, 0.0, 1.0] @ ([0.3, 0.0, 0.3] - place) > 0.9
    rows, columns = np.nonzero(depth < 5.0)
    lens = world.intrinsics('front')
    rays = np.column_stack(
        ((columns - lens.cx) / lens.focal, (rows - lens.cy) / lens.focal, np.ones(len(rows)))
    )
    points = (rays * depth[rows, columns, None]) @ turn.T + place
    above = points[points[:, 2] > 1e-3]
    assert len(above) > 2000 and points[:, 2].min() > -1e-3
    robot, _ = world.sensed()
    every = filter_shapes(robot, CHECKOUT / 'config/shapes/ur5.yaml')
    placed = every.place(*LinkFrames(robot, world.joint_names).compute(world.ready))
    distances = placed.link_distances(above[::7]).min(axis=1)
    assert distances.min() > -0.02 and distances.max() < 0.003


def test_an_empty_scene_of_a_drawn_robot_has_no_distance_and_no_obstacles(world):
    trial = Trial('depth_robots', 'ur5', 9001, {'scene': 'empty', 'frames': 1})
    outcome = run_trial(trial, FUNCTIONS['depth_robots'])
    assert not outcome.problem and outcome.result['measured'] == [None]
    with pytest.raises(ValueRangeError, match='empty scenes'):
        world.set_obstacles([Obstacle(SPHERE, (0.01,) * 3, np.zeros(3))])
    with pytest.raises(ValueRangeError, match=', '.join(DRAWN_ROBOTS)):
        drawn_world('r2')
