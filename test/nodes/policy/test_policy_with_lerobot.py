# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The policy node over real rclpy with a LeRobot checkpoint; LeRobot's ensembling beside ours."""

import sys
from pathlib import Path

import numpy as np
import pytest

rclpy = pytest.importorskip('rclpy')

from policy_runner import JOINTS, SIZE, Runner, ns  # noqa: E402

from frame_ros.msg import EpisodeEvent  # noqa: E402
from frame_ros.policies.execution.action_queue import ActionQueue  # noqa: E402
from frame_ros.policies.execution.options import ExecutionOptions  # noqa: E402

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / 'policies'))


@pytest.fixture()
def runner(ros_context, capfd):
    runner = Runner(capfd)
    yield runner
    runner.close()


@pytest.fixture(scope='module')
def checkpoint(tmp_path_factory):
    pytest.importorskip('lerobot')
    from checkpoints import make_act_checkpoint

    return make_act_checkpoint(tmp_path_factory.mktemp('act'), image_size=SIZE)


def test_an_act_checkpoint_acts_through_the_node(runner, checkpoint):
    from frame_ros.policies.lerobot import load_lerobot_policy

    node = runner.start(
        policy='lerobot',
        checkpoint=str(checkpoint),
        units='rad',
        instruction='nothing',
        n_action_steps=8,
    )
    start = runner.robot.send(EpisodeEvent.START, instruction='pick up the cube')
    runner.wait(lambda: len(runner.robot.inferences) >= 3 and len(runner.robot.commands) > 20)
    end = runner.robot.send(EpisodeEvent.END)
    runner.wait(lambda: runner.robot.get_clock().now().nanoseconds > end + 1.5e8)
    commands, inferences = list(runner.robot.commands), list(runner.robot.inferences)

    stamps = [ns(command.header.stamp) for command in commands]
    assert all(a < b for a, b in zip(stamps, stamps[1:], strict=False))
    assert start <= stamps[0] and stamps[-1] < end
    assert len(commands) > len(inferences)
    assert all(tuple(command.name) == JOINTS and len(command.position) == 6 for command in commands)
    assert 'errors' not in node.counters
    # A call that ran at the end was too late for the queue.
    in_time = [message for message in inferences if ns(message.header.stamp) < end]
    check_inferences(in_time, checkpoint, start)

    # What is commanded is what was inferred: the first command is the first row of the first chunk.
    policy = load_lerobot_policy(checkpoint, JOINTS, units='rad')
    rows = np.array(inferences[0].actions).reshape(30, 6)
    np.testing.assert_array_equal(commands[0].position, rows[0])
    assert policy.name == inferences[0].policy


def check_inferences(inferences, checkpoint, start: int) -> None:
    for k, message in enumerate(inferences):
        assert (message.sequence, message.episode_id, message.instruction) == (
            k,
            'e1',
            'pick up the cube',
        )
        assert (message.policy, message.checkpoint) == ('act', str(checkpoint))
        assert (message.horizon, message.action_dimension, len(message.actions)) == (30, 6, 180)
        assert tuple(message.action_names) == JOINTS
        assert list(message.action_units) == ['rad'] * 6
        assert message.action_space == 'joint_position'
        assert message.action_dt == pytest.approx(1 / 30)
        parts = (message.preprocess, message.forward, message.postprocess)
        assert min(parts) > 0 and message.cpu_time > 0
        assert sum(parts) <= message.latency
        assert (message.transport, message.memory_device) == (0.0, 0.0)
        assert message.memory_rss > 1e8
        assert start <= ns(message.request_stamp) < ns(message.header.stamp)
        assert 0 < ns(message.observation_stamp) <= ns(message.request_stamp)
        assert message.sample_count == len(message.samples) == len(message.token_entropy) == 0
    assert np.isnan(inferences[0].chunk_overlap)
    assert all(message.chunk_overlap >= 0 for message in inferences[1:])
    assert inferences[0].stalls > 0


@pytest.mark.parametrize('coefficient', [0.01, 0.0, -0.3, 0.5])
def test_ensembling_executes_what_lerobot_executes(checkpoint, coefficient):
    """LeRobot's ensembler gets a chunk at every step; its weights are float32."""
    import torch
    from lerobot.policies.act.modeling_act import ACTTemporalEnsembler

    theirs = ACTTemporalEnsembler(coefficient, 20)
    queue = ActionQueue(
        1 / 50, ExecutionOptions(execution='ensembling', ensemble_coefficient=coefficient)
    )
    queue.open()
    for chunk in np.random.default_rng(0).normal(size=(60, 20, 6)):
        assert queue.wait_for_demand(0)
        queue.push(queue.request(), chunk, 1 / 50)
        expected = theirs.update(torch.tensor(chunk)[None])[0].numpy()
        np.testing.assert_allclose(queue.take()[0], expected, atol=1e-5)
