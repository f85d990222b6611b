# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Drift of the scores: its false alarms, what it finds, and that nothing is drawn at random."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from frame_ros.confidence import DriftDetector, RiskEpisode, drift_reference, episode_values
from frame_ros.confidence.guarantees.drift import EXPONENTS, ConformalBet
from frame_ros.core.errors import CalibrationError, ValueRangeError


def alarms(rng, draw, episodes=200, calibration=30):
    """Two bools: the martingale reaches 5, its restarted form 500, in a stable stream."""
    bet = ConformalBet(draw(rng, calibration))
    reached = np.zeros(2, dtype=bool)
    for value in draw(rng, episodes):
        bet.update(value)
        reached |= bet.log_wealth >= np.log(5.0), bet.log_cusum >= np.log(500.0)
    return reached


@pytest.mark.parametrize(
    'draw',
    [
        lambda rng, count: rng.normal(size=count),
        lambda rng, count: rng.standard_cauchy(size=count),
        lambda rng, count: rng.integers(0, 3, size=count).astype(float),
        lambda rng, count: np.zeros(count),
    ],
    ids=['normal', 'heavy tails', 'three values', 'constant'],
)
def test_false_alarms_are_no_more_than_was_stated(draw):
    rng = np.random.default_rng(0)
    runs = 300
    martingale, restarted = np.mean([alarms(rng, draw) for _ in range(runs)], axis=0)

    # Ville: 1/5 ever. Restarted: 200/500 within 200 episodes. 99.9 % interval: 3.29 sigma.
    def most(rate):
        return rate + 3.29 * np.sqrt(rate * (1.0 - rate) / runs)

    assert martingale <= most(0.2)
    assert restarted <= most(0.4)


def test_wealth_is_that_of_the_bets_worked_by_hand():
    bet = ConformalBet([1.0, 2.0, 3.0])
    bet.update(2.5)  # second of four from above, third from below
    expected = np.mean([EXPONENTS * share ** (EXPONENTS - 1.0) for share in (0.5, 0.75)])
    assert bet.log_wealth == pytest.approx(np.log(expected))
    assert bet.log_cusum == pytest.approx(np.log(expected))
    bet.update(9.0)
    gains = [
        np.stack([EXPONENTS * share ** (EXPONENTS - 1.0) for share in pair])
        for pair in ((0.5, 0.75), (0.2, 1.0))
    ]
    assert bet.log_wealth == pytest.approx(np.log((gains[0] * gains[1]).mean()))
    restarted = np.maximum(gains[0], 1.0) * gains[1]
    assert bet.log_cusum == pytest.approx(np.log(restarted.mean()))


@given(st.lists(st.integers(0, 4), min_size=1, max_size=30), st.integers(0, 2**32 - 1))
def test_ranks_without_chance_win_no_more_than_random_ones(values, seed):
    rng = np.random.default_rng(seed)
    bet = ConformalBet([])
    wealth = np.ones((2, len(EXPONENTS)))
    for number, value in enumerate(values, 1):
        bet.update(float(value))
        past = np.array(values[:number])
        share = ((past > value).sum() + rng.random() * (past == value).sum()) / number
        for row, found in enumerate((share, 1.0 - share)):
            wealth[row] *= EXPONENTS * max(found, 1e-300) ** (EXPONENTS - 1.0)
        assert bet.log_wealth <= np.log(wealth.mean()) + 1e-9


@pytest.mark.parametrize('direction, sign', [('higher', 1.0), ('lower', -1.0)])
def test_a_shift_is_found_and_named(direction, sign):
    rng = np.random.default_rng(1)
    reference = {'a': rng.normal(size=60).tolist(), 'b': rng.normal(size=60).tolist()}
    detector = DriftDetector(reference)
    for _ in range(100):
        found = detector.update({'a': rng.normal(), 'b': rng.normal()})
    assert not found.is_drifting and found.evidence < 1.0
    delays = 0
    while not found.is_drifting:
        found = detector.update({'a': rng.normal(), 'b': rng.normal(3.0 * sign)})
        delays += 1
        assert delays < 20
    assert found.causes == (f'the risk of b is {direction} than in the calibration episodes',)
    assert found.evidence >= 1.0
    # It stays, whatever comes.
    assert detector.update({'a': 0.0, 'b': 0.0}).is_drifting
    detector.reset()
    assert not detector.verdict.is_drifting


def test_the_restarted_form_sees_a_late_change_sooner():
    rng = np.random.default_rng(2)
    bet = ConformalBet(rng.normal(size=50))
    for _ in range(500):
        bet.update(rng.normal())
    for _ in range(10):
        bet.update(rng.normal(4.0))
    assert bet.log_cusum >= np.log(1000.0) > 0.0 > bet.log_wealth


def test_values_are_means_of_an_episode_s_risks():
    nan = float('nan')
    episodes = [
        RiskEpisode([0.0, 1.0], 2.0, {'a': [1.0, nan], 'b': [nan, nan]}),
        RiskEpisode([0.0, 1.0], 2.0, {'a': [0.5, 0.0], 'c': [0.7, 0.7]}),
        RiskEpisode([0.0], 2.0, {'c': [0.7]}),
    ]
    assert episode_values(episodes[0]) == {'a': 1.0}
    assert drift_reference(episodes) == {'a': [0.25, 1.0], 'c': [0.7, 0.7]}


def test_missing_scores_bet_nothing():
    detector = DriftDetector({'a': range(20)})
    before = detector.verdict
    assert detector.update({'b': 9.0, 'a': float('nan')}) == before
    assert detector.update({}) == before


def test_what_cannot_be_is_refused():
    with pytest.raises(CalibrationError, match='drift of b .* needs 10 calibration episodes'):
        DriftDetector({'a': range(10), 'b': range(9)})
    with pytest.raises(CalibrationError, match='drift of no score'):
        DriftDetector({})
    for values in ({'alpha': 0.0}, {'episodes_per_alarm': 1.0}, {'alpha': float('nan')}):
        with pytest.raises(ValueRangeError, match='between 0 and 1, and above 1'):
            DriftDetector({'a': range(20)}, **values)
