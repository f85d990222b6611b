# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The training example, run whole but tiny: it trains, evaluates, logs and saves for real."""

import csv
import json
import sys

import numpy as np
import pytest

pytest.importorskip('lerobot')
pytest.importorskip('mujoco')
pytest.importorskip('tensorboard')


@pytest.fixture(scope='module')
def run(tmp_path_factory):
    """The evaluations of a run and its folder."""
    import train_act

    folder = tmp_path_factory.mktemp('example') / 'run'
    return train_act.main(['--smoke', '--output', str(folder)]), folder


def test_every_evaluation_has_a_row(run):
    checkpoints, folder = run
    assert [checkpoint.step for checkpoint in checkpoints] == [2, 4]
    assert all(np.isfinite(checkpoint.loss) for checkpoint in checkpoints)
    lines = (folder / 'progress.md').read_text().splitlines()
    assert len(lines) == 2 + 2 and lines[0].startswith('| Steps | Loss | SR |')
    rows = list(csv.DictReader((folder / 'progress.csv').open()))
    assert [int(row['step']) for row in rows] == [2, 4]
    record = json.loads((folder / 'progress.json').read_text())
    for row, written, checkpoint in zip(rows, record['evaluations'], checkpoints):
        expected = checkpoint.summary.metrics['ps'].value
        assert float(row['ps']) == written['metrics']['ps']['value'] == expected
    # Unavailable is null, not NaN, which is no JSON; nothing succeeds in a second.
    assert record['evaluations'][0]['metrics']['time']['value'] is None
    assert record['run']['demonstrator']['success_rate']['value'] == 0.0


def test_tensorboard_has_the_metrics_beside_the_losses(run):
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    checkpoints, folder = run
    events = EventAccumulator(str(folder / 'training' / 'tensorboard'))
    events.Reload()
    tags = set(events.Tags()['scalars'])
    assert {'train/loss', 'train/l1_loss', 'eval/sr', 'eval/ps', 'eval/ti', 'eval/ate'} <= tags
    logged = events.Scalars('eval/ps')
    assert [event.step for event in logged] == [2, 4]
    expected = [checkpoint.summary.metrics['ps'].value for checkpoint in checkpoints]
    assert [event.value for event in logged] == pytest.approx(expected, rel=1e-6)
    assert [event.step for event in events.Scalars('train/loss')] == [1, 2, 3, 4]


def test_a_checkpoint_of_the_run_is_a_policy_for_the_robot(run):
    from frame_ros.policies.registry import make_policy
    from frame_ros.robots import load_robot
    from frame_ros.scenes.rollout import Rollouts

    limits = load_robot('so101').joint_limits
    last = run[1] / 'training' / 'checkpoints' / 'last' / 'pretrained_model'
    policy = make_policy(
        str(last), robot_joint_names=tuple(limits), gripper_limits={'gripper': limits['gripper']}
    )
    episode = Rollouts(timeout=0.2).run(policy, 5)
    assert episode.summary['steps'] == 6 and episode.attributes['policy'] == 'act'


def test_frames_in_memory_are_those_of_the_data_set(run):
    import torch
    from frames_in_memory import FramesInMemory
    from lerobot.datasets.lerobot_dataset import LeRobotDataset

    from frame_ros.core.lerobot_import import offline

    folder = run[1] / 'demonstrations'
    offsets = {'action': [i / 30 for i in range(12)]}
    with offline():
        dataset = LeRobotDataset('local/x', root=folder, delta_timestamps=offsets)
    frames = [0, 1, len(dataset) // 2, len(dataset) - 3, len(dataset) - 1]
    batch = FramesInMemory(dataset)[frames]
    expected = torch.utils.data.default_collate([dataset[i] for i in frames])
    assert set(batch) > {'action', 'action_is_pad', 'observation.state'}
    for name, values in batch.items():
        torch.testing.assert_close(values, expected[name], rtol=0, atol=0)
    assert batch['action_is_pad'][-1].tolist() == [False] + [True] * 11


def test_checkpoints_evaluated_afterwards_give_the_same(run):
    import evaluate_checkpoints

    checkpoints, folder = run
    again = evaluate_checkpoints.main(
        [str(folder / 'training'), '--eval-episodes', '1', '--timeout', '1']
    )
    assert [checkpoint.step for checkpoint in again] == [2, 4]
    for one, other in zip(checkpoints, again):
        for name in ('pl', 'ps', 'ti', 'ate', 'op'):
            assert one.summary.metrics[name] == other.summary.metrics[name]


def test_the_curves_of_a_run_are_drawn_also_where_they_have_no_interval(run, monkeypatch):
    pytest.importorskip('matplotlib')
    import plot_progress

    record = json.loads((run[1] / 'progress.json').read_text())
    assert record['evaluations'][0]['metrics']['ps']['lower'] is None  # of one episode
    picture = run[1] / 'progress.png'
    command = ['plot_progress.py', str(run[1] / 'progress.json'), str(picture)]
    monkeypatch.setattr(sys, 'argv', command)
    plot_progress.main()
    assert picture.read_bytes().startswith(b'\x89PNG')
