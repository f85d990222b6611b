# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Cameras that are configured and give nothing: what is published is not complete."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from frame_ros.nodes.proximity.camera import ProximityCamera
from frame_ros.nodes.proximity.fusion import fused
from frame_ros.nodes.proximity.node import ProximityNode
from frame_ros.sensing.proximity.depth.detector import NOTHING_NEAR
from frame_ros.sensing.proximity.link_distances import DistanceReading
from frame_ros.sensing.proximity.surroundings import Surroundings
from frame_ros.sensing.proximity.unseen import HIDDEN, Unseen

LINKS, POINTS = ('a',), np.zeros((1, 3))
KNOWN = DistanceReading(LINKS, np.array([0.4]), POINTS, POINTS, ('box',), sources=('model',))
ROW = np.zeros(1, np.intp)
UNSEEN = Unseen(
    Surroundings(ROW, POINTS, ROW, np.array([0.05]), 0.015, 1), np.full(1, HIDDEN, np.uint8),
    np.zeros(1, np.bool_), 0.01, 0.3,
)  # fmt: skip


def judged(reading, refusal=''):
    camera = object.__new__(ProximityCamera)
    camera.name, camera._trusted = 'front', SimpleNamespace(refusal=refusal)
    return camera._judged(reading, LINKS, 'no joint state has come')


def test_a_camera_with_nothing_near_keeps_what_it_did_not_see():
    nothing = replace(DistanceReading.missing(LINKS, NOTHING_NEAR), unseen=UNSEEN)
    found = judged(nothing)
    assert found.unavailable == f'camera front: {NOTHING_NEAR}' and not found.blind
    assert found.unobserved_distance == 0.05
    refused = judged(nothing, 'it is not where it is said to be')
    assert refused.unseen is None
    assert refused.blind == refused.unavailable == 'camera front: it is not where it is said to be'


@pytest.mark.parametrize(
    'reading', [None, DistanceReading.missing(LINKS, 'too few pixels', is_blind=True)]
)
def test_a_camera_that_gives_nothing_is_blind(reading):
    found = judged(reading)
    both = fused(LINKS, {'front': (0, found)}, 0, 1.0, False, KNOWN)
    assert both.distance == 0.4 and both.cautious_distance == 0.0
    assert both.partial_reason == found.blind == found.unavailable


def test_a_camera_without_images_or_with_old_ones_is_blind():
    for newest in (None, (0, KNOWN)):
        both = fused(LINKS, {'front': newest}, 2 * 10**9, 1.0, False, KNOWN)
        assert both.distance == 0.4 and both.is_partial
        assert both.partial_reason.startswith('camera front: ')


def test_known_obstacles_alone_are_partial_while_cameras_are_silent():
    published = []
    node = SimpleNamespace(
        settings=SimpleNamespace(needs_all_cameras=False),
        _joints=SimpleNamespace(newest=(1, ()), at=lambda stamp: None),
        _cameras=[SimpleNamespace(name='front', silence=lambda now: 'camera front: no image')],
        _last_stamp=0,
        _model_limit=SimpleNamespace(is_due=lambda stamp: True),
        _is_next=lambda stamp: True,
        _model=SimpleNamespace(measure=lambda robot: KNOWN),
        _robot_at=lambda stamp, joints: 'robot',
        _publish=lambda stamp, reading: published.append(reading),
        _warn=lambda kind, why: None,
    )
    ProximityNode._measure_model(node)
    assert published[0].partial_reason == 'camera front: no image'
    assert published[0].cautious_distance == 0.0
    node._cameras = []
    ProximityNode._measure_model(node)
    assert not published[1].is_partial and published[1].cautious_distance == 0.4
