# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Recordings of joint positions: read in their units, divided at gaps, refused where they do not
fit a depth world; and trials of them, which give what the neighbours' give of the same motion.
"""

import json
import math
from functools import partial

import numpy as np
import pytest
from bag_making import T0, message, stamp, write_bag

from frame_ros.bags.recording_options import RecordedUnits
from frame_ros.core.errors import BagError, ValueRangeError
from frame_ros.core.time import SECOND
from frame_ros.evaluation.recorded_motion.motion import MOST_GAP, Motion, draw_stretch, pieces
from frame_ros.evaluation.recorded_motion.reading import read_motion

JOINTS = ('shoulder_pan', 'shoulder_lift', 'elbow_flex', 'wrist_flex', 'wrist_roll', 'gripper')
FRANKA = tuple(f'fr3_joint{i}' for i in range(1, 8))
RATE = 30


def ramp(samples=60):
    """(T, 6) rad."""
    return np.linspace(0.0, 0.5, samples)[:, None] * np.array([1.0, -1.0, 1.0, 0.5, -0.5, 0.2])


def bag_of(folder, positions, names=JOINTS, times=None, facts=None):
    """A bag of joint states at RATE, or at `times`, s."""
    times = np.arange(len(positions)) / RATE if times is None else times
    sent = []
    for at, row in zip((T0 + np.round(times * SECOND).astype(int)).tolist(), positions):
        content = message('sensor_msgs/msg/JointState', header__stamp=stamp(at),
                          name=list(names), position=np.array(row, float))  # fmt: skip
        sent.append(('/joint_states', at, content))
    return write_bag(folder, sent, facts)


def lerobot_set(folder, states, names=tuple(f'{n}.pos' for n in JOINTS), robot='so101_follower'):
    """A data set of two episodes, as far as it is read."""
    table = pytest.importorskip('pyarrow')
    from pyarrow import parquet

    (folder / 'meta').mkdir(parents=True)
    features = {'observation.state': {'dtype': 'float32', 'shape': [len(names)], 'names': names}}
    text = json.dumps({'codebase_version': 'v3.0', 'robot_type': robot, 'features': features})
    (folder / 'meta' / 'info.json').write_text(text)
    (folder / 'data' / 'chunk-000').mkdir(parents=True)
    count, half = len(states), len(states) // 2
    times = np.concatenate([np.arange(half), np.arange(count - half)]) / RATE
    columns = {
        'observation.state': [list(row) for row in np.asarray(states, np.float32).tolist()],
        'timestamp': times.astype(np.float32), 'task_index': np.zeros(count, int),
        'episode_index': (np.arange(count) >= half).astype(int),
    }  # fmt: skip
    parquet.write_table(table.table(columns), folder / 'data' / 'chunk-000' / 'file-000.parquet')
    return folder


def degrees(positions):
    """As LeRobot writes them: degrees, and 0 to 100 of the gripper's range."""
    values = np.degrees(positions)
    values[:, 5] = 100.0 * (positions[:, 5] + 0.174533) / (1.74533 + 0.174533)
    return values


def test_a_bag_moves_the_robot_whose_joints_it_has(tmp_path):
    read = read_motion(bag_of(tmp_path / 'bag', ramp()[:, ::-1], JOINTS[::-1]))
    (motion,) = read.motions
    assert read.robot == 'so101' and read.samples == 60 and not read.left_out
    np.testing.assert_allclose(motion.positions, ramp())
    assert read.seconds == pytest.approx(59 / RATE)
    arm_alone = bag_of(
        tmp_path / 'franka', np.full((40, 7), -0.1) * [0, 1, 0, 20, 0, -15, 0], FRANKA
    )
    read = read_motion(arm_alone)
    assert read.robot == 'fr3' and read.motions[0].positions.shape == (40, 8)
    assert read.motions[0].positions[0, 7] == pytest.approx(0.02)
    assert read.notes == ('fr3_finger_joint1 was not recorded: it is taken as half open',)


def test_a_gap_and_what_cannot_be_end_a_piece_and_are_counted(tmp_path):
    positions, times = ramp(300), np.arange(300) / RATE
    times[200:] += 2 * MOST_GAP
    positions[100, 0] = 3.0  # beyond any limit
    positions[50, 1] = math.nan
    read = read_motion(bag_of(tmp_path / 'bag', positions, times=times))
    assert [len(motion.times) for motion in read.motions] == [99, 99, 100]
    assert read.left_out == {'a position that is not finite': 1, 'outside of the limits': 1}
    assert not any(np.diff(motion.times).max() > MOST_GAP for motion in read.motions)


def test_a_data_set_is_read_in_the_units_that_are_named(tmp_path):
    folder = lerobot_set(tmp_path / 'set', degrees(ramp()))
    read = read_motion(folder, RecordedUnits('deg'))
    assert [motion.name for motion in read.motions] == ['episode 0', 'episode 1']
    both = np.concatenate([motion.positions for motion in read.motions])
    np.testing.assert_allclose(both, ramp(), atol=1e-5)
    assert 'converted from deg' in read.notes[0]
    with pytest.raises(ValueRangeError, match=r'outside the limits of so101.*--joint-units deg'):
        read_motion(folder)
    listed = {'motors': list(JOINTS)}
    old = lerobot_set(tmp_path / 'old', ramp(), listed, robot=None)
    assert read_motion(old).robot == 'so101'


