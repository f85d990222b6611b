# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Calibration of episodes: over the horizon, by dimension, recalibrators, thresholds, bad input."""

from dataclasses import replace

import attrs
import numpy as np
import pytest

from frame_ros.confidence import (
    ActionWisePlattScaling,
    PlattScaling,
    brier_score,
    expected_calibration_error,
    failure_auroc,
)
from frame_ros.confidence.calibration import Estimate
from frame_ros.confidence.calibration_file import CalibrationFile
from frame_ros.confidence.combination import ScoreCombination
from frame_ros.confidence.fingerprint import Fingerprint
from frame_ros.confidence.score_episode import ScoreEpisode
from frame_ros.confidence.thresholds import threshold_at
from frame_ros.core.errors import CalibrationError
from frame_ros.evaluation.calibration.calibration_set import calibration_set
from frame_ros.evaluation.calibration.comparison import (
    Candidate,
    compare,
    episode_folds,
    held_out,
    recommend,
    samples_of,
)
from frame_ros.evaluation.calibration.fitting import fitted_file
from frame_ros.evaluation.calibration.generated import generated_episodes
from frame_ros.evaluation.calibration.horizon import (
    LEVELS,
    horizon_calibration,
    newest_at,
    over_horizon,
)
from frame_ros.evaluation.calibration.options import FIRST, HORIZON, RAW, CalibrationOptions
from frame_ros.evaluation.calibration.score_table import dimension_rows, score_rows
from frame_ros.evaluation.calibration.study import study
from frame_ros.evaluation.calibration.thresholds import horizon_quantile
from frame_ros.reports.calibration_page import foresight, headline, verdict

QUICK = CalibrationOptions(resamples=20)


def made(name: str, values, outcome: bool | None = True, **changes) -> ScoreEpisode:
    """An episode with an inference a second."""
    values = np.asarray(values, float)
    count = len(values)
    return ScoreEpisode(
        **{
            'name': name,
            'outcome': outcome,
            'duration': float(max(count, 1)),
            'times': np.arange(count, dtype=float),
            'scores': {'confidence': values},
            'distance': np.full(count, np.nan),
            'contact': np.zeros(count, bool),
            **changes,
        }
    )


@pytest.fixture(scope='module')
def episodes() -> list[ScoreEpisode]:
    return generated_episodes(60, 20, seed=4)


def test_the_newest_value_at_each_percent():
    completion, values = np.array([0.0, 0.5, 0.9]), np.array([1.0, 2.0, 3.0])
    found = newest_at(completion, values)
    assert len(found) == 100
    expected = [1.0] * 50 + [2.0] * 40 + [3.0] * 10
    np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(newest_at(completion + 0.1, values)[:10], [1.0] * 10)


def test_rules_over_the_horizon_by_hand():
    episode = made('e', [0.1, 0.2, np.nan, 0.3, 0.4, 0.5, 0.6, 0.7])
    known = np.array([0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7])
    for rule, expected in (
        ('current', known),
        ('window', [known[max(0, i - 4) : i + 1].mean() for i in range(7)]),
        ('average', [known[: i + 1].mean() for i in range(7)]),
    ):
        found = over_horizon(episode, 'confidence', rule, np.array([0, 1, 3, 4, 5, 6, 7]) / 8.0)
        np.testing.assert_allclose(found, expected)


def test_calibration_at_each_percent_is_that_of_its_values(episodes):
    given = calibration_set(episodes)
    found = horizon_calibration(given, 'confidence', 'window', QUICK)
    for percent in (0, 37, 99):
        rows = [over_horizon(each, 'confidence', 'window')[percent] for each in given.episodes]
        assert found.ece_1.value[percent] == expected_calibration_error(rows, given.outcomes)
        assert found.brier.value[percent] == pytest.approx(brier_score(rows, given.outcomes))
        assert found.successes.value[percent] == pytest.approx(
            np.mean([row for row, outcome in zip(rows, given.outcomes) if outcome])
        )
    assert sum(each.count for each in found.diagrams[50]) == len(given)
    assert len(LEVELS) == len(found.ece_1.lower) == 100
    assert (found.ece_1.lower <= found.ece_1.value).all()


def test_folds_keep_the_episodes_whole_and_the_outcomes_balanced(episodes):
    given = calibration_set(episodes)
    folds = episode_folds(given.outcomes, 5, 0)
    for outcome in (0.0, 1.0):
        counts = np.bincount(folds[given.outcomes == outcome])
        assert len(counts) == 5 and counts.max() - counts.min() <= 1
    samples = samples_of(given, 'confidence', HORIZON)
    found = held_out(PlattScaling, samples, folds)
    chosen = folds[samples.episodes] == 2
    rest = PlattScaling().fit(samples.inputs.confidence[~chosen], samples.outcomes[~chosen])
    np.testing.assert_allclose(found[chosen], rest.predict(samples.inputs.confidence[chosen]))


