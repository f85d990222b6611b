# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Episodes of bags as calibration takes them."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from bag_making import T0, event, message, stamp
from score_bags import DURATION, inference, score_bag

from frame_ros.bags.streams.form import column_of
from frame_ros.core.events import EventType, Outcome
from frame_ros.core.time import SECOND
from frame_ros.episodes import Episode, read_episodes
from frame_ros.evaluation.read_scores import FEW_BAGS, read_score_episodes
from frame_ros.evaluation.score_episodes import score_episode

UR5E = Path(__file__).resolve().parents[2] / 'examples' / 'robots' / 'ur5e' / 'ur5e.yaml'
INFERENCES = 4
FIRST = 0.5 + 0.1 * np.arange(INFERENCES)


def recorded(folder, outcome=Outcome.SUCCESS, has_tokens=True, extra=()) -> Episode:
    rows = [(first, 0.9) if has_tokens else () for first in FIRST]
    (episode,) = read_episodes(score_bag(folder / 'bag', rows, outcome, extra))
    return episode


def test_scores_times_and_dimensions_of_a_bag(tmp_path):
    found = score_episode(recorded(tmp_path))
    assert (found.name, found.outcome, found.duration, found.begin) == ('e1', True, DURATION, T0)
    assert found.options['action_lower'] == () and found.options['confidence_aggregate'] == 'mean'
    np.testing.assert_array_equal(found.times, [0.0, 1.0, 2.0, 3.0])
    np.testing.assert_allclose(found.scores['confidence'], (FIRST + 0.9) / 2.0)
    np.testing.assert_allclose(found.scores['tb_tp_step'], 1.0 - (FIRST + 0.9) / 2.0)
    assert np.isnan(found.scores['ev_step']).all()
    np.testing.assert_allclose(found.dimensions, np.stack([FIRST, np.full(4, 0.9)], axis=1))
    np.testing.assert_array_equal(found.temperatures, [1.0, 2.0])
    np.testing.assert_allclose(found.at_temperature[:, 1], (FIRST + 0.9) / 4.0)
    np.testing.assert_allclose(found.dimensions_at_temperature[2], [[0.7, 0.35], [0.9, 0.45]])


def test_what_a_policy_without_tokens_lacks_is_none(tmp_path):
    found = score_episode(recorded(tmp_path, has_tokens=False))
    assert len(found) == INFERENCES and np.isnan(found.scores['confidence']).all()
    assert found.dimensions is found.temperatures is found.at_temperature is None
    assert np.isnan(found.distance).all() and not found.contact.any()


def test_distance_and_contact_are_the_newest_at_the_inference(tmp_path):
    extra = [
        (
            '/proximity', T0 + round(at * SECOND),
            message('frame_ros/msg/Proximity', header__stamp=stamp(T0 + round(at * SECOND)),
                    distance=distance),
        )
        for at, distance in ((-0.2, 0.05), (0.5, 0.3), (1.0, 0.2), (1.9, np.inf), (2.5, 0.1))
    ] + [
        (
            '/contact', T0 + round(at * SECOND),
            message('frame_ros/msg/ContactState', header__stamp=stamp(T0 + round(at * SECOND)),
                    in_contact=touches, unavailable=reason),
        )
        for at, touches, reason in (
            (-0.1, True, ''), (0.5, True, ''), (1.5, True, 'no sensor'), (2.9, True, ''),
        )
    ]  # fmt: skip
    found = score_episode(recorded(tmp_path, extra=extra))
    # As the metrics have it: what is infinite is dropped.
    np.testing.assert_array_equal(found.distance, [np.nan, 0.2, 0.2, 0.1])
    np.testing.assert_array_equal(found.contact, [False, True, False, True])


@pytest.mark.parametrize(
    ('widths', 'sources', 'note'),
    [
        ((5, 5, 0, 5), 'aa a', ''),
        ((5, 6, 5, 5), 'aaaa', 'their number changes within an episode: [5, 6]'),
        ((5, 5, 5, 5), 'abbb', "they are of several sources within an episode: ['a', 'b']"),
    ],
)
def test_features_that_do_not_fit_each_other_are_left_out_and_said(tmp_path, widths, sources, note):
    episode = recorded(tmp_path)
    stream = episode.streams['inference']
    rows = column_of([np.full(width, float(n)) for n, width in enumerate(widths)])
    named = np.array([source.strip() for source in sources])
    values = {**stream.values, 'features': rows, 'feature_source': named}
    episode.streams['inference'] = replace(stream, values=values)
    found = score_episode(episode)
    assert found.feature_note == note and (found.features is None) == bool(note)
    if not note:
        assert found.feature_source == 'a' and np.isnan(found.features[2]).all()