def test_a_recording_of_sage_has_its_jaw_from_0_to_1(tmp_path):
    folder = tmp_path / 'wave'
    folder.mkdir()
    (folder / 'joint_list.txt').write_text('Rotation\nPitch\nElbow\nWrist_Pitch\nWrist_Roll\nJaw\n')
    rows = [f'STATE_MOTOR,{20000.0 * i},"{[0.1, 0, 0, 0, 0, 0.5]}","[]","[]"' for i in range(20)]
    text = '\n'.join(['type,timestamp,positions,velocities,torques', *rows])
    (folder / 'state_motor.csv').write_text(text)
    read = read_motion(tmp_path)
    assert read.motions[0].positions[3].tolist() == pytest.approx([0.1, 0, 0, 0, 0, 0.785399])
    assert read.seconds == pytest.approx(0.38) and read.motions[0].name == 'wave'
    with pytest.raises(ValueRangeError, match='are in rad, not in deg'):
        read_motion(tmp_path, RecordedUnits('deg'))
    (folder / 'joint_list.txt').write_text('left_hip\n')
    with pytest.raises(BagError, match='not left_hip'):
        read_motion(tmp_path)


def test_recordings_that_do_not_fit_say_why(tmp_path):
    def refused(match, path, error=BagError):
        with pytest.raises(error, match=match):
            read_motion(path)

    other = [f'panda_joint{i}' for i in range(1, 8)]
    refused(
        'is of another robot: joints panda_joint1', bag_of(tmp_path / 'a', np.zeros((9, 7)), other)
    )
    koch = lerobot_set(tmp_path / 'koch', ramp(), robot='koch_follower')
    refused('another robot: koch_follower, whose joints have the names of', koch)
    named = bag_of(tmp_path / 'b', ramp(), facts={'robot': 'fr3'})
    refused("another robot: fr3, whose joints have the names of so101's", named)
    old = lerobot_set(tmp_path / 'c', ramp(), [f'main_{name}' for name in JOINTS])
    refused('before June 2025', old)
    refused('has no names observation.state', lerobot_set(tmp_path / 'd', ramp(), []))
    refused('holds no joint positions', lerobot_set(tmp_path / 'e', ramp(0)))
    silent = write_bag(tmp_path / 'f', [('/note', T0, message('std_msgs/msg/String', data='x'))])
    refused('holds no joint positions', silent)
    refused('no_such_bag', tmp_path / 'no_such_bag')
    far = bag_of(tmp_path / 'g', ramp() + [0, 0, 3.0, 0, 0, 0])
    refused('elbow_flex 3 to 3.5 .*another zero', far, ValueRangeError)
    pointer = koch / 'data' / 'chunk-000' / 'file-000.parquet'
    pointer.write_text('version https://git-lfs.github.com/spec/v1\n')
    refused('git lfs pull', koch)
    pointer.write_text('PAR1 and no more')
    refused('cannot be read', koch)
    pointer.unlink()
    refused('the data set is empty', koch)


def test_stretches_are_of_one_piece_and_of_its_speed():
    times = np.arange(0.0, 6.0, 0.02)
    line = Motion('line', times, times[:, None] * [1.0, 2.0])
    usable = np.ones(len(times), bool)
    usable[[150, 290]] = False
    parts = pieces(line, usable)
    assert [len(part.times) for part in parts] == [150, 139, 9]
    starts = []
    for seed in range(40):
        stretch = draw_stretch(parts, 10, seed)
        np.testing.assert_allclose(np.diff(stretch.positions, axis=0), [[0.1, 0.2]] * 9)
        first, last = stretch.positions[[0, -1], 0]
        assert last < 2.981 or (first > 3.019 and last < 5.781)
        starts.append(first)
    assert max(starts) > 3.0 > min(starts)
    assert np.array_equal(stretch.positions, draw_stretch(parts, 10, 39).positions)
    with pytest.raises(
        ValueRangeError,
        match=r'10 frames need 0\.9 s .*; there are 0\.16 s',
    ):
        draw_stretch(parts[2:], 10, 0)


def test_a_given_motion_is_measured_as_the_same_motion_of_a_neighbour():
    pytest.importorskip('mujoco')
    from frame_ros.evaluation.trials.campaign import Trial, run_trial
    from frame_ros.evaluation.trials.depth_worlds import PICK_AND_PLACE, motion_of_others
    from frame_ros.evaluation.trials.kinds import FUNCTIONS
    from frame_ros.evaluation.trials.worlds.depth_world import depth_world

    path = motion_of_others(PICK_AND_PLACE, depth_world('so101'), 2, 5001).tolist()
    settings = {'scene': 'empty', 'frames': 2, 'motion': PICK_AND_PLACE}
    run = partial(run_trial, function=FUNCTIONS['depth_motion'])
    theirs = run(Trial('depth_motion', 'so101', 5001, settings))
    given = {'scene': 'empty', 'positions': path, 'source': 'x'}
    ours = run(Trial('depth_recorded', 'so101', 5001, given))
    assert ours.result.pop('is_touching') == [False, False]
    assert ours.result == theirs.result and not ours.problem
    below = {'scene': 'empty', 'positions': [[0.0, 1.7, -1.0, 0.0, 0.0, 0.0]], 'source': 'x'}
    found = run(Trial('depth_recorded', 'so101', 1, below)).result
    assert found['is_touching'] == [True]
    wrong = Trial('depth_recorded', 'so101', 1, {**given, 'positions': [[0.0] * 5]})
    assert '(frames, 6) are expected' in run(wrong).problem
