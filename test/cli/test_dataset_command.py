# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""`frame-ros dataset`: bags read back by LeRobot frame by frame, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from bag_making import write_bag
from robot_bags import (
    JOINTS,
    commands,
    image,
    joint_state,
    robot_bag,
    robot_messages,
    step_stamp,
    takeover,
)
from turning_arm import NAMES as TURNING_ARM
from turning_arm import PLACES, counted, urdf, wrapped

pytest.importorskip('lerobot')

from frame_ros.cli import main
from frame_ros.core.lerobot_import import offline
from frame_ros.episodes.export.demonstrations import import_dataset
from frame_ros.robots import load_robot
from frame_ros.robots.joint_units import joint_units

LIMITS = load_robot('so101').joint_limits
UNITS = joint_units('degrees', JOINTS, {'gripper': LIMITS['gripper']})


def read(folder: Path) -> Any:
    """The data set by LeRobot's own class."""
    with offline():
        return import_dataset()('local/set', root=folder)


def export(*arguments: str | Path) -> int:
    return main(['dataset', *map(str, arguments)])


@pytest.fixture(scope='module')
def bags(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A success in which a person drove from step 10 to step 15, and a failure."""
    folder = tmp_path_factory.mktemp('bags')
    robot_bag(folder / 'a', takeover(10, 15), count=24, cameras=('front', 'wrist'))
    robot_bag(folder / 'b', count=20, cameras=('front', 'wrist'), outcome=2, start=step_stamp(99))
    return folder


@pytest.fixture(scope='module')
def written(bags: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp('sets') / 'all'
    assert export(bags, '-o', folder, '--images', '--repo-id', 'me/cubes', '-q') == 0
    return folder


def test_every_frame_is_that_of_the_bag(written: Path):
    dataset = read(written)
    assert dataset.num_episodes == 2 and len(dataset) == 24 + 20 and dataset.fps == 30
    wanted = [(step, row) for count in (24, 20) for step, row in enumerate(commands(count))]
    for item, (step, row) in zip((dataset[i] for i in range(len(dataset))), wanted):
        np.testing.assert_allclose(item['action'], UNITS.to_policy(row), rtol=1e-5)
        state = commands(24)[max(step - 1, 0)]
        np.testing.assert_allclose(item['observation.state'], UNITS.to_policy(state), rtol=1e-5)
        for camera in ('front', 'wrist'):
            pixels = (item[f'observation.images.{camera}'] * 255).round()
            assert pixels.shape == (3, 12, 16) and (pixels[0] == step).all() and not pixels[1].any()
        assert item['task'] == 'pick' and item['timestamp'] == pytest.approx(step / 30)
    names = [f'{name}.pos' for name in JOINTS]
    assert dataset.meta.features['action']['names'] == names
    assert dataset.meta.robot_type == 'so101'


def test_state_and_command_of_one_cycle_stay_together_in_spite_of_jitter(tmp_path: Path):
    """As a loop writes them that reads the arm and commands it right after."""
    messages, rng = [], np.random.default_rng(0)
    for step in range(60):
        at = step_stamp(step) + int(rng.normal(0.0, 1e6))
        row = np.full(len(JOINTS), 0.001 * step)
        messages.append(('/joint_states', at, joint_state(at, row)))
        messages.append(('/joint_commands', at, joint_state(at + 10, row)))
    bag = write_bag(tmp_path / 'bag', messages)
    given = ['--cameras', 'none', '--task', 'x', '--units', 'rad', '-q']
    assert export(bag, '-o', tmp_path / 'set', *given) == 0
    columns = read(tmp_path / 'set').hf_dataset.with_format('numpy')
    state, action = (np.stack(columns[name]) for name in ('observation.state', 'action'))
    assert len(state) == 60
    np.testing.assert_array_equal(state, action)


def test_actions_of_a_joint_that_turns_without_end_are_of_the_turn_that_is_observed(tmp_path: Path):
    """A gate counts the turns of an arm whose driver publishes from -pi to pi."""
    (tmp_path / 'arm.urdf').write_text(urdf())
    messages, sent = [], counted(150) + np.where(PLACES, 4.0 * np.pi, 0.0)
    for step, row in enumerate(sent):
        at = step_stamp(step)
        messages.append(('/joint_states', at, joint_state(at, wrapped(row), TURNING_ARM)))
        messages.append(('/joint_commands', at, joint_state(at + 10, row, TURNING_ARM)))
    bag = write_bag(tmp_path / 'bag', messages)
    given = ['--cameras', 'none', '--task', 'x', '--units', 'rad', '-q']
    given += ['--robot', str(tmp_path / 'arm.urdf')]
    assert export(bag, '-o', tmp_path / 'set', *given) == 0
    columns = read(tmp_path / 'set').hf_dataset.with_format('numpy')
    state, action = (np.stack(columns[name]) for name in ('observation.state', 'action'))
    assert len(state) == 150 and np.ptp(state[:, 0]) > 6.0
    np.testing.assert_allclose(state, action, atol=1e-5)


def test_cameras_in_folders_of_topics_get_names_that_lerobot_takes(tmp_path: Path, capsys):
    """As a RealSense's driver names its topics."""
    messages = [
        (topic.replace('/front/', '/camera/color/'), at, content)
        for topic, at, content in robot_messages(count=8)
    ]
    bag = write_bag(tmp_path / 'bag', messages)
    for name, more in (('set', ()), ('same', ('--cameras', 'camera_color'))):
        assert export(bag, '-o', tmp_path / name, '--images', '-q', *more) == 0
        assert 'observation.images.camera_color' in read(tmp_path / name)[0]
    both = [
        (topic.replace('camera/color', 'camera_color'), at, content)
        for topic, at, content in messages
        if 'color' in topic
    ]
    two = write_bag(tmp_path / 'two', sorted([*messages, *both], key=lambda sent: sent[1]))
    assert export(two, '-o', tmp_path / 'none', '--images', '-q') == 2
    assert 'would both be observation.images.camera_color' in capsys.readouterr().err


def test_flags_say_success_and_who_drove(written: Path):
    dataset = read(written)
    items = [dataset[i] for i in range(len(dataset))]
    assert [i for i, item in enumerate(items) if item['next.done']] == [23, 43]
    assert [i for i, item in enumerate(items) if item['next.success']] == [23]
    assert [i for i, item in enumerate(items) if item['next.reward']] == [23]
    for name in ('intervention', 'complementary_info.is_intervention'):
        assert [i for i, item in enumerate(items) if item[name]] == list(range(10, 15))


def test_hil_serl_reads_it_into_its_replay_buffer(written: Path):
    buffers = pytest.importorskip('lerobot.rl.buffer')
    state, dataset = ['observation.state'], read(written)
    buffer = buffers.ReplayBuffer.from_lerobot_dataset(
        dataset, device='cpu', state_keys=state, capacity=len(dataset), use_drq=False
    )
    assert len(buffer) == 44 and buffer.rewards.sum() == 1 and buffer.dones.sum() == 2
    assert buffer.complementary_info['is_intervention'].sum() == 5


def test_training_gets_chunks_of_it(written: Path):
    """The features that LeRobot's training takes: the flags are no input of a policy."""
    import torch
    from lerobot.datasets.utils import dataset_to_policy_features

    with offline():
        times = {'action': [i / 30 for i in range(4)]}
        dataset = import_dataset()('local/set', root=written, delta_timestamps=times)
    assert set(dataset_to_policy_features(dataset.meta.features)) == {
        'observation.state', 'observation.images.front', 'observation.images.wrist', 'action',
    }  # fmt: skip
    batch = next(iter(torch.utils.data.DataLoader(dataset, batch_size=3)))
    rows = np.stack([UNITS.to_policy(row) for row in commands(24)[:6]])
    wanted = np.stack([rows[i : i + 4] for i in range(3)])
    np.testing.assert_allclose(batch['action'], wanted, rtol=1e-5)
    assert not batch['action_is_pad'].any() and batch['task'] == ['pick'] * 3


def test_a_persons_stretches_alone_or_left_out(bags: Path, tmp_path: Path):
    only = tmp_path / 'only'
    given = ['--cameras', 'none', '--no-flags', '-q']
    assert export(bags / 'a', '-o', only, '--interventions-only', *given) == 0
    dataset = read(only)
    assert dataset.num_episodes == 1 and len(dataset) == 5
    actions = np.stack([dataset[i]['action'] for i in range(5)])
    np.testing.assert_allclose(actions, UNITS.to_policy(commands(24)[10:15]), rtol=1e-5)
    assert 'intervention' not in dataset.meta.features
    without = tmp_path / 'without'
    assert export(bags / 'a', '-o', without, '--exclude-interventions', *given) == 0
    dataset = read(without)
    assert [dataset.meta.episodes[i]['length'] for i in range(2)] == [10, 9]


def test_successes_alone_in_radians(bags: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    folder = tmp_path / 'set'
    given = ['--success-only', '--units', 'rad', '--cameras', 'none', '--json', '--fps', '15']
    assert export(bags, '-o', folder, *given) == 0
    told = json.loads(capsys.readouterr().out)
    assert told['episodes'] == 1 and told['frames'] == 12 and told['fps'] == 15
    assert told['left_out'] == {'episodes that did not end in success': 1}
    dataset = read(folder)
    actions = np.stack([dataset[i]['action'] for i in range(12)])
    np.testing.assert_allclose(actions, commands(24)[::2], rtol=1e-6)


def test_videos_hold_the_pictures(bags: Path, tmp_path: Path):
    av = pytest.importorskip('av')
    folder = tmp_path / 'set'
    assert export(bags / 'b', '-o', folder, '--cameras', 'front', '--codec', 'h264', '-q') == 0
    assert json.loads((folder / 'meta' / 'info.json').read_text())['total_frames'] == 20
    (video,) = folder.glob('videos/observation.images.front/**/*.mp4')
    with av.open(str(video)) as container:
        frames = [frame.to_ndarray(format='rgb24') for frame in container.decode(video=0)]
    assert len(frames) == 20 and frames[0].shape == (12, 16, 3)
    red = np.array([frame[:, :, 0].mean() for frame in frames])
    np.testing.assert_allclose(red, np.arange(20), atol=6)


def test_cameras_that_are_slower_than_the_frames(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    bag = robot_bag(tmp_path / 'bag', image_every=2, count=20)
    folder = tmp_path / 'set'
    assert export(bag, '-o', folder, '--fps', '30') == 2
    assert 'front at 15.0 Hz; at most 15 are reached' in capsys.readouterr().err
    assert not folder.exists()
    assert export(bag, '-o', folder, '--images', '-q') == 0
    assert read(folder).fps == 15
    again = tmp_path / 'again'
    capsys.readouterr()
    assert export(bag, '-o', again, '--fps', '30', '--repeat', '--images', '--json', '-q') == 0
    assert json.loads(capsys.readouterr().out)['repeated'] == {'joint_states': 0, 'front': 10}
    dataset = read(again)
    red = [round(float(dataset[i]['observation.images.front'][0].mean() * 255)) for i in range(20)]
    assert red == [i - i % 2 for i in range(20)]


def test_a_hole_divides_an_episode(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    sent = robot_messages(count=40)
    hole = range(step_stamp(12), step_stamp(30))
    sent = [m for m in sent if m[0] != '/joint_states' or m[1] not in hole]
    bag = write_bag(tmp_path / 'bag', sent)
    folder = tmp_path / 'set'
    assert export(bag, '-o', folder, '--cameras', 'none', '--max-age', '0.1') == 0
    told = capsys.readouterr().err
    assert 'joint_states: older than 0.1 s' in told
    dataset = read(folder)
    lengths = [dataset.meta.episodes[i]['length'] for i in range(2)]
    assert lengths == [14, 10]
    done = [bool(dataset[i]['next.done']) for i in range(24)]
    assert done == [False] * 23 + [True]


def test_where_a_recording_was_cut_nothing_is_done(tmp_path: Path, capsys):
    sent = [m for m in robot_messages(count=12) if m[1] != step_stamp(12)]
    folder = tmp_path / 'set'
    given = ['-o', folder, '--cameras', 'none']
    assert export(write_bag(tmp_path / 'bag', sent), *given) == 0
    assert 'note: bag: no END event' in capsys.readouterr().err
    dataset = read(folder)
    assert len(dataset) == 12 and not any(dataset[i]['next.done'] for i in range(12))


def test_a_camera_that_two_robots_share_and_commands_of_another_name(tmp_path: Path, capsys):
    names = {'/joint_states': '/joint_states', '/joint_commands': '/arm/commands'}
    sent = robot_messages(count=12)
    both = [
        (f'/{robot}{names[topic]}', at, content)
        for robot in ('left', 'right')
        for topic, at, content in sent
        if topic in names
    ]
    bag = write_bag(tmp_path / 'bag', sorted([*both, *sent], key=lambda m: m[1]))
    given = ['--namespace', 'right', '--cameras', 'front', '--images', '-q', '--json']
    assert export(bag, '-o', tmp_path / 'set', *given) == 2
    assert 'name it: --topic action=TOPIC' in capsys.readouterr().err
    given += ['--topic', 'action=/right/arm/commands']
    assert export(bag, '-o', tmp_path / 'set', *given) == 0
    told = json.loads(capsys.readouterr().out)
    assert told['frames'] == 12 and told['cameras'] == {'front': [16, 12]}
    assert any('several robots' in note for note in told['notes'])


def test_a_bag_that_is_there_twice_is_written_once(tmp_path: Path, capsys):
    bag = robot_bag(tmp_path / 'bag', count=12)
    copy = robot_bag(tmp_path / 'copy', count=12)
    robot_bag(tmp_path / 'next', count=12, start=step_stamp(50))
    given = [bag, bag, copy, tmp_path / 'next', '--cameras', 'none', '--json', '-q']
    assert export(*given, '-o', tmp_path / 'set') == 0
    told = json.loads(capsys.readouterr().out)
    assert told['episodes'] == 2 and told['frames'] == 24
    assert f'{copy}: left out, a recording of the same episode as {bag}' in told['notes']


def test_what_exists_is_not_overwritten(written: Path, bags: Path, capsys):
    before = sorted(written.rglob('*'))
    assert export(bags, '-o', written) == 2
    assert 'nothing is overwritten: name a new folder (--output DIR)' in capsys.readouterr().err
    assert sorted(written.rglob('*')) == before


@pytest.mark.parametrize(
    ('change', 'options', 'text'),
    [
        ({'cameras': ()}, (), '--cameras none writes a data set without'),
        ({}, ('--cameras', 'wrist'), 'it has images of front; choose with --cameras A,B,...'),
        ({'instruction': ''}, (), 'no instruction was recorded; give it with --task TEXT'),
        ({}, ('--robot', 'panda'), 'give the robot: --robot so101'),
        ({}, ('--fps', '400'), 'or --repeat lets frames repeat an input'),
        ({}, ('--max-age', '1e-9'), 'older inputs are allowed with --max-age S'),
        ({}, ('--joints', 'elbow'), '--joints elbow: the robot so101 has shoulder_pan'),
        ({}, ('--interventions-only', '--cameras', 'none'), 'no frame is left to write'),
        ({}, ('--success-only', '--cameras', 'none'), None),
        ({'outcome': 2}, ('--success-only',), '--success-only and --skip-bad leave episodes out'),
        ({}, ('--fps', '-3'), '--fps is -3; it must be at least 0'),
        ({}, ('--codec', 'mpeg9'), "Invalid vcodec 'mpeg9'"),
        ({}, ('--max-age', 'nan'), '--max-age is nan; it must be a finite number, above 0 s'),
    ],
)  # fmt: skip
def test_bags_that_do_not_fit(tmp_path: Path, change, options, text, capsys):
    bag = robot_bag(tmp_path / 'bag', count=12, **change)
    folder = tmp_path / 'set'
    code = export(bag, '-o', folder, *options)
    assert code == (2 if text else 0) and folder.exists() == (text is None)
    assert (text or '') in capsys.readouterr().err
    assert not list(tmp_path.glob('*.partial'))


def test_bags_of_different_cameras_are_named_and_can_be_skipped(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    robot_bag(tmp_path / 'bags' / 'a', count=12)
    robot_bag(tmp_path / 'bags' / 'b', count=12, cameras=('front', 'wrist'))
    sent = [m for m in robot_messages(count=12) if m[0] != '/joint_commands']
    write_bag(tmp_path / 'bags' / 'c', sent)
    folder = tmp_path / 'set'
    assert export(tmp_path / 'bags', '-o', folder, '--images') == 2
    told = capsys.readouterr().err
    assert 'b: its cameras are front 16x12, wrist 16x12' in told and 'no joint commands' in told
    assert 'choose those that all have with --cameras' in told and '--skip-bad' in told
    assert export(tmp_path / 'bags', '-o', folder, '--images', '--skip-bad') == 0
    assert capsys.readouterr().err.count('skipped:') == 2
    assert len(read(folder)) == 12


def test_a_bag_of_one_command_alone_is_named_and_can_be_skipped(tmp_path: Path, capsys):
    """It has no rate, and kept all others from being written."""
    robot_bag(tmp_path / 'bags' / 'a', count=12)
    at = step_stamp(0)
    row = joint_state(at, np.zeros(len(JOINTS)))
    sent = [('/joint_states', at, row), ('/front/image_raw', at, image(at, 1))]
    write_bag(tmp_path / 'bags' / 'b', [*sent, ('/joint_commands', at, row)])
    given = [tmp_path / 'bags', '-o', tmp_path / 'set', '--images', '--task', 'x']
    assert export(*given) == 2
    text = capsys.readouterr().err
    assert 'b: joint_commands, joint_states, front: one message alone has no rate' in text
    assert export(*given, '--skip-bad') == 0
    assert len(read(tmp_path / 'set')) == 12


def test_a_picture_that_changes_its_size_leaves_nothing_behind(tmp_path: Path, capsys):
    at = step_stamp(7) - 500_000
    bag = robot_bag(tmp_path / 'bag', [('/front/image_raw', at, image(at, 1, (8, 6)))], count=12)
    assert export(bag, '-o', tmp_path / 'set') == 2
    assert 'has 8x6 pixels, the first 16x12' in capsys.readouterr().err
    assert sorted(p.name for p in tmp_path.iterdir()) == ['bag']


def test_pictures_without_a_stamp_and_copies_of_others(tmp_path: Path, capsys):
    """As of a driver that starts with empty headers, recorded twice by two subscriptions."""
    sent = []
    for number, (topic, at, content) in enumerate(robot_messages(count=12)):
        is_picture = topic == '/front/image_raw'
        sent += (
            [(topic, at, content), (topic, at + 1, content)]
            if is_picture
            else [(topic, at, content)]
        )
        if is_picture and number < 8:
            sent.append((topic, at, image(0, 77)))
    bag = write_bag(tmp_path / 'bag', sent)
    assert export(bag, '-o', tmp_path / 'set', '--images', '-q', '--json') == 0
    notes = json.loads(capsys.readouterr().out)['notes']
    assert 'bag: front: 12 images with the stamp of another left out' in notes
    assert 'bag: front: 2 images without a stamp left out' in notes
    dataset = read(tmp_path / 'set')
    red = [round(float(dataset[i]['observation.images.front'][0].mean() * 255)) for i in range(12)]
    assert dataset.fps == 30 and red == list(range(12))


def test_a_damaged_picture_costs_no_more_than_itself(tmp_path: Path, capsys):
    """As a USB camera sends one now and then."""
    sent = robot_messages(count=12)
    for topic, at, content in sent:
        if topic == '/front/image_raw' and at in (step_stamp(0), step_stamp(5), step_stamp(6)):
            object.__setattr__(content, 'data', content.data[:-1])
    bag = write_bag(tmp_path / 'bag', sent)
    assert export(bag, '-o', tmp_path / 'set', '--images', '-q', '--json') == 0
    found = json.loads(capsys.readouterr().out)
    assert 'bag: front: damaged images: 3; frames have the one before' in found['notes']
    assert found['left_out'] == {'frames: before the first observation': 1}
    dataset = read(tmp_path / 'set')
    red = [round(float(dataset[i]['observation.images.front'][0].mean() * 255)) for i in range(11)]
    assert red == [1, 2, 3, 4, 4, 4, 7, 8, 9, 10, 11]


def test_pictures_of_which_none_has_a_stamp_are_refused(tmp_path: Path, capsys):
    sent = [
        (topic, at, image(0, 1) if topic == '/front/image_raw' else content)
        for topic, at, content in robot_messages(count=12)
    ]
    bag = write_bag(tmp_path / 'bag', sent)
    assert export(bag, '-o', tmp_path / 'set', '--images') == 2
    assert 'none of its 12 pictures has a stamp' in capsys.readouterr().err


def test_joint_values_in_degrees_are_not_taken_for_radians(tmp_path: Path, capsys):
    sent = []
    for topic, at, content in robot_messages(count=12):
        if topic.startswith('/joint'):
            values = [*np.degrees(content.position[:5]), 40.0]
            content = joint_state(at, values)
        sent.append((topic, at, content))
    bag = write_bag(tmp_path / 'bag', sent)
    given = [bag, '-o', tmp_path / 'set', '--cameras', 'none', '-q']
    assert export(*given) == 2
    assert '--joint-units deg' in capsys.readouterr().err and not (tmp_path / 'set').exists()
    assert export(*given, '--joint-units', 'deg') == 0
    row = [*np.degrees(commands(12)[3][:5]), 40.0]
    np.testing.assert_allclose(read(tmp_path / 'set')[3]['action'], row, rtol=1e-5)


def test_joints_that_slide_have_no_degrees(bags: Path, tmp_path: Path, capsys):
    urdf = tmp_path / 'rail.urdf'
    urdf.write_text(
        '<robot name="rail"><link name="a"/><link name="b"/><joint name="x" type="prismatic">'
        '<parent link="a"/><child link="b"/><limit lower="-1" upper="1"/></joint></robot>'
    )
    assert export(bags, '--robot', urdf, '-o', tmp_path / 'set') == 2
    text = '--units is degrees, but x of rail slides: --units rad writes rad, and m'
    assert text in capsys.readouterr().err
    # Not for lack of units.
    assert export(bags, '--robot', urdf, '--units', 'rad', '-o', tmp_path / 'set') == 2
    assert 'slides' not in capsys.readouterr().err


def test_joints_beyond_their_limits_are_noted(tmp_path: Path, capsys):
    sent = []
    for topic, at, content in robot_messages(count=12):
        if topic.startswith('/joint'):
            content = joint_state(at, [3.0, *content.position[1:]])
        sent.append((topic, at, content))
    bag = write_bag(tmp_path / 'bag', sent)
    assert export(bag, '-o', tmp_path / 'set', '--cameras', 'none') == 0
    err = capsys.readouterr().err
    assert 'note: bag: /joint_states: joint values outside the limits of so101: shoulder_pan' in err


def test_set_points_that_are_not_finite_are_left_out_and_counted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    """They had been left out without a word."""
    sent = robot_messages(count=40)
    for step in (10, 20):
        at = step_stamp(step) + 1000
        sent.append(('/joint_commands', at, joint_state(at, [np.nan] * 6)))
    at = step_stamp(15) + 1000
    sent.append(('/joint_commands', at, joint_state(at, [0.0] * 7, (*JOINTS, 'odd'))))
    bag = write_bag(tmp_path / 'bag', sorted(sent, key=lambda m: m[1]))
    assert export(bag, '-o', tmp_path / 'set', '--images') == 0
    said = capsys.readouterr().err
    assert (
        'bag: /joint_commands: of 43 messages 3 left out: 2 × a position that is not finite, '
        '1 × with a joint that other messages lack'
    ) in said
    assert len(read(tmp_path / 'set')) == 40
