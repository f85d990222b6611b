# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Recorded depth images of an arm: what is read of them, and what counts as a false distance."""

import importlib

import cv2
import numpy as np
import pytest
import yaml
from benchmark_parts import import_parts

from frame_ros.core.errors import BagError
from frame_ros.core.shared_files import CHECKOUT
from frame_ros.evaluation.recorded_motion.arm_images import (
    AHEAD,
    NEEDED,
    read_arm_images,
)
from frame_ros.evaluation.recorded_motion.image_distances import JudgedImage, judged_images
from frame_ros.sensing.proximity.depth.options import DepthOptions

EXAMPLES = CHECKOUT / 'examples' / 'recordings'
DEFAULT = DepthOptions(surface_height=0.0)
WITHOUT = DepthOptions(surface_height=0.0, outline=0.0)


@pytest.fixture
def drawn(monkeypatch):
    """The module that draws a recording."""
    (module,) = import_parts(monkeypatch, 'drawn_arm_images')
    return module


def renewed(file, **content):
    """Writes the file of a recording with other content."""
    every = {**yaml.safe_load(file.read_text(encoding='utf-8')), **content}
    file.write_text(yaml.safe_dump(every), encoding='utf-8')
    return file


def false_images(file, settings):
    return sum(bool(each.is_false.any()) for each in judged_images(read_arm_images(file), settings))


def test_an_arm_that_is_smeared_is_taken_for_an_obstacle_without_the_outline(drawn, tmp_path):
    file = drawn.draw_recording(tmp_path, smeared=6)
    assert false_images(file, WITHOUT) >= 3
    assert false_images(file, DEFAULT) == 0


def test_a_sharp_arm_is_never_one(drawn, tmp_path):
    assert false_images(drawn.draw_recording(tmp_path), WITHOUT) == 0


def test_a_recording_is_what_was_drawn(drawn, tmp_path):
    recording = read_arm_images(drawn.draw_recording(tmp_path))
    assert recording.name == 'recording' and recording.joint_names == drawn.JOINTS
    assert list(recording.surfaces) == ['lower', 'upper']  # not the base
    assert recording.surfaces['lower'].shape == (8, 3)
    # The camera stands before the robot and looks back at it.
    np.testing.assert_allclose(recording.rotation @ (0.0, 0.0, 1.0), (-1.0, 0.0, 0.0), atol=1e-9)
    np.testing.assert_allclose(recording.translation, (1.2, 0.0, 0.3))
    for image, positions in zip(recording.frames, drawn.POSTURES, strict=True):
        assert image.positions.tolist() == list(positions)
        arm = image.depth[image.mask]
        assert len(arm) > 500 and 0.5 < arm.min() < arm.max() < 1.5
        assert (image.depth[~image.mask] == np.float32(drawn.WALL)).all()


@pytest.mark.parametrize('is_optical', [False, True])
def test_points_are_the_image_that_they_are_of(drawn, tmp_path, is_optical):
    file = drawn.draw_recording(tmp_path)
    one = read_arm_images(file)
    content = yaml.safe_load(file.read_text(encoding='utf-8'))
    pose, axes = drawn.POSE.copy(), AHEAD
    if is_optical:
        pose[:3, :3], axes = pose[:3, :3] @ AHEAD, np.eye(3)
    for number, image in enumerate(one.frames):
        points = one.camera.points(image.depth) @ axes.T  # in the axes that the pose is of
        np.save(tmp_path / f'points_{number}.npy', points.astype(np.float32))
        content['frames'][number]['depth'] = f'points_{number}.npy'
    other = read_arm_images(
        renewed(file, frames=content['frames'], pose=pose.tolist(), is_optical=is_optical)
    )
    for mine, its in zip(one.frames, other.frames, strict=True):
        np.testing.assert_allclose(mine.depth, its.depth, rtol=1e-6)


def test_positions_may_be_written_and_masks_drawn(drawn, tmp_path):
    file = drawn.draw_recording(tmp_path)
    one = read_arm_images(file)
    frames = yaml.safe_load(file.read_text(encoding='utf-8'))['frames']
    for number, positions in enumerate(drawn.POSTURES):
        (tmp_path / frames[number].pop('mask')).unlink()
        frames[number]['joints'] = list(positions)
    other = read_arm_images(renewed(file, frames=frames))
    for mine, its in zip(one.frames, other.frames, strict=True):
        np.testing.assert_array_equal(mine.positions, its.positions)
        np.testing.assert_array_equal(mine.mask, its.mask)


