# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""One risk from several scores: what is unusual, when it is known, and what a fit needs."""

import json

import numpy as np
import pytest

from frame_ros.confidence.combination import METHODS, ScoreCombination, usable_inputs
from frame_ros.confidence.conformal import conformal_threshold
from frame_ros.confidence.score_channels import LARGEST, ScoreChannels
from frame_ros.confidence.score_episode import ScoreEpisode
from frame_ros.core.errors import CalibrationError, ValueRangeError

INPUTS = ('ev_step', 'stac', 'elapsed')


def episode(rng, outcome, shift=0.0, late=False, steps=20):
    """Two scores of noise; a failure's `stac` is shifted in its second half, or lasts longer."""
    count = steps * 2 if late else steps
    times = 0.25 * np.arange(count)
    stac = rng.normal(size=count)
    stac[count // 2 :] += shift
    return ScoreEpisode(
        name=f'{outcome}-{rng.integers(1 << 60)}',
        outcome=outcome,
        duration=0.25 * count,
        times=times,
        scores={'ev_step': rng.normal(5.0, 1e-3, count), 'stac': stac},
        distance=np.full(count, np.nan),
        contact=np.zeros(count, bool),
    )


@pytest.fixture(scope='module')
def episodes():
    rng = np.random.default_rng(0)
    good = [episode(rng, True, steps=int(rng.integers(16, 24))) for _ in range(60)]
    return [*good, *(episode(rng, False, 6.0) for _ in range(30))]


@pytest.mark.parametrize('method', METHODS)
def test_it_separates_failures_of_the_kind_and_others_at_the_rate_named(episodes, method):
    made = ScoreCombination.fit(episodes, INPUTS, method)
    rng = np.random.default_rng(1)
    calibration = [episode(rng, True, steps=int(rng.integers(16, 24))) for _ in range(99)]
    threshold = conformal_threshold([made.risks(e).max() for e in calibration], 0.1)
    shifted = [made.risks(episode(rng, False, 6.0)).max() > threshold for _ in range(50)]
    # Of a kind that no method was fitted with: it lasts too long.
    lasting = [made.risks(episode(rng, False, late=True)).max() > threshold for _ in range(50)]
    usual = [
        made.risks(episode(rng, True, steps=int(rng.integers(16, 24)))).max() > threshold
        for _ in range(300)
    ]
    assert np.mean(shifted) > 0.9
    assert np.mean(lasting) > (0.2 if method == 'fitted' else 0.9)
    assert np.mean(usual) < 0.2


def test_updates_give_the_risks_of_the_episode_and_never_fall(episodes):
    made = ScoreCombination.fit(episodes, INPUTS)
    each = episodes[-1]
    expected = made.risks(each)
    made.start()
    for row, elapsed in enumerate(each.times.tolist()):
        values = {name: float(column[row]) for name, column in each.scores.items()}
        assert made.update({**values, 'elapsed': elapsed, 'other': 1.0}) == expected[row]
    assert (np.diff(expected) >= 0.0).all()
    made.start()
    assert made.update({'elapsed': 0.0, 'ev_step': 5.0}) <= expected[-1]


@pytest.mark.parametrize('odd', [np.nan, np.inf, -np.inf])
def test_gaps_and_infinite_values_are_the_same_live_and_of_the_whole_episode(episodes, odd):
    made = ScoreCombination.fit(episodes, INPUTS, 'mean')
    each = episode(np.random.default_rng(5), True)
    for place, column in enumerate(each.scores.values()):
        column[[0, 5 + place, 9]] = odd
    expected = made.risks(each)
    made.start()
    for row, elapsed in enumerate(each.times.tolist()):
        values = {name: float(column[row]) for name, column in each.scores.items()}
        assert made.update({**values, 'elapsed': elapsed}) == expected[row]


def test_the_future_does_not_change_the_risk(episodes):
    made = ScoreCombination.fit(episodes, INPUTS)
    rng = np.random.default_rng(3)
    whole = episode(rng, False, 6.0)
    part = ScoreEpisode(
        'part', None, 1.0, whole.times[:5], {n: v[:5] for n, v in whole.scores.items()},
        whole.distance[:5], whole.contact[:5],
    )  # fmt: skip
    np.testing.assert_array_equal(made.risks(part), made.risks(whole)[:5])


@pytest.mark.parametrize('method', METHODS)
def test_it_survives_json_to_the_bit(episodes, method):
    made = ScoreCombination.fit(episodes, (*INPUTS, 'tb_e_step'), method)
    read = ScoreCombination.from_dict(json.loads(json.dumps(made.to_dict(), allow_nan=False)))
    np.testing.assert_array_equal(read.risks(episodes[-1]), made.risks(episodes[-1]))
    assert read.inputs == made.inputs


@pytest.mark.parametrize('part', ('method', 'weights', 'channels'))
def test_a_damaged_one_is_refused(episodes, part):
    content = ScoreCombination.fit(episodes, INPUTS).to_dict()
    del content[part]
    with pytest.raises(CalibrationError, match=part):
        ScoreCombination.from_dict(content)
    content[part] = [1.0] if part == 'weights' else 'none'
    with pytest.raises(CalibrationError):
        ScoreCombination.from_dict(content)


def _first(content, part, value):
    """Replaces the first number of a part, or the second input's name."""
    if part == 'inputs':
        content['channels']['inputs'][1] = content['channels']['inputs'][0]
        return
    row = content['weights'] if part == 'weights' else content['channels'][part]
    while isinstance(row[0], list):
        row = row[0]
    row[0] = value


@pytest.mark.parametrize(
    ('part', 'value'),
    [('weights', -1.0), ('spread', None), ('spread', 0.0), ('scale', None), ('inputs', '')],
)
def test_a_number_that_would_silence_a_channel_is_refused(episodes, part, value):
    content = json.loads(json.dumps(ScoreCombination.fit(episodes, INPUTS).to_dict()))
    _first(content, part, value)
    with pytest.raises(CalibrationError, match='damaged'):
        ScoreCombination.from_dict(content)


def test_a_score_that_is_missing_says_nothing(episodes):
    made = ScoreCombination.fit(episodes, INPUTS, 'highest')
    made.start()
    nothing = made.update({'elapsed': 0.1})
    assert nothing == 0.0
    with pytest.raises(ValueRangeError, match='elapsed'):
        made.update({'stac': 1.0})


def test_channels_are_worst_so_far_in_units_of_the_successes(episodes):
    """Worked by hand for the plain level of one score."""
    good = [e for e in episodes if e.outcome]
    channels = ScoreChannels.fit(episodes, ('stac',))
    worst = np.array([e.scores['stac'].max() for e in good])
    median, upper = np.quantile(worst, (0.5, 0.9))
    each = episodes[-1]
    units = (np.maximum.accumulate(each.scores['stac']) - median) / (upper - median)
    expected = np.log2(1.0 + np.clip(units, 0.0, 2.0**LARGEST - 1.0))
    found = channels.of_episode(each)[:, channels.names.index('stac level')]
    np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_the_level_of_a_confidence_is_its_lowest():
    rng = np.random.default_rng(0)

    def confident(low):
        base = episode(rng, True)
        values = np.full(len(base), 0.9) + rng.normal(0.0, 0.01, len(base))
        values[5] = low
        return ScoreEpisode(
            base.name, True, base.duration, base.times, {'confidence': values}, base.distance,
            base.contact,
        )  # fmt: skip

    channels = ScoreChannels.fit([confident(rng.uniform(0.8, 0.9)) for _ in range(30)],
                                 ('confidence',))  # fmt: skip
    level = channels.names.index('confidence level')
    assert channels.of_episode(confident(0.2))[-1, level] > 2.0
    assert channels.of_episode(confident(0.99))[-1, level] < 1.5


def test_what_a_fit_needs(episodes):
    good = [e for e in episodes if e.outcome]
    with pytest.raises(CalibrationError, match='10 or more'):
        ScoreCombination.fit(good[:9], INPUTS)
    with pytest.raises(CalibrationError, match='60 successes and 0 failures'):
        ScoreCombination.fit(good, INPUTS, 'fitted')
    assert ScoreCombination.fit(good, INPUTS, 'mean').method == 'mean'
    with pytest.raises(ValueRangeError, match="no method 'best'"):
        ScoreCombination.fit(episodes, INPUTS, 'best')
    with pytest.raises(ValueRangeError, match="'speed' is neither"):
        ScoreCombination.fit(episodes, ('speed',))


def test_inputs_are_those_that_successes_have(episodes):
    assert usable_inputs(episodes) == ('ev_step', 'stac', 'elapsed', 'contact')


def test_constant_scores_make_no_alarm_until_they_change():
    rng = np.random.default_rng(0)
    good = []
    for _ in range(20):
        base = episode(rng, True)
        good.append(
            ScoreEpisode(
                base.name,
                True,
                base.duration,
                base.times,
                {'stac': np.zeros(len(base))},
                base.distance,
                base.contact,
            )  # fmt: skip
        )
    made = ScoreCombination.fit(good, ('stac',), 'highest')
    assert made.risks(good[0]).max() == 0.0
    changed = ScoreEpisode('c', False, 5.0, good[0].times, {'stac': np.full(20, 0.1)},
                           good[0].distance, good[0].contact)  # fmt: skip
    assert made.risks(changed)[0] == LARGEST
