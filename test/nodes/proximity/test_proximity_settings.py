# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The proximity node measures by default as the depth core does by itself, and was measured."""

import dataclasses

import pytest

pytest.importorskip('rclpy')

from frame_ros.core.errors import SetupError
from frame_ros.nodes.proximity.options import ProximityOptions
from frame_ros.sensing.proximity.depth.options import DepthOptions

# Told otherwise as parameters: a surface and a workspace that are not there, planes as numbers.
TOLD_OTHERWISE = {'surface_height', 'workspace', 'planes'}


def test_the_node_measures_as_the_core_does():
    node = {field.name: field.default for field in dataclasses.fields(ProximityOptions)}
    core = {field.name: field.default for field in dataclasses.fields(DepthOptions)}
    assert core.keys() <= node.keys()
    shared = core.keys() - TOLD_OTHERWISE
    assert {name: node[name] for name in shared} == {name: core[name] for name in shared}
    settings = ProximityOptions(cameras=('front',)).depth_settings()
    assert settings == DepthOptions()


def test_each_camera_may_have_a_noise_of_its_own():
    settings = ProximityOptions(cameras=('front', 'wrist'), depth_noises=('wrist=0.021',))
    noises = [settings.depth_settings(camera).depth_noise for camera in settings.camera_names]
    assert noises == [0.01, 0.021]
    with pytest.raises(SetupError, match="names the camera 'side'"):
        ProximityOptions(cameras=('front',), depth_noises=('side=0.02',)).check()
    with pytest.raises(SetupError, match='camera=number'):
        ProximityOptions(cameras=('front',), depth_noises=('front=much',)).depth_settings('front')
