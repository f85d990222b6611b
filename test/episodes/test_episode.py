# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""An episode's value of a metric and the reason why it has none."""

from pathlib import Path

import numpy as np
import pytest

from frame_ros.core.errors import ValueRangeError
from frame_ros.episodes import Episode, Outcome
from frame_ros.metrics import REGISTRY

NAN = float('nan')


@pytest.fixture
def episode():
    summary = {
        'outcome': int(Outcome.TIMEOUT),
        'quality': {'pl': 0.5, 'ps': NAN, 'tcp_pi': 7.0, 'tcp_pi_mean': 0.25, 'gaps': 3},
        'unavailable': ['ps: the path has no length: 0 m', 'tb_tp_mean: no tokens'],
    }
    samples = {'safety': {'closing_speed': np.array([NAN, 0.1, 0.3]), 'distance': np.array([NAN])}}
    return Episode(Path(), 'e', {}, [], {}, {}, samples, summary)


def test_a_value_is_the_last_the_mean_or_reduced_over_its_samples(episode):
    assert (episode.value('pl'), episode.value('tcp_pi')) == (0.5, 0.25)
    assert episode.value('closing_speed') == 0.3
    assert episode.last('quality', 'gaps') == 3 and episode.last('safety', 'gaps') is None


def test_what_is_unavailable_is_none_with_a_reason(episode):
    assert [episode.value(name) for name in ('ps', 'tb_tp', 'distance', 'il', 'mse')] == [None] * 5
    assert episode.reason('ps') == 'the path has no length: 0 m'
    assert episode.reason('tb_tp') == 'no tokens'
    assert episode.reason('il') == REGISTRY['il'].unavailable
    assert episode.reason('mse').startswith('needs more than one bag holds: ')
    assert episode.reason('pl') == ''


def test_success_needs_a_known_outcome(episode):
    assert (episode.value('sr'), episode.is_success) == (0.0, False)
    episode.summary['outcome'] = 77
    assert episode.outcome is Outcome.UNKNOWN and episode.value('sr') is None
    assert episode.reason('sr')


def test_a_metric_that_does_not_exist_is_refused(episode):
    with pytest.raises(ValueRangeError, match="'nothing'"):
        episode.value('nothing')
