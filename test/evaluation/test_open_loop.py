# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Predicted against executed actions: exact where the prediction is, else hand-worked."""

import itertools
from dataclasses import replace

import numpy as np
import pytest
from bag_making import T0, event, write_bag
from robot_bags import (
    JOINTS,
    RATE,
    commands,
    inference,
    joint_state,
    robot_bag,
    robot_messages,
    step_stamp,
)
from turning_arm import NAMES, counted, urdf, wrapped

from frame_ros.core.errors import PolicyError, ShapeError, ValueRangeError
from frame_ros.core.events import EventType
from frame_ros.episodes.observations import RecordedObservations
from frame_ros.episodes.recorded.actions import actions_of, read_raw
from frame_ros.episodes.recorded.chunks import recorded_chunks
from frame_ros.evaluation.action_errors import summarise_errors
from frame_ros.evaluation.open_loop import BEHIND, PAUSE, Prediction, compare, predict
from frame_ros.policies.hold import ChunkOptions, HoldPolicy
from frame_ros.policies.replay import ReplayOptions, ReplayPolicy

LIMITS = dict.fromkeys(JOINTS, (-1.0, 1.0))


@pytest.fixture(scope='module')
def recorded(tmp_path_factory):
    """An episode of 30 steps, its actions and observations."""
    (episode,) = read_raw(robot_bag(tmp_path_factory.mktemp('bags') / 'bag', count=30))
    return episode, actions_of(episode), RecordedObservations(episode, cameras=())


def replay(actions, **options):
    given = {'start': 'at_once', **options}
    return ReplayPolicy(actions.stamps, actions.positions, actions.names, ReplayOptions(**given))


def test_a_replay_of_the_same_recording_has_no_error(recorded):
    _, actions, observations = recorded
    predictions, left_out = predict(replay(actions, horizon=8), actions, observations, every=4)
    errors = compare(predictions, actions, left_out)
    assert errors.mse == 0.0 and errors.chunks == 8
    # Chunks at 0, 4, ..., 28; those at 24 and 28 reach 2 and 6 steps over the end.
    assert len(errors.step) == 8 * 8 - 2 - 6 and errors.left_out == {BEHIND: 8}


def test_hold_against_hand_worked_numbers(recorded):
    _, actions, observations = recorded
    policy = HoldPolicy(ChunkOptions(horizon=5, dt=1 / RATE))
    errors = compare(predict(policy, actions, observations, every=10)[0], actions)
    wanted = commands(30)
    held = wanted[0]  # what the arm had been told before the first step
    rows = np.concatenate([wanted[i : i + 5] for i in (0, 10, 20)])
    assert errors.mse == pytest.approx(((rows - held) ** 2).sum(axis=1).mean(), rel=1e-12)
    summary = summarise_errors([errors], LIMITS)
    for joint, truth, value in zip(summary.joints, rows.T, held):
        assert joint.root_mean_square == pytest.approx(np.sqrt(((truth - value) ** 2).mean()))
        assert joint.bias == pytest.approx((value - truth).mean())
        assert joint.largest == pytest.approx(np.abs(truth - value).max())
        assert joint.share == pytest.approx(joint.root_mean_square / 2)
    for step in summary.steps:
        own = wanted[[step.step, 10 + step.step, 20 + step.step]] - held
        assert step.mse == pytest.approx((own**2).sum(axis=1).mean()) and step.count == 3
        assert step.share == pytest.approx(step.mse / 4)
    assert summary.amse.value == pytest.approx(errors.mse)
    assert summary.namse.value == pytest.approx(errors.mse / rows.var())
    assert np.isnan(summary.amse.lower) and any('one episode' in note for note in summary.notes)


def test_recorded_chunks_that_were_executed_have_no_error(tmp_path):
    wanted = commands(40)
    sent = [inference(i, wanted[i : i + 8], ready=i + 3) for i in (0, 6, 12, 20)]
    off = wanted[26:34].copy()
    off[2, 1] += 0.5
    sent.append(inference(23, off, ready=26, execution_mode='synchronous'))
    (episode,) = read_raw(robot_bag(tmp_path / 'bag', sent, count=40))
    chunks, _ = recorded_chunks(episode)
    predictions = [
        Prediction(c.start, c.actions, c.dt, c.names, c.units, c.action_space) for c in chunks
    ]
    actions = actions_of(episode)
    assert compare(predictions[:4], actions).mse == 0.0
    errors = compare(predictions, actions)
    assert errors.mse == pytest.approx(0.25 / 40, rel=1e-9)
    by_step = summarise_errors([errors]).steps
    assert [step.step for step in by_step if step.mse > 1e-12] == [2]


