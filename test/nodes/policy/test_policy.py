# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The policy node over real rclpy.

Real images, joint states and events in; commands and inference messages out.
"""

import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from patience import PATIENCE

rclpy = pytest.importorskip('rclpy')

from diagnostic_msgs.msg import KeyValue  # noqa: E402
from lifecycle_msgs.msg import Transition  # noqa: E402
from lifecycle_msgs.srv import ChangeState  # noqa: E402
from policy_runner import SIZE, CountingPolicy, Runner, ns  # noqa: E402
from rclpy.parameter import Parameter  # noqa: E402

from frame_ros.core.errors import SetupError  # noqa: E402
from frame_ros.msg import EpisodeEvent  # noqa: E402
from frame_ros.nodes.policy.node import PolicyNode  # noqa: E402

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture()
def runner(ros_context, capfd):
    runner = Runner(capfd)
    yield runner
    runner.close()


def test_ticks_go_on_while_a_slow_policy_infers(runner):
    runner.start(CountingPolicy(duration=0.3, horizon=24), run_on='always')
    runner.wait(lambda: len(runner.robot.inferences) >= 4)
    commands, inferences = list(runner.robot.commands), list(runner.robot.inferences)
    assert all(message.latency >= 0.3 and np.isnan(message.preprocess) for message in inferences)
    assert len(commands) > len(inferences)
    # However long an inference took, no step was left out, and one was repeated only for a stall.
    steps = [round(command.position[0] / 0.001) for command in commands]
    assert steps[0] == 0 and steps[-1] > 0
    assert set(np.diff(steps)) <= {0, 1}
    assert [message.chunk_overlap for message in inferences[1:]] == [0.0] * (len(inferences) - 1)


def test_an_empty_queue_holds_the_last_action_and_counts_stalls(runner):
    runner.start(CountingPolicy(duration=0.2, horizon=3), run_on='always')
    runner.wait(lambda: len(runner.robot.inferences) >= 4)
    steps = [round(command.position[0] / 0.001) for command in runner.robot.commands]
    assert set(np.diff(steps)) == {0, 1}
    assert any(message.stalls > 0 for message in runner.robot.inferences[1:])


def test_a_missing_or_stopped_camera_is_named_and_nothing_is_inferred(runner):
    policy = CountingPolicy(cameras=('front', 'wrist'), horizon=5)
    runner.robot.published.remove('wrist')
    runner.start(policy)
    runner.robot.send(EpisodeEvent.START)
    runner.wait_for_log('no inference: wrist was never received')
    assert not policy.observations and not runner.robot.commands and not runner.robot.inferences
    runner.robot.published.add('wrist')
    runner.wait(lambda: len(runner.robot.inferences) > 2)
    assert policy.observations[0].images['wrist'].shape == (*SIZE, 3)
    runner.robot.published.remove('front')
    runner.wait_for_log('front stopped: the newest is')
    count = len(policy.observations)
    runner.wait(lambda: not runner.robot.heartbeats[-1].is_acting)
    held, beats = len(runner.robot.commands), len(runner.robot.heartbeats)
    runner.wait(lambda: len(runner.robot.heartbeats) > beats + 10)
    assert len(policy.observations) == count
    # Nothing is commanded of what is not seen; a command may have been under way.
    assert len(runner.robot.commands) <= held + 1


def test_a_policy_that_always_runs_waits_for_its_inputs_at_first(runner, monkeypatch):
    monkeypatch.setattr('frame_ros.nodes.policy.inference.START_UP', PATIENCE)
    runner.robot.published.discard('joint_states')
    node = runner.start(CountingPolicy(), run_on='always')
    heartbeats = runner.robot.heartbeats
    runner.wait(lambda: len([b for b in heartbeats if 'never received' in b.problem]) > 10)
    runner.robot.published.add('joint_states')
    runner.wait(lambda: runner.robot.commands)
    runner.wait(lambda: not heartbeats[-1].problem)
    assert node.counters.get('errors', 0) == 0 and 'ERROR' not in runner.log()


def test_an_input_that_has_not_come_for_long_is_an_error(runner, monkeypatch):
    monkeypatch.setattr('frame_ros.nodes.policy.inference.START_UP', 0.0)
    runner.robot.published.discard('joint_states')
    runner.start(CountingPolicy(), run_on='always')
    runner.wait_for_log('[ERROR]')
    assert 'no inference: joint_states was never received' in runner.log()


def test_joint_states_that_are_not_finite_are_not_used(runner):
    runner.robot.nan_joints = True
    policy = CountingPolicy()
    runner.start(policy, run_on='always')
    runner.wait_for_log('joint_states: joint positions that are not finite')
    assert not policy.observations
    runner.robot.nan_joints = False
    runner.wait(lambda: policy.observations)
    np.testing.assert_allclose(policy.observations[0].joint_positions, 0.1 * np.arange(6))


def test_wrong_chunks_are_dropped_and_the_node_goes_on(runner):
    policy = CountingPolicy(horizon=5, wrong={1: 'raise', 2: 'nan', 4: 'outside'})
    node = runner.start(policy, run_on='always')
    runner.wait(lambda: len(policy.observations) > 6 and len(runner.robot.inferences) >= 4)
    assert node.counters['errors'] >= 2
    assert node.counters['dropped_chunks'] == 1
    assert node.counters['clipped_values'] == 5
    runner.wait_for_log('the policy raised ZeroDivisionError in policy_runner.py')
    positions = np.array([command.position for command in runner.robot.commands])
    assert np.isfinite(positions).all()
    assert positions[:, 5].max() <= 1.74533


def test_episodes_reset_the_policy_and_bound_the_commands(runner):
    policy = CountingPolicy(horizon=10)
    runner.start(policy, seed=100)
    bounds = []
    for episode_id, attributes in (('a', []), ('b', [KeyValue(key='seed', value='7')])):
        start = runner.robot.send(EpisodeEvent.START, episode_id, attributes=attributes)
        count = len(runner.robot.commands)
        runner.wait(lambda count=count: len(runner.robot.commands) > count + 8)
        kind = EpisodeEvent.END if episode_id == 'a' else EpisodeEvent.STOP
        end = runner.robot.send(kind, episode_id)
        bounds.append((start, end))
        runner.wait(lambda end=end: runner.robot.get_clock().now().nanoseconds > end + 1.5e8)
    assert policy.seeds == [100, 7]
    stamps = [ns(command.header.stamp) for command in runner.robot.commands]
    assert all(any(start <= stamp < end for start, end in bounds) for stamp in stamps)
    assert {message.episode_id for message in runner.robot.inferences} == {'a', 'b'}
    first_of_b = next(c for c in runner.robot.commands if ns(c.header.stamp) > bounds[1][0])
    assert first_of_b.position[0] == 0.0


def test_the_scripted_policy_acts_through_the_node(runner):
    pytest.importorskip('pinocchio')
    runner.robot.published = {'joint_states', 'object', 'goal'}
    node = runner.start(quality=0.5, samples=3)
    assert node.get_parameter('policy').value == 'scripted'
    runner.robot.send(EpisodeEvent.START, attributes=[KeyValue(key='seed', value='3')])
    runner.wait(lambda: len(runner.robot.commands) > 40 and len(runner.robot.inferences) > 1)
    positions = np.array([command.position for command in runner.robot.commands])
    assert np.ptp(positions, axis=0).max() > 0.05
    message = runner.robot.inferences[1]
    samples = np.reshape(message.samples, (3, message.horizon, message.action_dimension))
    assert message.sample_count == 3
    assert samples.std(axis=0).mean() > 0.0
    assert not node.set_parameters([Parameter('quality', value=1.5)])[0].successful
    assert node.set_parameters([Parameter('quality', value=0.9)])[0].successful
    runner.robot.send(EpisodeEvent.END)
    runner.robot.send(EpisodeEvent.START, 'e2')
    runner.wait(lambda: any(message.episode_id == 'e2' for message in runner.robot.inferences))
    assert node._policy.quality == 0.9


def test_a_camera_that_is_not_there_is_told(ros_context):
    with pytest.raises(SetupError, match=r"needs cameras \['top'\].*has \['front', 'wrist'\]"):
        PolicyNode(CountingPolicy(cameras=('top',)))


def test_without_autostart_the_node_waits_and_can_be_cycled(runner):
    node = runner.start(CountingPolicy(), autostart=False, run_on='always')
    client = runner.robot.create_client(ChangeState, 'policy/change_state')
    assert client.wait_for_service(PATIENCE)

    def change(transition: int) -> bool:
        future = client.call_async(ChangeState.Request(transition=Transition(id=transition)))
        runner.wait(future.done)
        return future.result().success

    assert not runner.robot.commands
    for _ in range(2):
        assert change(Transition.TRANSITION_CONFIGURE) and change(Transition.TRANSITION_ACTIVATE)
        count = len(runner.robot.commands)
        runner.wait(lambda count=count: len(runner.robot.commands) > count)
        assert change(Transition.TRANSITION_DEACTIVATE) and change(Transition.TRANSITION_CLEANUP)
    assert node.counters == {}


def test_the_process_ends_cleanly_and_a_missing_checkpoint_ends_it_with_a_message(ros_domain):
    command = [sys.executable, '-m', 'frame_ros.nodes.policy', '--ros-args', '-p']
    environment = {
        **os.environ,
        'PYTHONPATH': os.pathsep.join([str(ROOT), os.environ.get('PYTHONPATH', '')]),
    }
    pipes = {
        'stdout': subprocess.PIPE,
        'stderr': subprocess.STDOUT,
        'text': True,
        'env': environment,
    }
    process = subprocess.Popen([*command, 'policy:=hold'], **pipes)
    assert '[policy]: loading its libraries' in process.stdout.readline()
    assert 'policy hold for so101 at 30 Hz' in process.stdout.readline()
    process.send_signal(signal.SIGTERM)
    output, _ = process.communicate(timeout=PATIENCE)
    assert (process.returncode, 'Traceback' in output) == (0, False)
    failed = subprocess.run([*command, 'policy:=/nowhere'], timeout=PATIENCE, **pipes)
    assert failed.returncode == 1
    assert "no policy '/nowhere'" in failed.stdout and 'Traceback' not in failed.stdout
