# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The width of the outline that images of an arm need, against the distances that are measured."""

import math

import pytest
from benchmark_parts import import_parts

from frame_ros.evaluation.recorded_motion.arm_images import read_arm_images
from frame_ros.evaluation.recorded_motion.image_distances import judged_images
from frame_ros.evaluation.recorded_motion.outline_width import (
    NEAR,
    ImageNeed,
    OutlineWidth,
    SeenArm,
    outline_width,
)
from frame_ros.robots.link_frames import LinkFrames
from frame_ros.sensing.proximity.depth.options import DepthOptions
from frame_ros.sensing.proximity.mount import Mount
from frame_ros.sensing.proximity.robot_at import HeldObject, WatchedRobot


@pytest.fixture
def recording(monkeypatch, tmp_path):
    """Four images of an arm that is smeared by six pixels."""
    (drawn,) = import_parts(monkeypatch, 'drawn_arm_images')
    return read_arm_images(drawn.draw_recording(tmp_path, smeared=6))


def needs_of(recording, settings):
    held = HeldObject(0, (0.1, 0.1, 0.1), (0.0, 0.0, 0.0))
    frames = LinkFrames(recording.robot, recording.joint_names)
    mount = Mount(recording.robot.base_link, recording.rotation, recording.translation)
    images = [SeenArm(each.depth, each.positions) for each in recording.frames]
    return outline_width(
        WatchedRobot(frames, recording.shapes, held), recording.camera, mount, images, settings
    )


def near_images(recording, outline):
    judged = judged_images(recording, DepthOptions(surface_height=0.0, outline=outline))
    return [bool((each.measured < NEAR).any()) for each in judged]


def test_each_image_needs_the_least_width_with_which_nothing_is_near(recording):
    settings = DepthOptions(surface_height=0.0, outline=0.1)  # which counts for nothing
    found, pixel = needs_of(recording, settings), 1.0 / recording.camera.fx
    assert [each.reason for each in found.needs] == [''] * 4 and 0.0 < found.largest < 0.035
    assert not any(near_images(recording, found.largest))
    for row, each in enumerate(found.needs):
        assert not near_images(recording, each.width)[row]
        if each.width:
            assert near_images(recording, max(each.width - pixel, 0.0))[row]


def test_what_the_largest_of_many_says():
    few, many = (OutlineWidth((ImageNeed(0.01),) * count) for count in (10, 59))
    assert few.share_beyond == pytest.approx(0.2589, abs=1e-4)
    assert many.share_beyond == pytest.approx(0.0495, abs=1e-4)  # 59 samples: the rule of 5 %
    mixed = OutlineWidth((ImageNeed(math.nan), ImageNeed(math.inf), ImageNeed(0.02)))
    assert mixed.widths.tolist() == [0.02] and mixed.largest == 0.02
    assert OutlineWidth(()).share_beyond == 1.0 and math.isnan(OutlineWidth(()).largest)