def test_chunks_of_another_rate_are_compared_in_between(recorded):
    _, actions, _ = recorded
    wanted = commands(30)
    half = np.repeat(wanted[4:8], 2, axis=0)
    half[1:-1:2] = (wanted[4:7] + wanted[5:8]) / 2
    chunk = Prediction(step_stamp(4), half[:-1], 0.5 / RATE, JOINTS, ('rad',) * 6)
    assert compare([chunk], actions).mse == pytest.approx(0.0, abs=1e-20)


def test_a_turn_of_a_joint_without_end_is_no_error(tmp_path):
    """Recorded and predicted from -pi to pi, or counted on: the same errors of the same motion."""
    motion = counted(90)
    summaries = []
    for number, (of_bag, of_policy) in enumerate(
        itertools.product((motion, wrapped(motion)), repeat=2)
    ):
        sent = [('/episode_events', T0 - 2, event(T0 - 1, EventType.START))]
        for step, row in enumerate(of_bag):
            at = step_stamp(step)
            sent.append(('/joint_commands', at, joint_state(at, row, NAMES)))
        bag = write_bag(tmp_path / str(number), sent, {'robot': 'arm.urdf'})
        (bag / 'arm.urdf').write_text(urdf())
        (episode,) = read_raw(bag)
        actions = actions_of(episode)
        assert actions.continuous == ('turn', 'roll')
        off = np.array([0.02, -0.01, 0.0])
        chunks = [
            Prediction(step_stamp(i), of_policy[i : i + 9] + off, 0.7 / RATE, NAMES, ('rad',) * 3)
            for i in range(0, 80, 5)
        ]
        summaries.append(summarise_errors([compare(chunks, actions)]))
    first = summaries[0]
    assert first.joints[0].largest < 0.2
    for other in summaries[1:]:
        assert other.amse.value == pytest.approx(first.amse.value, rel=1e-9)
        assert other.namse.value == pytest.approx(first.namse.value, rel=1e-9)
        for ours, theirs in zip(other.joints, first.joints):
            assert ours.largest == pytest.approx(theirs.largest, rel=1e-9)
            assert ours.bias == pytest.approx(theirs.bias, rel=1e-9)


def test_nothing_is_compared_across_a_pause(tmp_path):
    sent = robot_messages(count=20)[:-1] + robot_messages(count=20, start=step_stamp(20 + 60))[1:]

    (episode,) = read_raw(write_bag(tmp_path / 'bag', sent))
    actions = actions_of(episode)
    observations = RecordedObservations(episode, cameras=())
    policy = replay(actions, horizon=10, max_gap=9.0)
    errors = compare(predict(policy, actions, observations, every=5)[0], actions)
    assert errors.mse == 0.0
    assert errors.left_out[PAUSE] == 5 and errors.left_out[BEHIND] == 5


def test_moments_without_an_observation_are_counted(tmp_path):
    (episode,) = read_raw(robot_bag(tmp_path / 'bag', image_every=20, count=30))
    actions = actions_of(episode)
    observations = RecordedObservations(episode, max_age=0.2)
    predictions, left_out = predict(replay(actions), actions, observations, every=2)
    assert left_out == {'chunk without observation (front: older than 0.2 s)': 9}
    assert len(predictions) == 6


class Refusing(HoldPolicy):
    """Takes no observation but the first."""

    calls = 0

    def infer(self, observation):
        self.calls += 1
        if self.calls > 1:
            raise PolicyError('too dark')
        return super().infer(observation)


def test_what_the_policy_refuses_is_counted(recorded):
    _, actions, observations = recorded
    predictions, left_out = predict(Refusing(), actions, observations, every=10)
    assert len(predictions) == 1 and left_out == {'chunk that the policy refused (too dark)': 2}
    policy = Refusing()
    policy.calls = 1
    with pytest.raises(PolicyError, match='nothing was predicted: .*too dark'):
        predict(policy, actions, observations)


class Remembering(HoldPolicy):
    """Keeps the stamps of what it is shown, at half the rate of the actions."""

    needs_history, history_period = True, 2 / RATE

    def __init__(self, options):
        super().__init__(options)
        self.shown = []

    def observe(self, observation):
        self.shown.append(observation.stamp)

    def infer(self, observation):
        self.shown.append(observation.stamp)
        return super().infer(observation)


def test_a_policy_with_a_history_sees_what_was_in_between(recorded):
    _, actions, observations = recorded
    policy = Remembering(ChunkOptions(horizon=2, dt=1 / RATE))
    predict(policy, actions, observations, every=5)
    # Before action 5 those of 1 and 3, before 10 those of 6 and 8, ...
    wanted = [0] + [step for last in range(5, 30, 5) for step in (last - 4, last - 2, last)]
    np.testing.assert_allclose(policy.shown, [step_stamp(step) for step in wanted], atol=2)