def test_every_recalibrator_is_compared(episodes):
    given = calibration_set(episodes)
    found = compare(given, 'confidence', FIRST, QUICK)
    assert {each.kind for each in found.candidates} >= {
        RAW, 'platt', 'temperature', 'histogram_binning', 'platt_binning', 'isotonic',
        'action_wise_platt', 'action_wise_temperature',
    }  # fmt: skip
    raw = found.candidate(RAW)
    first = [each.scores['confidence'][0] for each in given.episodes]
    assert raw.metrics['ece_1'].value == expected_calibration_error(first, given.outcomes)
    assert found.candidate('action_wise_platt').parameters == 14
    assert found.recommended == 'action_wise_platt' and 'nats below' in found.advice
    gain = found.candidate('platt').gain
    losses = raw.metrics['nll'].value - found.candidate('platt').metrics['nll'].value
    assert gain.value == pytest.approx(losses) and gain.lower <= gain.value <= gain.upper


def candidate(kind: str, loss: float, parameters: int, gain: float = 0.1) -> Candidate:
    estimate = Estimate(loss, loss, loss)
    return Candidate(kind, parameters, {'nll': estimate}, Estimate(gain, gain - 0.05, gain + 0.05))


def test_recommendation():
    raw, platt = candidate(RAW, 0.6, 0), candidate('platt', 0.5, 2)
    assert recommend([raw, platt, candidate('isotonic', 0.4995, 40)])[0] == 'platt'
    assert recommend([raw, platt, candidate('isotonic', 0.49, 40)])[0] == 'isotonic'
    kind, advice = recommend([raw, candidate('platt', 0.6, 2)])
    assert kind == RAW and 'No recalibrator is better' in advice
    kind, advice = recommend([raw, candidate('platt', 0.59, 2, gain=0.01)])
    assert kind == 'platt' and 'more episodes are needed' in advice
    assert recommend([raw, Candidate('platt', problem='constant')])[0] == RAW


def test_scores_tell_failures_from_successes(episodes):
    given = calibration_set(episodes)
    rows = {row.score: row for row in score_rows(given, QUICK)}
    assert set(rows) == {'confidence', 'reversals'}
    worst = [-each.scores['reversals'].max() for each in given.episodes]
    ranks = np.argsort(np.argsort(worst)) / 100.0
    expected = failure_auroc(ranks, given.outcomes)
    assert rows['reversals'].auroc['worst'].value == pytest.approx(expected)
    mean = [each.scores['confidence'].mean() for each in given.episodes]
    assert rows['confidence'].auroc['mean'].value == failure_auroc(mean, given.outcomes)


def test_action_dimensions_have_their_own_calibration(episodes):
    given = calibration_set(episodes)
    rows = dimension_rows(given, QUICK)
    column = [each.dimensions[0, 3] for each in given.episodes]
    assert len(rows) == 7
    assert rows[3].metrics['ece_1'].value == expected_calibration_error(column, given.outcomes)
    assert rows[3].bias == pytest.approx(np.mean(column) - given.outcomes.mean())
    assert not dimension_rows(calibration_set([made('e', [0.5])]), QUICK)


def test_the_file_holds_what_was_fitted(episodes, tmp_path):
    found = study(episodes, QUICK)
    file = fitted_file(found)
    file.save(tmp_path / 'calibration.json')
    assert CalibrationFile.load(tmp_path / 'calibration.json') == file
    successes = [each for each in episodes if each.outcome]
    assert file.expected_duration == np.median([each.duration for each in successes])
    every = np.concatenate([each.scores['reversals'] for each in successes])
    assert file.statistics['reversals'].mean == pytest.approx(every.mean())
    levels = np.array([0.41])  # the end of the steps that the monitor compares with point 40
    rows = [over_horizon(each, 'confidence', levels=levels)[0] for each in episodes]
    limits = file.horizon_thresholds
    assert limits['confidence'].thresholds[40] == pytest.approx(np.quantile(rows, 0.1))
    risks = [over_horizon(each, 'reversals', levels=levels)[0] for each in episodes]
    assert limits['reversals'].thresholds[40] == pytest.approx(np.quantile(risks, 0.9))
    assert file.provenance.episodes[0].sha256 == episodes[0].data_hash
    assert (file.provenance.successes, file.provenance.failures) == (
        len(successes),
        60 - len(successes),
    )
    assert file.provenance.policy == 'generated'
    samples = samples_of(found.given, 'confidence', HORIZON)
    again = ActionWisePlattScaling().fit(samples.inputs.dimensions, samples.outcomes)
    assert file.recalibrator.to_dict() == again.to_dict()