@pytest.mark.parametrize('kind', [np.float64, np.int32])
def test_depths_may_be_in_a_unit_that_is_given(drawn, tmp_path, kind):
    file = drawn.draw_recording(tmp_path)
    one = read_arm_images(file)
    frames = yaml.safe_load(file.read_text(encoding='utf-8'))['frames']
    for number, image in enumerate(one.frames):
        frames[number]['depth'] = f'depth_{number}.npy'
        np.save(tmp_path / f'depth_{number}.npy', np.rint(1e3 * image.depth).astype(kind))
    other = read_arm_images(renewed(file, frames=frames, depth_unit=0.001))
    for mine, its in zip(one.frames, other.frames, strict=True):
        np.testing.assert_allclose(mine.depth, its.depth, rtol=1e-6)


def test_a_mask_of_another_camera_is_moved_to_the_depth_camera(drawn, tmp_path):
    file = drawn.draw_recording(tmp_path)
    own = read_arm_images(file).frames
    lens = {'fx': 2 * drawn.FOCAL, 'fy': 2 * drawn.FOCAL, 'cx': 320.0, 'cy': 240.0, 'x': 0.0}
    for number, image in enumerate(own):
        large = cv2.resize(255 * image.mask.astype(np.uint8), (640, 480))
        cv2.imwrite(str(tmp_path / f'mask_{number}.png'), large)
    for mine, its in zip(own, read_arm_images(renewed(file, mask_camera=lens)).frames, strict=True):
        both = (mine.mask & its.mask).sum() / (mine.mask | its.mask).sum()
        assert both > 0.9
    aside = read_arm_images(renewed(file, mask_camera={**lens, 'x': 0.05})).frames[0].mask
    shift = np.nonzero(own[0].mask)[1].mean() - np.nonzero(aside)[1].mean()
    depth = np.median(own[0].depth[own[0].mask])
    # What is farther away moves less: the wall that the other camera has behind the arm.
    assert 0.05 * drawn.FOCAL / drawn.WALL < shift < 0.05 * drawn.FOCAL / depth


@pytest.mark.parametrize(
    ('content', 'why'),
    [
        ({'pose': ''}, 'has no pose'),
        ({'frames': []}, 'has no frames'),
        ({'links': ['hand']}, 'no meshes of hand; there are those of base, lower, upper'),
        ({'joints': ['turn']}, r'joints_0.npy is of shape \(2,\); \(1,\), finite, is expected'),
        ({'camera': {'width': 320}}, 'height'),
        (
            {'camera': {'width': 32, 'height': 24, 'fx': 1.0, 'fy': 1.0, 'cx': 0.0, 'cy': 0.0}},
            r'depth_0.png is of shape \(240, 320\); \(24, 32\) or \(\.\.\., 3\) is expected',
        ),
        ({'depth_unit': 'mm'}, 'mm'),
        ({'pose': 'joints_0.npy'}, r'joints_0.npy is of shape \(2,\); \(4, 4\)'),
        ({'pose': 'none.npy'}, 'none.npy'),
        ({'pose': [[1.0, 0.0]]}, r'pose is of shape \(1, 2\); \(4, 4\)'),
    ],
)
def test_what_does_not_fit_is_said(drawn, tmp_path, content, why):
    with pytest.raises(BagError, match=why):
        read_arm_images(renewed(drawn.draw_recording(tmp_path), **content))


def test_the_pose_may_be_written_in_the_file(drawn, tmp_path):
    file = drawn.draw_recording(tmp_path)
    one = read_arm_images(file)
    other = read_arm_images(renewed(file, pose=drawn.POSE.tolist()))
    np.testing.assert_array_equal(one.rotation, other.rotation)
    np.testing.assert_array_equal(one.translation, other.translation)


@pytest.mark.parametrize(
    ('name', 'images'),
    [
        ('xarm7', 10),
        ('xarm7_older', 5),
        ('lbr_med7', 11),
        ('lbr_med7_zed', 5),
        ('lbr_med7_zed_small', 17),
    ],
)
def test_files_of_published_recordings_have_what_is_needed(name, images):
    text = (EXAMPLES / f'{name}.yaml').read_text(encoding='utf-8')
    content = yaml.safe_load(text)
    assert all(content[key] for key in NEEDED) and len(content['frames']) == images
    assert len({str(each) for each in content['frames']}) == images and len(content['joints']) == 7


def test_pickled_arrays_are_not_loaded(drawn, tmp_path):
    file = drawn.draw_recording(tmp_path)
    np.save(tmp_path / 'joints_0.npy', np.array([{}], object), allow_pickle=True)
    with pytest.raises(BagError, match='allow_pickle'):
        read_arm_images(file)


