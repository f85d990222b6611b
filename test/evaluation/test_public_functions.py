# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Names and parameters of frame_ros.evaluation that others script against."""

from __future__ import annotations

import inspect

import numpy as np
import pytest

import frame_ros.evaluation as evaluation

# Name -> its first parameters, with a default where there must be that one.
PUBLIC = {
    'mcnemar_exact': 'a, b',
    'tango_interval': 'a, b, confidence=0.95',
    'boschloo': 'successes_a, trials_a, successes_b, trials_b',
    'kaplan_meier': 'times, events',
    'restricted_mean': 'times, events, tau',
    'completion_fraction': 'times, events, tau',
    'human_relative_throughput': 'policy, human, tau',
    'probability_faster': 'a, b, tau',
    'ks_distance': 'a, b, tau',
    'macro_ks': 'a, b',
    'logrank': 'a, b',
    'mcnemar_sample_size': 'difference, discordance, power=0.8, alpha=0.05',
    'spearman': 'metric, label',
    'mann_whitney': 'a, b',
    'vargha_delaney_a12': 'a, b',
    'cohens_kappa': 'a, b',
}


@pytest.mark.parametrize('name', PUBLIC)
def test_parameters_stay_what_they_are(name):
    found = list(inspect.signature(getattr(evaluation, name)).parameters.values())
    wanted = PUBLIC[name].split(', ')
    for parameter, (wanted_name, _, default) in zip(found, (w.partition('=') for w in wanted)):
        assert parameter.name == wanted_name
        assert parameter.kind is parameter.POSITIONAL_OR_KEYWORD
        assert not default or parameter.default == float(default)
    assert len(found) >= len(wanted)
    assert all(more.default is not more.empty for more in found[len(wanted) :])


def test_every_exported_name_is_there():
    assert set(PUBLIC) <= set(evaluation.__all__)
    assert all(hasattr(evaluation, name) for name in evaluation.__all__)
    assert len(set(evaluation.__all__)) == len(evaluation.__all__)


def test_results_have_their_documented_forms():
    times, events = [10.0, 20.0, np.inf, 40.0], [1, 1, 1, 0]
    curve = evaluation.kaplan_meier(times, events)
    assert curve.median == 20 and curve.cdf(15) == pytest.approx(0.25)
    human = {'cube': ([5.0, 10.0], [1, 1])}
    found = evaluation.human_relative_throughput({'cube': (times, events)}, human, 30)
    assert found.macro == pytest.approx(found.per_object['cube'])
    # S: 1 until 10, 0.75 until 20, 0.5 until 30, against a mean of 7.5.
    assert found.macro == pytest.approx(7.5 / (10 + 7.5 + 5))
    arms = (times, events), human['cube']
    assert 0 <= evaluation.probability_faster(*arms, 30) <= 1
    assert evaluation.ks_distance(*arms, 30) == pytest.approx(0.75)
    assert [evaluation.mcnemar_sample_size(0.05, q) for q in (0.10, 0.25)] == [312, 783]