@pytest.mark.parametrize(('count', 'duration'), [(4, 4.0), (30, 30.0), (7, 6.3)])
def test_the_horizon_threshold_of_an_inference_is_of_values_at_its_own_completion(count, duration):
    values, times = np.linspace(0.2, 0.9, count), duration * np.arange(count) / count
    alike = [made('e', values, times=times, duration=duration)] * 3
    found = horizon_quantile(calibration_set(alike), 'confidence', 0.1)
    live = [threshold_at(found.thresholds, each / duration) for each in times]
    np.testing.assert_allclose(live, values)


def test_conformal_thresholds_of_too_few_episodes_say_what_they_need(episodes):
    few = [each for each in episodes if each.outcome][:12] + [e for e in episodes if not e.outcome]
    found = study(few, QUICK)
    reasons = {reason for _, kind, reason in found.thresholds.refused if '0.05' in kind}
    assert reasons and all('it needs' in reason for reason in reasons)
    kept = [each for each in fitted_file(found).guarantees if each.thresholds]
    assert {each.rate.value for each in kept if each.form == 'constant'} == {0.1, 0.2}
    surer = study(few, attrs.evolve(QUICK, alpha_confidence=0.9)).thresholds.guarantees
    assert {each.rate.confidence for each in surer} == {0.9}
    assert {each.rate.value for each in surer if each.thresholds} == {0.2}


@pytest.mark.parametrize('outcome', [True, False])
def test_one_outcome_alone_gives_thresholds_but_no_recalibrator(outcome):
    few = [replace(each, outcome=outcome) for each in generated_episodes(25, 10)]
    found = study(few, QUICK)
    file = fitted_file(found)
    assert file.recalibrator is None and 'confidence' in file.horizon_thresholds
    assert any('no recalibrator can be fitted' in note for note in found.notes)
    assert (file.expected_duration is None) is not outcome
    assert any(each.thresholds for each in file.guarantees) is outcome
    with pytest.raises(CalibrationError, match='platt cannot be fitted: all'):
        fitted_file(study(few, attrs.evolve(QUICK, recalibrator='platt')))


def test_a_policy_without_confidence_still_has_thresholds():
    few = [
        replace(each, scores={'reversals': each.scores['reversals']}, dimensions=None)
        for each in generated_episodes(40, 10)
    ]
    found = study(few, QUICK)
    assert any('policy yields no confidence' in note for note in found.notes)
    wrong = study([replace(each, confidence_note='they are logarithms') for each in few], QUICK)
    assert any('of 40 episodes give no confidence' in note for note in wrong.notes)
    assert any('they are logarithms' in note for note in wrong.notes)
    file = fitted_file(found)
    assert file.recalibrator is None and set(file.horizon_thresholds) == {
        'reversals',
        'combined_risk',
    }
    with pytest.raises(CalibrationError, match='no episode has a confidence'):
        fitted_file(study(few, attrs.evolve(QUICK, recalibrator='platt')))


def test_constant_and_separable_confidences_are_named():
    outcomes = [True, False] * 12
    constant = [
        made(f'{n}', [0.7, 0.7 + 0 * n], o, duration=9.0 + n) for n, o in enumerate(outcomes)
    ]
    found = study(constant, QUICK)
    problems = [each.problem for each in found.comparison.candidates if each.problem]
    assert any('distinguish nothing' in problem for problem in problems)
    assert found.comparison.recommended == RAW and found.scores[0].is_constant
    separable = [
        made(f'{n}', [0.8 + 0.001 * n if o else 0.2 + 0.001 * n], o) for n, o in enumerate(outcomes)
    ]
    chosen = study(separable, QUICK).comparison.candidate('platt')
    assert any('no finite solution' in note for note in chosen.notes) and chosen.metrics
    saved = study(separable, attrs.evolve(QUICK, recalibrator='platt'))
    assert any('no finite solution' in text for text in verdict(saved))


