# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The proximity node measures by default as the depth core does by itself, and was measured."""

import numpy as np
import pytest

from frame_ros.core.errors import SetupError
from frame_ros.core.options import from_values
from frame_ros.nodes.proximity.options import ProximityOptions
from frame_ros.robots import load_robot
from frame_ros.sensing.proximity.depth.options import DepthOptions


def test_the_node_measures_as_the_core_does():
    assert ProximityOptions(cameras=('front',)).depth_options() == DepthOptions()


def test_each_camera_may_have_a_noise_of_its_own():
    cameras = ('front', 'wrist')
    given = {'cameras': cameras, 'depth.noises': ('wrist=0.021',)}
    settings = from_values(ProximityOptions, given)
    assert [settings.depth_options(camera).depth_noise for camera in cameras] == [0.01, 0.021]
    with pytest.raises(SetupError, match="names the camera 'side'"):
        from_values(ProximityOptions, {'depth.noises': ('side=0.02',)}).check()
    with pytest.raises(SetupError, match='camera=number'):
        from_values(ProximityOptions, {'depth.noises': ('front=much',)}).depth_options('front')


def test_more_postures_than_images_are_kept_are_refused_in_words():
    with pytest.raises(SetupError, match=r'alignment\.postures is 4; it must be at most'):
        from_values(ProximityOptions, {'alignment.postures': 4, 'alignment.frames': 3}).check()
    from_values(ProximityOptions, {'alignment.postures': 3, 'alignment.frames': 3}).check()


def test_a_tolerance_above_the_padding_is_refused_in_words():
    given = {'alignment.tolerance': 0.02}
    with pytest.raises(
        SetupError, match=r'alignment\.tolerance is 0\.02 m; it must be at most the'
    ):
        from_values(ProximityOptions, given).check()
    from_values(ProximityOptions, given | {'depth.padding': 0.02}).check()


@pytest.mark.parametrize(
    ('height', 'is_right'), [(0.0, True), (0.4, True), (1.6, False), (5.0, False)]
)
def test_a_table_above_all_that_the_arm_reaches_is_refused(height, is_right):
    """An FR3's flange is 1.19 m above its base at most, its sections one after the other 1.42 m."""
    values = {'robot': 'fr3', 'cameras': ['front'], 'depth.surface_height': height}
    options = from_values(ProximityOptions, values)
    if is_right:
        options.check()
    else:
        with pytest.raises(SetupError, match=f'{height:g} m, above all that fr3 can reach'):
            options.check()


@pytest.mark.parametrize('name', ['fr3', 'so101'])
def test_no_posture_reaches_beyond_the_farthest(name):
    robot = load_robot(name)
    q = np.random.default_rng(0).uniform(robot.lower, robot.upper, (500, len(robot.lower)))
    most = max(np.linalg.norm(robot.forward(each)[0]) for each in q)
    assert 0.7 * robot.description.farthest < most + 0.2
    assert most <= robot.description.farthest
