# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The policy node over real rclpy: execution modes, the heartbeat, a person's takeover, what is
noted in the episode, action spaces, prompt ensembles, histories.
"""

import json
from dataclasses import replace

import numpy as np
import pytest

rclpy = pytest.importorskip('rclpy')

from policy_runner import JOINTS, SIZE, CountingPolicy, Runner, ns  # noqa: E402
from sensor_msgs.msg import Image  # noqa: E402

from frame_ros.msg import EpisodeEvent  # noqa: E402
from frame_ros.policies.features import reduced_features  # noqa: E402
from frame_ros.policies.protocol import Inference  # noqa: E402

OBSERVED = 0.1 * np.arange(6)  # what the robot's joints say


@pytest.fixture()
def runner(ros_context, capfd):
    runner = Runner(capfd)
    yield runner
    runner.close()


@pytest.mark.parametrize('execution', ['synchronous', 'asynchronous', 'ensembling'])
def test_a_mode_is_told_and_executes_every_step_once(runner, execution):
    policy = CountingPolicy(duration=0.1, horizon=8)
    runner.start(policy, run_on='always', execution=execution)
    runner.wait(lambda: len(runner.robot.inferences) >= 5)
    inferences, commands = runner.robot.inferences[:5], list(runner.robot.commands)
    assert {message.execution_mode for message in inferences} == {execution}
    steps = np.diff([round(command.position[0] / 0.001) for command in commands])
    assert set(steps) <= {0, 1} and 1 in steps
    if execution == 'synchronous':
        assert all(message.stalls > 0 and message.queue_depth == 0 for message in inferences)
    else:
        assert any(message.queue_depth > 0 for message in inferences[1:])
    starts = [round(observation.executed * 30) for observation in policy.observations[1:5]]
    if execution == 'synchronous':
        assert starts == [8, 16, 24, 32]
    if execution == 'ensembling':
        assert max(np.diff(starts)) < 8


def test_the_heartbeat_tells_what_an_action_came_from_also_without_an_episode(runner):
    runner.start(CountingPolicy(horizon=200), control_rate=50.0)
    runner.wait(lambda: len(runner.robot.heartbeats) > 10)
    before = list(runner.robot.heartbeats)
    assert not runner.robot.commands
    assert [beat.sequence for beat in before] == list(
        range(before[0].sequence, before[0].sequence + len(before))
    )
    for beat in before:
        assert (beat.episode_id, beat.is_acting, beat.is_stalled, beat.problem) == ('', 0, 0, '')
        assert ns(beat.observation_stamp) == ns(beat.request_stamp) == 0
    runner.robot.send(EpisodeEvent.START, 'e7')
    runner.wait(lambda: len(runner.robot.commands) > 10 and runner.robot.inferences)
    end = runner.robot.send(EpisodeEvent.END, 'e7')
    runner.wait(lambda: ns(runner.robot.heartbeats[-1].header.stamp) > end + 2e8)
    acting = [beat for beat in runner.robot.heartbeats if beat.is_acting]
    assert {beat.episode_id for beat in acting} == {'e7'}
    commanded = [ns(command.header.stamp) for command in runner.robot.commands]
    assert [ns(beat.header.stamp) for beat in acting] == commanded
    first = runner.robot.inferences[0]
    assert ns(acting[0].request_stamp) == ns(first.request_stamp) > 0
    assert ns(acting[0].observation_stamp) == ns(first.observation_stamp) > 0
    last = runner.robot.heartbeats[-1]
    assert (last.episode_id, last.is_acting, ns(last.request_stamp)) == ('', False, 0)


def test_a_person_takes_over_and_the_policy_plans_afresh_afterwards(runner):
    policy = CountingPolicy(horizon=300)
    runner.start(policy, seed=5)
    runner.robot.send(EpisodeEvent.START)
    runner.wait(lambda: len(runner.robot.commands) > 5)
    start = runner.robot.send(EpisodeEvent.INTERVENTION_START, delay=0.1)
    runner.wait(lambda: ns(runner.robot.heartbeats[-1].header.stamp) > start + 2.5e8)
    calls = len(policy.observations)
    end = runner.robot.send(EpisodeEvent.INTERVENTION_END, delay=0.1)
    runner.wait(lambda: ns(runner.robot.commands[-1].header.stamp) > end + 1e8)
    stamps = [ns(command.header.stamp) for command in runner.robot.commands]
    assert not [stamp for stamp in stamps if start <= stamp < end]
    meanwhile = [b for b in runner.robot.heartbeats if start <= ns(b.header.stamp) < end]
    assert len(meanwhile) > 5
    assert not any(beat.is_acting or beat.is_stalled or beat.problem for beat in meanwhile)
    assert {beat.episode_id for beat in meanwhile} == {'e1'}
    # Nothing of the former chunk is left: the first action is the first step of a new one.
    after = next(c for c in runner.robot.commands if ns(c.header.stamp) >= end)
    assert after.position[0] == 0.0
    assert policy.observations[calls].executed == 0.0
    assert policy.observations[calls].stamp >= end
    assert policy.seeds == [5, 5]


class Changing(CountingPolicy):
    """Gives what `change` makes of its inference."""

    def __init__(self, change=lambda inference: inference, **options) -> None:
        super().__init__(**options)
        self.change = change

    def infer(self, observation) -> Inference:
        return self.change(super().infer(observation))


def narrow(inference):
    return replace(inference, actions=inference.actions[:, :5])


def one_nan(inference):
    actions = inference.actions.copy()
    actions[2, 3] = np.nan
    return replace(inference, actions=actions)


def no_gripper(robot):
    robot.joint_count = 5


def half_image(robot):
    robot.image = Image(height=4, width=4, encoding='bayer_rggb16', step=4, data=bytes(16))


@pytest.mark.parametrize(
    ('spoil', 'change', 'problem'),
    [
        (lambda robot: robot.published.discard('wrist'), None, 'wrist was never received'),
        (no_gripper, None, 'no position yet of gripper'),
        (
            half_image,
            None,
            "camera front: image encoding 'bayer_rggb16' is not known; known are rgb8",
        ),
        (lambda robot: None, narrow, r'the chunk has shape (60, 5); it must be (steps, 6)'),
        (lambda robot: None, one_nan, 'wrist_flex is nan at step 2'),
        (lambda robot: None, 'instruction', 'counting needs an instruction, but the START event'),
    ],
)
def test_bad_input_commands_nothing_and_is_noted_once_in_the_episode(
    runner, spoil, change, problem
):
    spoil(runner.robot)
    policy = Changing(cameras=('front', 'wrist'))
    if change == 'instruction':
        policy.needs_instruction = True
    elif change:
        policy.change = change
    runner.start(policy)
    runner.robot.send(EpisodeEvent.START, 'bad')
    runner.wait(lambda: runner.robot.heartbeats and runner.robot.heartbeats[-1].errors > 5)
    assert not runner.robot.commands
    beat = runner.robot.heartbeats[-1]
    assert problem in beat.problem and beat.is_stalled and not beat.is_acting
    runner.wait_for_log(problem)
    notes = [note for note in runner.robot.notes() if problem in note.text]
    assert [(note.episode_id, note.source) for note in notes] == [('bad', 'policy')]
    assert not runner.robot.inferences


def test_the_problem_is_over_when_an_inference_succeeds(runner):
    policy = Changing(change=one_nan)
    runner.start(policy)
    runner.robot.send(EpisodeEvent.START, 'mended')
    runner.wait(lambda: runner.robot.heartbeats and runner.robot.heartbeats[-1].problem)
    policy.change = lambda inference: inference
    runner.wait(lambda: runner.robot.heartbeats[-1].is_acting)
    assert runner.robot.heartbeats[-1].problem == ''
    assert len(runner.robot.notes()) == 1


def test_deltas_are_published_as_they_are_and_commanded_as_positions(runner):
    def deltas(inference):
        return replace(
            inference, actions=np.full((60, 6), 0.002), action_space='joint_delta', dt=1 / 30
        )

    runner.start(Changing(change=deltas), run_on='always', delta_reference='observation')
    runner.wait(lambda: len(runner.robot.commands) > 5 and runner.robot.inferences)
    message = runner.robot.inferences[0]
    assert message.action_space == 'joint_delta'
    np.testing.assert_array_equal(message.actions, [0.002] * 360)
    for command in runner.robot.commands:
        assert tuple(command.name) == JOINTS
        np.testing.assert_allclose(command.position, OBSERVED + 0.002, atol=1e-9)


class Knowing(CountingPolicy):
    """Has a confidence under each rephrasing, and samples; the second ensemble is malformed."""

    def infer(self, observation) -> Inference:
        asked = observation.rephrasings
        inference = super().infer(observation)
        is_second = len(self.observations) == 3
        confidences = np.linspace(0.5, 0.6, len(asked) - is_second) if asked else None
        return replace(
            inference,
            samples=np.stack([inference.actions] * 2),
            rephrasings=asked,
            rephrasing_confidences=confidences,
            unavailable={'tokens': 'it counts'},
        )


def test_a_prompt_ensemble_is_asked_for_and_published(runner):
    texts = ['take the cube', 'grasp the cube', '']
    runner.start(
        Knowing(horizon=10),
        run_on='always',
        instruction='pick',
        rephrasings=texts,
        rephrase_every=2,
        samples=2,
    )
    runner.wait(lambda: len(runner.robot.inferences) >= 3)
    first, second, third = runner.robot.inferences[:3]
    assert list(first.rephrasings) == texts[:2]
    np.testing.assert_allclose(first.rephrasing_confidences, [0.5, 0.6])
    assert first.unavailable == second.unavailable == ['tokens: it counts']
    assert (first.sample_count, len(first.samples)) == (2, 2 * 10 * 6)
    assert list(second.rephrasings) == list(second.rephrasing_confidences) == []
    assert list(third.rephrasings) == []
    assert 'rephrasings: the policy gave confidences of shape (1,) for 2' in third.unavailable


def test_what_a_policy_was_asked_for_and_did_not_give_is_unavailable(runner):
    runner.start(CountingPolicy(), run_on='always', rephrasings=['other words'], samples=4)
    runner.wait(lambda: runner.robot.inferences)
    assert sorted(runner.robot.inferences[0].unavailable) == [
        'rephrasings: 1 were asked for, the policy gave none',
        'samples: 4 were asked for, the policy gave none',
    ]


class Seeing(CountingPolicy):
    """Has features, those of its second inference unusable."""

    fingerprint = {'weights': 'ab' * 32, 'normaliser': 'cd' * 32}

    def infer(self, observation) -> Inference:
        inference = super().infer(observation)
        is_second = len(self.observations) == 2
        features = np.full(3, np.nan) if is_second else np.arange(100.0)
        return replace(inference, features=features, feature_source='an encoder')


def test_features_are_reduced_and_published_with_the_fingerprint(runner):
    runner.start(Seeing(cameras=('front',)), run_on='always', control_rate=25.0)
    runner.wait(lambda: len(runner.robot.inferences) >= 3)
    first, second = runner.robot.inferences[:2]
    np.testing.assert_array_equal(first.features, reduced_features(np.arange(100.0)))
    assert first.feature_source == 'an encoder, 100 numbers projected to 64'
    assert list(second.features) == [] and second.feature_source == ''
    assert second.unavailable == ['features: they hold values that are not finite']
    assert json.loads(first.policy_fingerprint) == {
        **Seeing.fingerprint, 'control_rate': 25.0, 'cameras': {'front': [SIZE[1], SIZE[0]]},
    }  # fmt: skip


class Remembering(CountingPolicy):
    """Wants to see an observation every 20 ms."""

    needs_history, history_period = True, 0.02

    def __init__(self, **options) -> None:
        super().__init__(**options)
        self.seen = []

    def observe(self, observation) -> None:
        self.seen.append(observation)


def test_a_policy_with_a_history_sees_observations_between_its_inferences(runner):
    policy = Remembering(duration=0.25, horizon=10, cameras=('front',))
    runner.start(policy)
    runner.wait(lambda: len(runner.robot.heartbeats) > 10)
    assert not policy.seen
    start = runner.robot.send(EpisodeEvent.START)
    runner.wait(lambda: len(runner.robot.inferences) >= 2)
    first, second = (ns(m.request_stamp) for m in runner.robot.inferences[:2])
    between = [o for o in policy.seen if first < o.stamp < second]
    assert len(between) > 2
    assert all(o.stamp >= start and o.images['front'].shape == (*SIZE, 3) for o in policy.seen)