def test_few_failures_of_the_cross_validation_and_episodes_without_confidence_are_noted():
    few = generated_episodes(60, 10, seed=4)
    few = [each for each in few if each.outcome][:20] + [e for e in few if not e.outcome][:11]
    few[0] = replace(few[0], scores={**few[0].scores, 'confidence': np.full(len(few[0]), np.nan)})
    notes = study(few, QUICK).notes
    assert any('without a part of the cross-validation' in note for note in notes)
    assert any('1 of 31 episodes have no confidence' in note for note in notes)


def test_scores_by_different_options_or_raw_actions_are_noted():
    def notes(options, others):
        few = generated_episodes(8, 5)
        few = [replace(e, scores={**e.scores, 'a_pi': e.scores['reversals']}) for e in few]
        both = [options] * 4 + [others] * 4
        few = [replace(each, options=own) for each, own in zip(few, both)]
        return [note for note in study(few, QUICK).notes if 'a_pi' in note]

    bounds = {'action_lower': (0.0,), 'action_upper': (1.0,), 'gap': 0.5}
    assert not notes(bounds, bounds) and not notes({}, {})
    (note,) = notes(bounds, {**bounds, 'gap': 0.3})
    assert 'gap' in note and 'differs' in note and 'reversals' in note
    raw = {**bounds, 'action_lower': (), 'action_upper': ()}
    assert 'raw actions' in notes(raw, raw)[0]
    assert ['differs' in note for note in notes(bounds, raw)] == [True, True]


def test_a_single_failure_is_too_few_for_a_cross_validation():
    few = [made(f'{n}', [0.5 + 0.01 * n], n > 0) for n in range(8)]
    found = study(few, QUICK)
    assert not found.comparisons
    assert any('needs 2 episodes of each' in note for note in found.notes)
    assert fitted_file(found).recalibrator is None
    assert any('8 episodes, close to the worst' in note for note in found.notes)
    assert not any('close to' in n for n in study(few, attrs.evolve(QUICK, quantile=0.2)).notes)
    chosen = study(few, attrs.evolve(QUICK, recalibrator='platt'))
    assert fitted_file(chosen).recalibrator and headline(chosen).startswith('platt, without')


def test_episodes_that_cannot_be_used_are_named():
    good = made('good', [0.5, 0.6])
    given = calibration_set(
        [good, made('unknown', [0.5], None, note='it was stopped'), made('empty', []),
         replace(good, name='twice')]
    )  # fmt: skip
    assert [each.name for each in given.episodes] == ['good']
    assert dict(given.left_out) == {
        'unknown': 'it was stopped', 'empty': 'it has no inference',
        'twice': 'it holds the same data as good',
    }  # fmt: skip
    with pytest.raises(CalibrationError, match=r'none of 1 episode .*it was stopped.*better 20'):
        calibration_set([made('unknown', [0.5], None, note='it was stopped')])
    with pytest.raises(CalibrationError, match='there are no episodes'):
        calibration_set([])


def test_nan_takes_no_part():
    few = generated_episodes(30, 10)
    holed = [replace(each, scores=dict(each.scores)) for each in few]
    for each in holed[:5]:
        each.scores['confidence'] = np.full(len(each), np.nan)
    found = study(holed, QUICK)
    assert (
        sum(row.successes + row.failures for row in found.scores if row.score == 'confidence') == 25
    )
    rest = samples_of(calibration_set(few[5:]), 'confidence', HORIZON)
    expected = ActionWisePlattScaling().fit(rest.inputs.dimensions, rest.outcomes).to_dict()
    fitted = fitted_file(study(holed, attrs.evolve(QUICK, recalibrator='action_wise_platt')))
    assert fitted.recalibrator.to_dict() == expected


def test_episodes_of_different_setups_are_refused():
    few = generated_episodes(6, 5)
    setups = [Fingerprint(weights='a' * 64, instructions=('x',))] * 3
    setups += [Fingerprint(weights='a' * 64, instructions=('y',))] * 3
    alike = [replace(each, fingerprint=setup) for each, setup in zip(few, setups)]
    assert fitted_file(study(alike, QUICK)).fingerprint.instructions == ('x', 'y')
    other = replace(few[5], fingerprint=Fingerprint(weights='b' * 64, instructions=('x',)))
    with pytest.raises(CalibrationError, match='different setups .*weights'):
        fitted_file(study([*alike[:5], other], QUICK))
    # Neither an episode that does not show a part hides that others differ in it, nor is it lost.
    unknown = replace(few[0], fingerprint=Fingerprint())
    both = f'{alike[1].name} and {other.name} are of different setups'
    with pytest.raises(CalibrationError, match=both):
        fitted_file(study([unknown, *alike[1:5], other], QUICK))
    assert fitted_file(study([unknown, *alike[1:]], QUICK)).fingerprint.weights == 'a' * 64


