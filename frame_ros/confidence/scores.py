# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The scores of an inference: values that may distinguish success from failure.

They follow from the records of the metrics: every metric of ConfidenceMetrics with a direction is a
score, by its field that holds for this inference.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import lru_cache
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from frame_ros.core.errors import ValueRangeError
from frame_ros.metrics.record import Lack, Metric
from frame_ros.metrics.registry import REGISTRY

CONFIDENCE = 'confidence'


@dataclass(frozen=True)
class Score:
    """A score.

    Attributes:
        name: field of ConfidenceMetrics that holds it for one inference.
        metric: its record.
    """

    name: str
    metric: Metric

    @property
    def higher_is_better(self) -> bool:
        """Returns whether larger values speak for success."""
        return bool(self.metric.higher_is_better)

    @property
    def needs(self) -> tuple[str, ...]:
        """Requirements of an inference that has it, values of `frame_ros.metrics.record.Lack`."""
        lacks = (reason.lack for reason in self.metric.reasons)
        return tuple(lack for lack in lacks if lack not in ('', Lack.INFERENCE))


def _score(metric: Metric) -> Score:
    fields = metric.fields_of(CONFIDENCE)
    name = f'{metric.id}_step'
    return Score(name if name in fields else metric.id, metric)


# Name -> score, in the order of tables.
SCORES: MappingProxyType[str, Score] = MappingProxyType(
    {
        score.name: score
        for score in map(_score, REGISTRY.values())
        if CONFIDENCE in score.metric.messages and score.metric.higher_is_better is not None
    }
)


_NAMES = tuple(SCORES)
# Names of those that need a calibration file, and hold for that file alone.
OF_CALIBRATION = frozenset(name for name, each in SCORES.items() if Lack.CALIBRATION in each.needs)


def score_of(name: str) -> Score:
    """Returns the score of this name.

    Raises:
        ValueRangeError: there is none.
    """
    if name not in SCORES:
        raise ValueRangeError(f'no score is called {name!r}; there are {", ".join(SCORES)}')
    return SCORES[name]


def risk(name: str, values: Any) -> NDArray[np.float64]:
    """Returns values of a score, signed so that larger is worse; NaN stays NaN.

    Raises:
        ValueRangeError: there is no score of this name.
    """
    array = np.asarray(values, dtype=np.float64)
    return -array if score_of(name).higher_is_better else array


class MissingScores(NamedTuple):
    """The scores of one inference that are NaN.

    Attributes:
        reasons: score -> why it is NaN.
        lines: the same as 'score: reason'.
    """

    reasons: Mapping[str, str]
    lines: tuple[str, ...]


def missing_scores(
    values: Mapping[str, float], lacks: Collection[str], problems: Mapping[str, str]
) -> MissingScores:
    """Returns the scores of one inference that are NaN, with the reasons.

    Args:
        values: score -> value.
        lacks: what the inference lacks, values of `frame_ros.metrics.record.Lack`.
        problems: id of a metric -> what is wrong with its input, which takes precedence.
    """
    missing = tuple([name for name in _NAMES if values[name] != values[name]])
    return _reasons(missing, frozenset(lacks), tuple(problems.items()))


# Inference after inference lacks the same.
@lru_cache(maxsize=64)
def _reasons(
    missing: tuple[str, ...], lacks: frozenset[str], problems: tuple[tuple[str, str], ...]
) -> MissingScores:
    known = dict(problems)
    metrics = {name: SCORES[name].metric for name in missing}
    reasons = {
        name: known.get(each.id) or each.reason(lacks, CONFIDENCE) for name, each in metrics.items()
    }
    lines = tuple(f'{name}: {why}' for name, why in reasons.items())
    return MissingScores(MappingProxyType(reasons), lines)