def test_chunks_that_are_none_are_refused(recorded):
    class Wide(HoldPolicy):
        def infer(self, observation):
            found = super().infer(observation)
            return replace(found, actions=found.actions[:, :4])

    with pytest.raises(PolicyError, match=r'nothing was predicted: .*it must be \(steps, 6\)'):
        predict(Wide(), recorded[1], recorded[2])


def test_joints_are_matched_by_name(recorded):
    _, actions, _ = recorded
    wanted = commands(30)
    names = ('gripper', 'elbow_flex', 'thumb')
    rows = np.column_stack([wanted[:4, 5], wanted[:4, 2], np.ones(4)])
    errors = compare([Prediction(step_stamp(0), rows, 1 / RATE, names, ('rad',) * 3)], actions)
    assert errors.names == ('gripper', 'elbow_flex') and errors.mse == 0.0
    assert 'thumb' in errors.unmatched and 'shoulder_pan' in errors.unmatched
    summary = summarise_errors([errors], {'gripper': (0, 1)})
    assert np.isnan(summary.joints[1].share) and np.isnan(summary.amse_share.value)
    assert any('elbow_flex are not known' in note for note in summary.notes)
    with pytest.raises(PolicyError, match='no joint in common'):
        compare([Prediction(0, rows, 0.1, ('x', 'y', 'z'), ('rad',) * 3)], actions)


def test_what_cannot_be_compared_is_said(recorded):
    _, actions, observations = recorded
    good = Prediction(step_stamp(0), commands(4), 1 / RATE, JOINTS, ('rad',) * 6)
    with pytest.raises(PolicyError, match='chunks are ee_delta; only joint_position'):
        compare([replace(good, action_space='ee_delta')], actions)
    with pytest.raises(PolicyError, match="joint_position in 'degrees'; only those in rad or m"):
        compare([good, replace(good, units=('degrees',) * 6)], actions)
    with pytest.raises(PolicyError, match='not finite'):
        compare([replace(good, actions=np.full((4, 6), np.nan))], actions)
    with pytest.raises(PolicyError, match='no chunk lies on'):
        compare([replace(good, start=step_stamp(90))], actions)
    with pytest.raises(PolicyError, match='no prediction'):
        compare([], actions)
    with pytest.raises(ValueRangeError, match='every is 0'):
        predict(HoldPolicy(), actions, observations, every=0)
    errors = compare([good, replace(good, dt=0.1), replace(good, start=step_stamp(90))], actions)
    assert errors.left_out == {
        'chunk of other joints or dt than the first': 1,
        'chunk behind the last recorded action': 1,
    }
    with pytest.raises(ShapeError, match='no episodes'):
        summarise_errors([])
    with pytest.raises(ValueRangeError, match='compare them one by one'):
        summarise_errors([errors, replace(errors, names=JOINTS[::-1])])


def test_several_episodes_have_an_interval(recorded):
    _, actions, _ = recorded
    random = np.random.default_rng(1)
    results = []
    for episode in range(6):
        rows = commands(30)[:10] + random.normal(0, 0.01 * (episode + 1), (10, 6))
        chunk = Prediction(step_stamp(0), rows, 1 / RATE, JOINTS, ('rad',) * 6)
        results.append(compare([chunk], actions))
    summary = summarise_errors(results, LIMITS)
    each = [errors.mse for errors in results]
    assert summary.amse.value == pytest.approx(np.mean(each)) and summary.amse.count == 6
    assert min(each) < summary.amse.lower < summary.amse.value < summary.amse.upper < max(each)
    assert summary.spread == (min(each), max(each))
    assert summary.notes == ('intervals over only 6 episodes are too narrow',)
    variance = np.concatenate([errors.truth for errors in results]).var()
    assert summary.namse.value == pytest.approx(np.mean(each) / variance)
    # The executed actions are the same in all: the interval of the ratio is that of amse.
    assert summary.namse.upper == pytest.approx(summary.amse.upper / variance, rel=1e-9)
    assert summary.amse_share.value == pytest.approx(summary.amse.value / 4)


def test_another_action_space_is_converted_first(recorded):
    _, actions, observations = recorded

    class Delta(HoldPolicy):
        def infer(self, observation):
            found = super().infer(observation)
            rows = 0 * found.actions
            observation.joint_positions[:] *= 57.3  # which the conversion must not see
            return replace(found, actions=rows, action_space='joint_delta')

    def convert(inference, observation):
        rows = inference.actions + observation.joint_positions
        return replace(inference, actions=rows, action_space='joint_position')

    policy = Delta(ChunkOptions(horizon=1, dt=1 / RATE))
    found = compare(predict(policy, actions, observations, 10, convert=convert)[0], actions)
    rows = commands(30)
    expected = ((rows[[0, 10, 20]] - rows[[0, 9, 19]]) ** 2).sum(axis=1).mean()
    assert found.mse == pytest.approx(expected)