def folds_of(found) -> np.ndarray:
    return episode_folds(found.given.outcomes, QUICK.folds, QUICK.seed)


def test_scores_that_need_a_calibration_are_of_one_without_the_episode():
    random = np.random.default_rng(1)
    few = [
        replace(
            each,
            scores={
                **each.scores,
                'chunk_consistency': random.random(len(each)),
                'confidence_calibrated': np.full(len(each), 0.123),
                'combined_risk': np.zeros(len(each)),
            },
            features=random.normal(size=(len(each), 3)) + 2.0 * (not each.outcome),
            feature_source='encoder',
        )
        for each in generated_episodes(40, 10)
    ]
    found = study(few, QUICK)
    file = fitted_file(found)
    # What was recorded of an earlier calibration is gone.
    others = [each for each, fold in zip(found.given.episodes, folds_of(found)) if fold != 1]
    combined = ScoreCombination.fit(others, ScoreCombination.from_dict(file.combination).inputs)
    for each, fold in zip(found.given.episodes, folds_of(found)):
        if fold == 1:
            np.testing.assert_allclose(each.scores['combined_risk'], combined.risks(each))
    calibrated = np.concatenate([e.scores['confidence_calibrated'] for e in found.given.episodes])
    assert not (calibrated == 0.123).any()
    given = calibration_set(few)
    samples = samples_of(given, 'confidence', HORIZON)
    folds = episode_folds(given.outcomes, QUICK.folds, QUICK.seed)
    rest = samples.select(folds[samples.episodes] != folds[7])
    own = rest.inputs.fit(ActionWisePlattScaling, rest.outcomes).predict(few[7].dimensions)
    np.testing.assert_allclose(found.given.episodes[7].scores['confidence_calibrated'], own)
    # Standardised by the successes, distances by the features of others.
    raw = np.concatenate([e.scores['chunk_consistency'] for e in few if e.outcome])
    z = (few[3].scores['chunk_consistency'] - raw.mean()) / raw.std()
    np.testing.assert_allclose(found.given.episodes[3].scores['chunk_consistency_z'], z)
    assert file.features.source == 'encoder' and file.features.rows.shape[1] == 3
    rows = {row.score: row for row in found.scores}
    assert rows['feature_mahalanobis'].auroc['mean'].value > 0.95
    assert {'feature_knn', 'chunk_consistency_z', 'confidence_calibrated'} <= set(
        file.horizon_thresholds
    )


def test_scores_that_change_in_the_course_of_time_are_noted():
    rng = np.random.default_rng(2)
    level = rng.uniform(0.4, 0.6, size=40)

    def notes(confidences):
        # Given in another order than they were recorded in.
        given = [
            made(f'e{number}', [0.1, confidence], begin=10**9 * (number + 1))
            for number, confidence in enumerate(confidences)
        ]
        return [note for note in study(given[::-1], QUICK).notes if 'exchangeable' in note]

    assert not notes(level)
    assert 'risk of confidence rises' in notes(level - 0.01 * np.arange(40))[0]
    assert 'risk of confidence falls' in notes(level + 0.01 * np.arange(40))[0]
    # One order of 120 rises by chance, and so does one that falls: 5 episodes show nothing.
    assert not notes(np.linspace(0.5, 0.6, 5))
    assert 'risk of confidence falls' in notes(np.linspace(0.5, 0.6, 8))[0]


def test_the_page_says_first_whether_failures_are_foreseen(episodes):
    """Of a policy with a confidence in the second place, after its calibration."""
    found = study(episodes, CalibrationOptions(resamples=100))
    text = foresight(found)
    areas = {row.score: row.auroc['first'] for row in found.scores if row.auroc}
    best = max(areas, key=lambda name: areas[name].value)
    clear = sum(area.lower > 0.5 for area in areas.values())
    assert f'{clear or "none"} of {len(areas)} scores clearly' in text
    assert f'highest AUROC: {best}, {areas[best].value:.3g}, {areas[best].lower:.3g} to' in text
    assert verdict(found)[0] == f'{text}.'
    alone = study([each for each in episodes if each.outcome], CalibrationOptions(resamples=0))
    assert foresight(alone).endswith('there is no failure')
    few = [replace(each, scores={'reversals': each.scores['reversals']}) for each in episodes]
    without = study(few, CalibrationOptions(resamples=0))
    assert headline(without) == foresight(without) and 'reversals' in headline(without)
    assert verdict(without)[0].startswith('No recalibrator')