def test_infinite_distances_alone_are_none(tmp_path):
    extra = [
        (
            '/proximity', T0,
            message('frame_ros/msg/Proximity', header__stamp=stamp(T0), distance=np.inf),
        )
    ]  # fmt: skip
    found = score_episode(recorded(tmp_path, extra=extra))
    assert len(found) == INFERENCES and np.isnan(found.distance).all()


@pytest.mark.parametrize(
    ('outcome', 'expected', 'note'),
    [
        (Outcome.SUCCESS, True, ''),
        (Outcome.FAILURE, False, ''),
        (Outcome.TIMEOUT, False, ''),
        (Outcome.STOPPED, None, 'stopped'),
        (Outcome.UNKNOWN, None, 'not recorded'),
    ],
)
def test_outcome(tmp_path, outcome, expected, note):
    found = score_episode(recorded(tmp_path, outcome))
    assert found.outcome is expected and note in found.note


def test_an_episode_that_an_operator_helped_has_no_outcome_of_the_policy(tmp_path):
    at = T0 + 2 * SECOND
    extra = [('/episode_events', at, event(at, EventType.INTERVENTION_START))]
    found = score_episode(recorded(tmp_path, extra=extra))
    assert found.outcome is None and found.note == 'an operator drove 6.0 s of it'


def test_a_bag_that_cannot_be_read_says_so(tmp_path):
    broken = tmp_path / 'broken.mcap'
    broken.write_bytes(b'not a bag')
    good = score_bag(tmp_path / 'good', [(0.5, 0.5)])
    (bad,), (found,) = read_score_episodes([broken, good])
    assert bad.outcome is None and 'broken.mcap' in bad.note
    assert found.outcome is True


def test_probabilities_that_are_none_are_not_known(tmp_path):
    wrong = score_bag(tmp_path / 'bag', [(0.9, 0.8), (0.7, 1.7), (-1.2, 0.8), (0.6, 0.5)])
    ((found,),) = read_score_episodes([wrong])
    for part in (found.dimensions, found.at_temperature, found.dimensions_at_temperature):
        known = np.isfinite(part).reshape(4, -1).all(axis=1)
        assert known.tolist() == [True, False, False, True]


def test_tokens_that_give_no_confidence_say_why(tmp_path):
    rows = {'right': [(0.9, 0.8)], 'logarithms': [(0.9, 0.8), (-0.1, -0.2)], 'none': [()]}
    bags = {name: score_bag(tmp_path / name, given) for name, given in rows.items()}
    unknown = inference(5, (0.5, 0.5), token_chosen_probability=np.full(2, np.nan))
    extra = [('/policy_inference', T0 + 5 * SECOND, unknown)]
    bags['unknown'] = score_bag(tmp_path / 'unknown', [()], extra=extra)
    found = {}
    for name, bag in bags.items():
        ((episode,),) = read_score_episodes([bag])
        found[name] = episode.confidence_note
    assert found['right'] == found['none'] == ''
    assert '-0.1 does not lie between 0 and 1' in found['logarithms']
    assert 'log-probabilities' in found['logarithms']
    assert 'are not known' in found['unknown']


def test_temperatures_that_do_not_increase_are_no_grid(tmp_path):
    for temperatures, is_grid in (([1.0, 2.0], True), ([2.0, 1.0], False), ([0.0, 1.0], False)):
        row = inference(5, (0.5, 0.5), temperatures=np.array(temperatures))
        extra = [('/policy_inference', T0 + 5 * SECOND, row)]
        folder = tmp_path / f'{temperatures}'
        found = score_episode(recorded(folder, has_tokens=False, extra=extra))
        assert (found.temperatures is not None) == is_grid


def test_the_setup_has_every_instruction_of_the_episode(tmp_path):
    given = ('open the drawer', '', 'close it')
    rows = [inference(5 + i, (0.5, 0.5), instruction=text) for i, text in enumerate(given)]
    extra = [('/policy_inference', T0 + (5 + i) * SECOND, row) for i, row in enumerate(rows)]
    found = score_episode(recorded(tmp_path, extra=extra))
    assert found.fingerprint.instructions == ('close it', 'open the drawer')


def test_processes_read_the_same(tmp_path):
    bags = [score_bag(tmp_path / f'{n:02d}', [(n / 30.0, 0.5)]) for n in range(FEW_BAGS)]
    alone = [each.data_hash for (each,) in read_score_episodes(bags, 1)]
    assert [each.data_hash for (each,) in read_score_episodes(bags, 2)] == alone
    assert len(set(alone)) == FEW_BAGS


@pytest.mark.parametrize(
    ('named', 'expected'),
    [('so101', 'so101'), (str(UR5E), 'ur5e'), ('', ''), ('/missing/robot.yaml', '')],
)
def test_the_setup_has_the_name_of_the_robot_also_where_the_bag_names_its_file(
    tmp_path, named, expected
):
    episode = recorded(tmp_path)
    episode.attributes['robot'] = named
    assert score_episode(episode).fingerprint.robot == expected
