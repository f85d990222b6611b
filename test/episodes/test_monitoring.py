# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Verdicts of a monitor in a bag: computed again, and as halts with their lead time."""

import attrs
import pytest
from bag_making import message
from monitor_bags import MOMENTS, RULE, START, TOPICS, at, watched_bag, watched_messages

from frame_ros.bags.reader import Bag
from frame_ros.confidence.calibration_file import CalibrationFile
from frame_ros.confidence.calibration_parts import HorizonThresholds
from frame_ros.confidence.monitor import Level, MonitorOptions
from frame_ros.core.errors import FrameRosError
from frame_ros.core.time import SECOND
from frame_ros.episodes.monitoring.halts import halts_of
from frame_ros.episodes.monitoring.replay import replay_monitor
from frame_ros.episodes.monitoring.settings import MonitorSettings
from frame_ros.episodes.reading import read_episodes

KINDS = dict(zip(TOPICS.values(), ('ConfidenceMetrics', 'Proximity', 'ContactState')))


def replayed(folder, sent):
    (episode,) = read_episodes(watched_bag(folder / 'bag', sent))
    return replay_monitor(episode.open_bag(), '', episode.episode_id, episode.events)


def of(sent, topic):
    return [place for place, (name, _, _) in enumerate(sent) if name == topic]


def test_the_verdicts_are_the_same_again_also_with_a_calibration(tmp_path):
    states, found = replayed(tmp_path, watched_messages())
    assert len(states) == len(MOMENTS) == found.compared == found.same
    assert (found.lacking, found.differences, found.problem) == (0, (), '')
    assert {Level(state.level) for state in states} == {Level.OK, Level.CAUTION, Level.HALT}
    thresholds = HorizonThresholds(quantile=0.1, thresholds=[0.8, 0.5, 0.1], episodes=9)
    file = CalibrationFile(horizon_thresholds={'confidence': thresholds}, expected_duration=1.1)
    settings = MonitorSettings(MonitorOptions(warm_up=0.6), file, TOPICS, START - 1)
    _, found = replayed(tmp_path / 'calibrated', watched_messages(settings))
    assert found.same == found.compared == len(MOMENTS)


def test_the_verdicts_of_a_monitor_that_began_again_are_the_same_again(tmp_path):
    sent = watched_messages(begun=at(0.65))
    states, found = replayed(tmp_path, sent)
    assert [states[place].level for place in (6, 7)] == [Level.HALT, Level.CAUTION]
    assert (found.compared, found.differences) == (len(MOMENTS), ())


def test_of_messages_of_one_stamp_the_first_counts_as_live(tmp_path):
    sent = watched_messages()
    for place in [of(sent, topic)[5] for topic in TOPICS.values()]:
        topic, received, first = sent[place]
        fields = {'confidence': 0.95, 'distance': 0.9, 'in_contact': True}
        own = {name: value for name, value in fields.items() if hasattr(first, name)}
        again = message(f'frame_ros/msg/{KINDS[topic]}', header__stamp=first.header.stamp, **own)
        sent.append((topic, received + 1_000_000, again))
    _, found = replayed(tmp_path, sent)
    assert (found.compared, found.differences) == (len(MOMENTS), ())


def test_a_verdict_that_differs_is_named(tmp_path):
    sent = watched_messages()
    place = of(sent, '/proximity')[5]
    object.__setattr__(sent[place][2], 'distance', 0.5)
    _, found = replayed(tmp_path, sent)
    assert found.compared - found.same == 3  # this one, and the two whose delay began with it
    assert found.differences[0].startswith('0.500 s: distance was 0.05, is 0.5; causes was')
    assert '0.600 s: level was 2, is 1' in found.differences[1]


def test_inputs_that_the_bag_lacks_are_counted_and_no_difference(tmp_path):
    sent = watched_messages()
    lost = of(sent, '/contact')[9]
    _, found = replayed(tmp_path, sent[:lost] + sent[lost + 1 :])
    assert (found.compared, found.same, found.lacking) == (9, 9, 1)


@pytest.mark.parametrize(
    ('text', 'problem'),
    [
        (None, '/monitor_config is not in the bag'),
        ('[1]', 'these are no monitor settings'),
        ('{', 'not JSON'),
        ('{"format": "frame_ros monitor 1"}', "KeyError('options')"),
    ],
)
def test_settings_that_cannot_be_read_are_said(tmp_path, text, problem):
    sent = [each for each in watched_messages() if each[0] != '/monitor_config']
    if text is not None:
        sent.append(('/monitor_config', START, message('std_msgs/msg/String', data=text)))
    states, found = replayed(tmp_path, sent)
    assert len(states) == len(MOMENTS) and problem in found.problem and not found.compared


def test_settings_that_change_hold_from_then_on(tmp_path):
    later = attrs.evolve(RULE, halt_distance=0.01)
    settings = MonitorSettings(later, None, TOPICS, at(0.45))
    sent = watched_messages()
    text = message('std_msgs/msg/String', data=settings.to_json())
    _, found = replayed(tmp_path, [*sent, ('/monitor_config', at(0.45), text)])
    # Nothing is near any more, but the last contact is one.
    assert found.compared == len(MOMENTS) and found.differences[0].startswith('0.500 s: causes')


def test_settings_survive_the_way_through_a_bag():
    file = CalibrationFile(expected_duration=12.5, drift={'confidence': [0.1, 0.2]})
    settings = MonitorSettings(RULE, file, TOPICS, 7)
    assert MonitorSettings.from_json(settings.to_json()) == settings
    with pytest.raises(FrameRosError, match='format'):
        MonitorSettings.from_json('{"format": "other"}')


def test_halts_have_a_begin_causes_and_a_lead_before_the_failure(tmp_path):
    (episode,) = read_episodes(watched_bag(tmp_path / 'bag', watched_messages()))
    found = halts_of(episode, episode.open_bag())
    (halt,) = found.halts
    # The mean of two is below from 0.4 s on (0.55, then 0.2), and for 0.15 s from there at 0.6 s.
    assert (halt.begin - at(0.0)) / SECOND == pytest.approx(0.602)
    assert halt.causes == ('score', 'near', 'in_contact') and 'within 0.08 m' in halt.text
    assert found.failed == found.end and found.lead == pytest.approx(1.2 - 0.602, abs=0.05)
    assert found.seconds(Level.CAUTION) == pytest.approx(0.2)
    (good,) = read_episodes(watched_bag(tmp_path / 'good', watched_messages(), outcome=1))
    assert halts_of(good, good.open_bag()).failed == 0
    assert halts_of(good, good.open_bag()).lead != halts_of(good, good.open_bag()).lead


def test_a_bag_without_a_monitor_or_with_an_unknown_level_has_no_halts(tmp_path):
    (episode,) = read_episodes(watched_bag(tmp_path / 'bag', []))
    assert halts_of(episode, episode.open_bag()) is None
    sent = watched_messages()
    object.__setattr__(sent[of(sent, '/monitor_state')[3]][2], 'level', 9)
    (episode,) = read_episodes(watched_bag(tmp_path / 'odd', sent))
    assert halts_of(episode, episode.open_bag()) is None
    assert '/monitor_state has a verdict of the unknown level 9' in episode.problems
    assert isinstance(episode.open_bag(), Bag)
