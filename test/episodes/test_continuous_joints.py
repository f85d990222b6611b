# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Metrics of arms whose joints turn without end: the same motion has the same numbers, whether its
positions are counted on over pi or published from -pi to pi; live and from the bag.
"""

import math

import numpy as np
import pytest
from bag_making import T0, event, message, stamp, write_bag
from pipeline_runs import INFERENCE
from turning_arm import NAMES, TURNING, counted, kinova, urdf, wrapped

from frame_ros.core.events import Event, EventType
from frame_ros.core.time import SECOND
from frame_ros.episodes import MetricPipeline, PipelineOptions, read_episodes
from frame_ros.episodes.metric_pipeline.robot_actions import action_settings
from frame_ros.metrics import ActionStep, ReversalShare
from frame_ros.robots import load_robot

RATE = 30
KINDS = ('quality', 'safety', 'confidence', 'efficiency')


def joint_state(at, names, positions):
    return message(
        'sensor_msgs/msg/JointState',
        header__stamp=stamp(at),
        name=list(names),
        position=np.array(positions, float),
    )


def sent_by(positions, names=NAMES, settings=None):
    """Joint states, each with the command of 2 ms later, of an episode; its settings, if given."""
    sent = [('/episode_events', T0 - 2000, event(T0 - 1000, EventType.START))]
    if settings is not None:
        text = message('std_msgs/msg/String', data=settings.to_json())
        sent.insert(0, ('/metrics_config', T0 - 3000, text))
    for step, row in enumerate(positions):
        at = T0 + round(step * SECOND / RATE)
        sent.append(('/joint_states', at - 2_000_000, joint_state(at - 2_000_000, names, row)))
        sent.append(('/joint_commands', at, joint_state(at, names, row)))
    end = T0 + round(len(positions) * SECOND / RATE)
    return [*sent, ('/episode_events', end, event(end, EventType.END, outcome=1))]


def recorded(folder, positions, arm, names=NAMES, settings=None):
    """The episode of a bag of an arm whose description lies in its folder."""
    bag = write_bag(folder, sent_by(positions, names, settings), {'robot': 'arm.urdf'})
    (bag / 'arm.urdf').write_text(arm)
    [episode] = read_episodes(bag)
    return episode


def settings_of(arm):
    robot = load_robot(arm)
    return PipelineOptions(**action_settings(robot.joint_limits, robot.continuous))


def same(first, second):
    """Every number of every metric, at every step, and the summary."""
    for kind in KINDS:
        assert len(first.metrics[kind]['stamp']) == len(second.metrics[kind]['stamp'])
        for name, values in first.metrics[kind].items():
            if values.dtype.kind in 'fiub':
                np.testing.assert_allclose(
                    second.metrics[kind][name], values, rtol=1e-9, atol=1e-12, err_msg=name
                )


def live(positions, settings, names=NAMES):
    """The samples of the pipeline, fed message by message as the metrics node does."""
    pipeline, found = MetricPipeline(settings), []
    pipeline.feed('event', T0 - 1000, Event(T0 - 1000, EventType.START, 'e1'), T0 - 1000)
    for step, row in enumerate(positions):
        at = T0 + round(step * SECOND / RATE)
        pipeline.feed('action', at, (tuple(names), row.tolist()), at)
        found += pipeline.advance(at)
    end = T0 + round(len(positions) * SECOND / RATE)
    pipeline.feed('event', end, Event(end, EventType.END, 'e1'), end)
    return found + pipeline.finish()


@pytest.mark.parametrize('has_settings', [True, False], ids=['recorded settings', 'of the robot'])
def test_a_wrapped_recording_has_the_numbers_of_a_counted_one(tmp_path, has_settings):
    arm, motion = urdf(), counted()
    assert np.abs(np.diff(wrapped(motion), axis=0)).max() > 6.0  # it does jump
    settings = settings_of(arm) if has_settings else None
    whole = recorded(tmp_path / 'a', motion, arm, settings=settings)
    split = recorded(tmp_path / 'b', wrapped(motion), arm, settings=settings)
    assert len(whole.metrics['quality']['a_pi']) == len(motion)
    same(whole, split)
    steps = np.abs(np.diff(motion, axis=0)).mean(axis=1)
    np.testing.assert_allclose(split.metrics['quality']['a_pi_step'][1:], steps, atol=1e-12)
    assert split.metrics['quality']['pl'][-1] > 0.5  # poses were computed
    assert whole.summary['quality']['a_ai_mean'] == pytest.approx(
        split.summary['quality']['a_ai_mean'], rel=1e-9
    )


def test_live_and_bag_say_the_same_to_the_bit(tmp_path):
    arm, motion = urdf(), wrapped(counted())
    settings = settings_of(arm)
    again = PipelineOptions.from_json(settings.to_json())
    assert again == settings and again.continuous == TURNING
    episode = recorded(tmp_path / 'a', motion, arm, settings=settings)
    rows = [s for s in live(motion, settings) if s.kind == 'quality']
    for name in ('a_pi', 'a_vi', 'a_ai', 'a_pi_step', 'a_ai_mean'):
        ours = np.array([row.values[name] for row in rows])
        np.testing.assert_array_equal(ours, episode.metrics['quality'][name], err_msg=name)


def test_reversals_and_standing_still_see_no_turn_back_at_the_seam():
    still = np.tile([math.pi, 0.1, -math.pi], (9, 1))
    still[::2, [0, 2]] *= -1.0  # the same place, by rounding on one side of the seam or the other
    settings = settings_of(urdf())
    for motion in (wrapped(counted())[5:14], still):
        assert np.abs(np.diff(motion, axis=0)).max() > 6.0
        pipeline, raw = MetricPipeline(settings), ReversalShare()
        for step, row in enumerate(motion.tolist()):
            pipeline.feed('action', T0 + step * SECOND // RATE, (NAMES, row))
            raw.update(row)
        pipeline.feed('inference', T0 + len(motion) * SECOND // RATE, INFERENCE)
        [found] = [s for s in pipeline.finish() if s.kind == 'confidence']
        assert raw.value > 0.0 and found.values['reversals'] == 0.0


def inferred(samples, number, unit='rad'):
    """Stamp and PolicyInference with samples (N, H, 3) of a chunk."""
    at = T0 + (number + 1) * SECOND // 5
    return at, message(
        'frame_ros/msg/PolicyInference', header__stamp=stamp(at), sequence=number,
        sample_count=len(samples), horizon=samples.shape[1], action_dimension=3,
        samples=samples.ravel(), chunk_shift=6.0 if number else 0.0, action_dt=1 / RATE,
        action_space='joint_position', action_names=list(NAMES), action_units=[unit] * 3,
    )  # fmt: skip


def test_samples_on_both_sides_of_the_seam_are_near_each_other(tmp_path):
    settings, found = settings_of(urdf()), {}
    motion, noise = counted(), 0.01 * np.random.default_rng(0).normal(size=(8, 6, 12, 3))
    for name, publish in (('counted', np.array), ('wrapped', wrapped)):
        sent = sent_by(publish(motion), settings=settings)
        for number in range(8):
            samples = publish(motion[6 * number : 6 * number + 12] + noise[number])
            at, content = inferred(samples, number)
            sent.append(('/policy_inference', at + 1000, content))
        bag = write_bag(tmp_path / name, sorted(sent, key=lambda each: each[1]))
        [episode] = read_episodes(bag)
        assert len(episode.metrics['confidence']['ev']) == 8
        found[name] = episode
    same(found['counted'], found['wrapped'])
    spread = found['wrapped'].metrics['confidence']
    assert np.nanmax(spread['ev_step']) < 0.02 and np.isfinite(spread['stac'][1:]).all()
    raw = wrapped(motion)[:48].reshape(8, 6, 3)
    assert np.abs(np.diff(raw, axis=1)).max() > 6.0  # of the chunks, too


def test_an_arm_of_kinova_has_its_own_numbers(tmp_path):
    robot = load_robot(kinova())
    names = robot.joint_names
    places = np.isin(names, robot.continuous)
    assert places.tolist() == [True, False, False, True, False, True]
    time = np.arange(100)[:, None] / RATE
    motion = 2.9 + 0.4 * np.sin((1.0 + np.arange(6)) * time)
    text = kinova().read_text()
    whole = recorded(tmp_path / 'a', motion, text, names)
    split = recorded(tmp_path / 'b', wrapped(motion, places), text, names)
    same(whole, split)
    assert split.metrics['quality']['a_pi_step'][1:].max() < 0.1


def test_a_joint_with_limits_keeps_its_numbers_to_the_bit(tmp_path):
    """Also one that jumps by a turn: what it did is not known better."""
    motion = wrapped(counted())
    episode = recorded(tmp_path / 'a', motion, urdf('revolute', 'limited'))
    raw = ActionStep(3, (((-3.2,) * 3), ((3.2,) * 3)))
    for step, row in enumerate(motion.tolist()):
        raw.update(row)
        for name in ('a_pi', 'a_vi', 'a_ai', 'a_pi_mean', 'a_vi_step', 'a_ai_mean'):
            np.testing.assert_equal(episode.metrics['quality'][name][step], getattr(raw, name))


def test_a_recording_of_before_keeps_the_numbers_that_were_said_live(tmp_path):
    settings = PipelineOptions(action_names=NAMES)
    episode = recorded(tmp_path / 'a', wrapped(counted()), urdf(), settings=settings)
    assert np.nanmax(episode.metrics['quality']['a_pi_step']) > 2.0
    [note] = [text for text in map(str, episode.problems) if 'jump by a turn at pi' in text]
    turns, _, rolls = (np.abs(np.diff(wrapped(counted()), axis=0)) > 6.0).sum(axis=0)
    assert f'turn ({turns}), roll ({rolls})' in note


def test_an_arm_that_is_not_known_is_not_silently_taken_for_one_with_limits(tmp_path):
    sent = [each for each in sent_by(wrapped(counted())) if each[0] != '/joint_states']
    [episode] = read_episodes(write_bag(tmp_path / 'a', sent))
    assert any('jump by a turn at pi' in str(text) for text in episode.problems)
    at = T0 - 500
    sent.insert(1, ('/joint_commands', at, joint_state(at, ('gripper',), (0.0,))))  # by itself
    [halves] = read_episodes(write_bag(tmp_path / 'c', sent))
    assert any('jump by a turn at pi' in str(text) for text in halves.problems)
    [known] = read_episodes(write_bag(tmp_path / 'b', sent_by(counted())))
    assert not any('jump by a turn' in str(text) for text in known.problems)


def test_samples_in_units_of_a_policy_are_not_turned(tmp_path):
    samples = np.random.default_rng(0).normal(0.0, 20.0, (8, 6, 12, 3))  # such as -100 to 100
    metrics = []
    for name, arm in (('turning', urdf()), ('limited', urdf('revolute'))):
        sent = sent_by(counted(), settings=settings_of(arm))
        for number in range(8):
            at, content = inferred(samples[number], number, unit='1')
            sent.append(('/policy_inference', at + 1000, content))
        [episode] = read_episodes(write_bag(tmp_path / name, sorted(sent, key=lambda s: s[1])))
        metrics.append(episode.metrics['confidence'])
    for column in ('ev_step', 'chunk_entropy', 'stac'):
        assert np.isfinite(metrics[0][column]).any()
        np.testing.assert_array_equal(metrics[0][column], metrics[1][column], err_msg=column)