def test_a_mask_of_another_size_is_refused(drawn, tmp_path):
    file = drawn.draw_recording(tmp_path)
    cv2.imwrite(str(tmp_path / 'mask_1.png'), np.zeros((24, 32), np.uint8))
    with pytest.raises(BagError, match=r'mask_1.png is \(24, 32\), the depth image \(240, 320\)'):
        read_arm_images(file)


@pytest.mark.parametrize('kind', [np.uint8, np.int32])
def test_depths_of_other_units_are_refused(drawn, tmp_path, kind):
    file = drawn.draw_recording(tmp_path)
    frames = yaml.safe_load(file.read_text(encoding='utf-8'))['frames']
    np.save(tmp_path / 'depth.npy', np.full((240, 320), 200, kind))
    frames[0]['depth'] = 'depth.npy'
    with pytest.raises(BagError, match=f'depth.npy is of {np.dtype(kind)}; uint16, mm'):
        read_arm_images(renewed(file, frames=frames))


def test_a_distance_is_false_if_it_is_near_and_the_reference_is_not():
    measured = np.array([0.05, 0.05, 0.12, np.nan, 0.05])
    reference = np.array([0.2, 0.07, 0.3, 0.2, np.inf])
    judged = JudgedImage('', 0.03, measured, reference)
    assert judged.is_false.tolist() == [True, False, False, False, True]
    assert judged.is_measured.tolist() == [True, True, True, False, True]


@pytest.mark.parametrize('joints', [[0.1], [0.1, 0.2, 0.3], [0.1, float('nan')], []])
def test_positions_that_are_not_those_of_the_joints_are_refused(drawn, tmp_path, joints):
    file = drawn.draw_recording(tmp_path)
    frames = yaml.safe_load(file.read_text(encoding='utf-8'))['frames']
    frames[0]['joints'] = joints
    with pytest.raises(BagError, match='2 finite positions are expected'):
        read_arm_images(renewed(file, frames=frames))


@pytest.fixture
def benchmark(monkeypatch):
    """The script of the figures; what it judges is given."""
    monkeypatch.syspath_prepend(str(CHECKOUT / 'benchmarks'))
    monkeypatch.setenv('ROS_DOMAIN_ID', '0')
    return importlib.import_module('recorded_depth')


def judged_by(benchmark, monkeypatch, capsys, file, *images):
    """Returns the exit status, and what is printed, where these images are what was found."""
    monkeypatch.setattr(benchmark, 'judged_images', lambda recording, settings: list(images))
    monkeypatch.setattr('sys.argv', ['recorded_depth.py', str(file)])
    return benchmark.main(), capsys.readouterr().out


NOTHING = np.full(2, np.nan)
FAR = np.full(2, np.inf)
RIGHT = JudgedImage('', 0.03, np.array([0.4, np.nan]), FAR)
FALSE = JudgedImage('', 0.03, np.array([0.4, 0.05]), FAR)
REFUSED = JudgedImage('misaligned', 0.03, NOTHING, FAR)
UNSEEN = JudgedImage('', 0.03, NOTHING, FAR)


MET, MISSED = '0, at most 0.001: met', '0.5, at most 0.001: MISSED'
NOT_SHOWN = 'no image has any: {}: NOT SHOWN'


@pytest.mark.parametrize(
    ('images', 'status', 'counts', 'verdict'),
    [
        ((RIGHT, RIGHT), 0, '2 | 0 | 0 | 0 of 2 (0 to 66 %) | 0 of 2 | 2', MET),
        ((RIGHT, FALSE), 1, '2 | 0 | 0 | 1 of 2 (9 to 91 %) | 1 of 3 | 1', MISSED),
        # What is not measured is nothing that went well.
        ((RIGHT, REFUSED, UNSEEN), 0, '3 | 1 | 1 | 0 of 1 (0 to 79 %) | 0 of 1 | 5', MET),
        ((REFUSED,) * 2, 1, '2 | 2 | 0 | 0 of 0 | 0 of 0 | 4', NOT_SHOWN.format('misaligned')),
        ((UNSEEN,), 1, '1 | 0 | 1 | 0 of 0 | 0 of 0 | 2', NOT_SHOWN.format('no link is in view')),
    ],
)
def test_what_is_not_measured_is_not_counted_as_right(
    benchmark, drawn, tmp_path, monkeypatch, capsys, images, status, counts, verdict
):
    file = drawn.draw_recording(tmp_path)
    found, printed = judged_by(benchmark, monkeypatch, capsys, file, *images)
    assert found == status
    assert f'| {counts} |' in printed and verdict in printed
