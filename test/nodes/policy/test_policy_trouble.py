# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The policy node over real rclpy: what was really commanded reaches the converter, slow chunks go
out evenly, and policies that raise, hang, or cannot start.
"""

import threading
from dataclasses import replace

import numpy as np
import pytest
from patience import PATIENCE

rclpy = pytest.importorskip('rclpy')

from lifecycle_msgs.msg import State  # noqa: E402
from own_thread import in_own_thread  # noqa: E402
from policy_runner import CountingPolicy, Runner, ns  # noqa: E402

from frame_ros.core.errors import SetupError  # noqa: E402
from frame_ros.msg import EpisodeEvent  # noqa: E402
from frame_ros.nodes.policy import inference as policy_inference  # noqa: E402
from frame_ros.nodes.policy.node import PolicyNode  # noqa: E402
from frame_ros.policies.execution.action_spaces import ActionConverter  # noqa: E402
from frame_ros.policies.policy_names import OURS  # noqa: E402
from frame_ros.policies.protocol import Inference  # noqa: E402

OBSERVED = 0.1 * np.arange(6)  # what the robot's joints say


@pytest.fixture()
def runner(ros_context, capfd):
    runner = Runner(capfd)
    yield runner
    runner.close()


class Wandering(CountingPolicy):
    """Deltas that no two chunks agree on."""

    def infer(self, observation) -> Inference:
        inference = super().infer(observation)
        shape = inference.actions.shape
        deltas = np.random.default_rng(len(self.observations)).normal(0, 0.01, shape)
        return replace(inference, actions=deltas, action_space='joint_delta')


class Told:
    """Notes what the converter is commanded, with the time of executed actions."""

    def __init__(self, monkeypatch) -> None:
        self.calls = []
        convert = ActionConverter.to_joint_positions

        def noting(converter, inference, observation, commanded=None):
            self.calls.append((observation.executed, commanded))
            return convert(converter, inference, observation, commanded)

        monkeypatch.setattr(ActionConverter, 'to_joint_positions', noting)


@pytest.mark.parametrize(
    'settings',
    [
        {'execution': 'ensembling'},
        {'alignment': 'first', 'n_action_steps': 4},
        {'blend': 5, 'n_action_steps': 4},
    ],
)
def test_deltas_count_from_what_was_really_commanded_last(runner, monkeypatch, settings):
    commanded, policy = Told(monkeypatch), Wandering(duration=0.05, horizon=12)
    runner.start(policy, run_on='always', delta_reference='command', **settings)
    runner.wait(lambda: len(commanded.calls) >= 8 and len(runner.robot.commands) > 30)
    beats = [beat for beat in list(runner.robot.heartbeats) if beat.is_acting]
    commands = list(runner.robot.commands)
    executed = [
        command
        for beat, command in zip(beats, commands, strict=False)
        if not beat.is_stalled and ns(beat.header.stamp) == ns(command.header.stamp)
    ]
    assert commanded.calls[0][1] == {}
    assert len(commanded.calls) >= 8
    compared = 0
    for time, joints in commanded.calls[1:]:
        count = round(time * 30)
        if 0 < count <= len(executed):
            last = executed[count - 1]
            np.testing.assert_allclose(list(joints.values()), last.position, atol=1e-12)
            assert list(joints) == list(last.name)
            compared += 1
    assert compared >= 5


class Slow(CountingPolicy):
    """Two chunks of rows 0.3 s apart, from the joints as observed to 0.3 rad beyond."""

    def infer(self, observation) -> Inference:
        inference = super().infer(observation)
        rows = OBSERVED + 0.1 * np.arange(1, 4)[:, None]
        return replace(inference, actions=rows, dt=0.3)


@pytest.mark.parametrize('interpolate', [True, False])
def test_rows_between_ticks_go_out_evenly_from_where_the_robot_stands(runner, interpolate):
    runner.start(Slow(), run_on='always', execution='synchronous', interpolate=interpolate)
    runner.wait(lambda: len(runner.robot.commands) > 27)
    commands = np.array([command.position for command in runner.robot.commands[:27]])
    steps = np.diff(np.vstack([OBSERVED, commands]), axis=0)
    np.testing.assert_allclose(commands[8::9], OBSERVED + [[0.1], [0.2], [0.3]], atol=1e-12)
    if interpolate:
        np.testing.assert_allclose(steps, 0.1 / 9, atol=1e-6)
    else:
        np.testing.assert_allclose(steps[1::9], 0.0, atol=1e-12)
        assert steps.max() == pytest.approx(0.1)


class InPlace(CountingPolicy):
    """Makes degrees of the joints where they stand, and asks for no change of them."""

    def infer(self, observation) -> Inference:
        inference = super().infer(observation)
        observation.joint_positions[:] *= 180.0 / np.pi
        rows = np.zeros_like(inference.actions)
        return replace(inference, actions=rows, action_space='joint_delta')


def test_a_policy_may_write_over_its_observation(runner):
    runner.start(InPlace(), run_on='always', execution='synchronous')
    runner.wait(lambda: len(runner.robot.commands) > 30)
    commands = np.array([command.position for command in list(runner.robot.commands)])
    np.testing.assert_allclose(commands, np.tile(OBSERVED, (len(commands), 1)), atol=1e-12)


class Broken(CountingPolicy):
    """Raises something else every time."""

    def infer(self, observation) -> Inference:
        self.observations.append(observation)
        if len(self.observations) == 2:
            raise SystemExit('a library that ends the process')
        raise ValueError(f'{self!r} {"x" * len(self.observations)}')


def test_a_policy_that_raises_every_time_is_asked_less_and_less_often(runner):
    policy = Broken()
    runner.start(policy)
    runner.robot.send(EpisodeEvent.START, 'broken', delay=0.0)
    runner.wait(lambda: sum(beat.is_stalled for beat in runner.robot.heartbeats) > 40)
    errors = runner.robot.heartbeats[-1].errors
    assert 3 <= errors <= 15  # every tick it would have been more than 40
    assert not runner.robot.commands and not runner.robot.inferences
    assert 'ValueError in test_policy_trouble.py' in runner.robot.heartbeats[-1].problem
    runner.wait(lambda: any('SystemExit' in note.text for note in runner.robot.notes()))
    assert len({note.text for note in runner.robot.notes()}) == len(runner.robot.notes())


class Hanging(CountingPolicy):
    """Does not return from its first call before it is released."""

    def __init__(self) -> None:
        super().__init__()
        self.begun, self.released = threading.Event(), threading.Event()

    def infer(self, observation) -> Inference:
        self.begun.set()
        assert self.released.wait(PATIENCE)
        return super().infer(observation)


def test_a_call_that_does_not_return_is_abandoned_and_not_doubled(runner, monkeypatch):
    monkeypatch.setattr(policy_inference, 'STOP_TIMEOUT', 0.05)
    policy = Hanging()
    node = runner.start(policy, run_on='always')
    runner.wait(policy.begun.is_set)
    abandoned = node._inference
    in_own_thread(node, node.trigger_deactivate)
    assert abandoned.is_alive
    runner.wait_for_log('its call is abandoned')
    in_own_thread(node, node.trigger_activate)
    runner.wait_for_log('still not returned from a call that was abandoned')
    assert node._state_machine.current_state[0] == State.PRIMARY_STATE_INACTIVE
    policy.released.set()
    runner.wait(lambda: not abandoned.is_alive)
    assert len(policy.observations) == 1 and not runner.robot.commands
    in_own_thread(node, node.trigger_activate)
    runner.wait(lambda: runner.robot.commands)
    assert 'Traceback' not in runner.log()


class Unstartable(CountingPolicy):
    """Fails at its first call."""

    closed = 0

    def warm_up(self) -> None:
        raise RuntimeError('parts that do not fit')

    def close(self) -> None:
        Unstartable.closed += 1
        raise OSError('nothing to close')


def test_a_policy_that_cannot_start_is_let_go_of(ros_context, monkeypatch, capfd):
    monkeypatch.setitem(OURS, 'unstartable', f'{__name__}:Unstartable')
    overrides = [rclpy.parameter.Parameter('policy', value='unstartable')]
    with pytest.raises(SetupError, match='fails on a test image: parts that do not fit'):
        PolicyNode(parameter_overrides=overrides)
    assert Unstartable.closed == 1
    assert 'policy counting cannot be closed: nothing to close' in capfd.readouterr().err


def test_a_chunk_whose_steps_have_all_passed_is_counted(runner):
    policy = CountingPolicy(duration=0.25, horizon=4)
    node = runner.start(policy, run_on='always')
    runner.wait(lambda: node.counters.get('calls', 0) > 2)
    policy.horizon = 60
    runner.wait(lambda: len(runner.robot.commands) > 12)
    policy.horizon = 1
    runner.wait(lambda: node.counters.get('unused_chunks', 0) > 0)
    assert not runner.robot.heartbeats[-1].problem
