# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The proximity node measures by default as the depth core does by itself, and was measured."""

import pytest

from frame_ros.core.errors import SetupError
from frame_ros.core.options import from_values
from frame_ros.nodes.proximity.options import ProximityOptions
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
