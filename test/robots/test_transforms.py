# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Poses through trees of transforms, against scipy's rotations and 4 x 4 matrices."""

import math

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from frame_ros.core.time import SECOND
from frame_ros.robots.transforms import TransformTree

UNIT = (0.0, 0.0, 0.0, 1.0)


def random_pose(random):
    return random.normal(size=3), Rotation.random(random_state=random)


def matrix(translation, rotation):
    result = np.eye(4)
    result[:3, :3], result[:3, 3] = rotation.as_matrix(), translation
    return result


def add(tree, parent, child, pose, stamp=SECOND, scale=1.0, **options):
    translation, rotation = pose
    return tree.add(parent, child, stamp, translation, scale * rotation.as_quat(), **options)


@pytest.mark.parametrize('seed', range(5))
def test_a_pose_over_a_common_ancestor_equals_the_product_of_matrices(seed):
    random = np.random.default_rng(seed)
    poses = {name: random_pose(random) for name in ('base', 'link', 'camera', 'object')}
    tree = TransformTree()
    add(tree, 'world', 'base', poses['base'], is_static=True)
    add(tree, 'base', 'link', poses['link'])
    add(tree, '/world', '/camera', poses['camera'], scale=-3.0, is_static=True)
    add(tree, 'camera', 'object', poses['object'])
    m = {name: matrix(*pose) for name, pose in poses.items()}
    expected = np.linalg.inv(m['base'] @ m['link']) @ m['camera'] @ m['object']
    found = tree.pose_of('object', 'link')
    assert found.translation == pytest.approx(expected[:3, 3], abs=1e-12)
    turn = Rotation.from_quat(found.rotation).as_matrix()
    assert turn == pytest.approx(expected[:3, :3], abs=1e-12)
    assert found.stamp == SECOND


def test_what_moves_is_taken_at_the_newest_instant_that_all_have_reached():
    tree = TransformTree()
    for i in range(5):
        tree.add('base', 'camera', SECOND + i * 10, (float(i), 0.0, 0.0), UNIT)
    tree.add('camera', 'object', SECOND + 25, (0.0, 1.0, 0.0), UNIT)
    found = tree.pose_of('object', 'base')
    assert (found.stamp, found.translation) == (SECOND + 25, (2.0, 1.0, 0.0))
    # Of before the history of another frame there is no pose.
    tree.add('other', 'base', SECOND + 35, (0.0, 0.0, 0.0), UNIT)
    assert tree.pose_of('object', 'other') is None


def test_where_nothing_moves_the_pose_is_of_the_newest_stamp():
    tree = TransformTree()
    tree.add('base', 'table', 5, (1.0, 0.0, 0.0), UNIT, is_static=True)
    tree.add('table', 'bin', 9, (1.0, 0.0, 0.0), UNIT, is_static=True)
    found = tree.pose_of('bin', 'base')
    assert (found.stamp, found.translation) == (9, (2.0, 0.0, 0.0))
    assert tree.pose_of('base', 'base').translation == (0.0, 0.0, 0.0)


def test_frames_that_are_not_connected_and_loops_are_said():
    tree = TransformTree()
    tree.add('base', 'a', 1, (0.0, 0.0, 0.0), UNIT)
    tree.add('camera', 'b', 1, (0.0, 0.0, 0.0), UNIT)
    assert tree.pose_of('b', 'a') is None
    assert "'b' with 'a': above them are 'camera' and 'base'" in tree.problem('b', 'a')
    assert tree.problem('a', 'base') == ''
    tree.add('b', 'camera', 1, (0.0, 0.0, 0.0), UNIT)
    assert tree.pose_of('b', 'a') is None and 'loop' in tree.problem('b', 'a')


@pytest.mark.parametrize(
    ('stamp', 'translation', 'rotation'),
    [
        (SECOND + 1, (math.nan, 0.0, 0.0), UNIT),
        (SECOND + 1, (0.0, 0.0, 0.0), (0.0, 0.0, 0.0, math.inf)),
        (SECOND + 1, (0.0, 0.0, 0.0), (0.0, 0.0, 0.0, 0.0)),
        (SECOND, (0.0, 0.0, 0.0), UNIT),
        (SECOND - 5, (0.0, 0.0, 0.0), UNIT),
    ],
)
def test_transforms_that_cannot_be_used_are_left_out(stamp, translation, rotation):
    tree = TransformTree()
    assert tree.add('base', 'object', SECOND, (1.0, 2.0, 3.0), UNIT)
    assert not tree.add('base', 'object', stamp, translation, rotation)
    assert tree.pose_of('object', 'base').translation == (1.0, 2.0, 3.0)


def test_a_clock_set_back_is_believed_and_a_new_parent_too():
    tree = TransformTree()
    tree.add('base', 'object', 100 * SECOND, (1.0, 0.0, 0.0), UNIT)
    assert tree.add('base', 'object', SECOND, (2.0, 0.0, 0.0), UNIT)
    assert tree.pose_of('object', 'base').stamp == SECOND
    tree.add('base', 'hand', SECOND, (0.0, 0.0, 1.0), UNIT)
    tree.add('hand', 'object', SECOND, (0.0, 1.0, 0.0), UNIT)
    assert tree.pose_of('object', 'base').translation == (0.0, 1.0, 1.0)
