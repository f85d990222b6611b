# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Drift of the scores: do new episodes still come from where the calibration episodes came from?

The thresholds hold while they do. One value per score and episode is tested, since the inferences
of one episode depend on each other.
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right, insort
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from frame_ros.confidence.guarantees.risk_episode import RiskEpisode
from frame_ros.confidence.samples import Array
from frame_ros.core.errors import CalibrationError, ValueRangeError

# Exponents of the power martingales that are mixed.
EXPONENTS = np.arange(0.05, 1.0, 0.1)
LEAST_EPISODES = 10
# Significant digits of an episode's value.
_DIGITS = 12


@dataclass(frozen=True)
class DriftVerdict:
    """Judgement of the episodes so far.

    Attributes:
        evidence: largest statistic over its alarm threshold; 1 or more: drift.
        causes: what drifted, in words, one each; empty without drift.
    """

    evidence: float
    causes: tuple[str, ...]

    @property
    def is_drifting(self) -> bool:
        """Is there drift?"""
        return bool(self.causes)


def episode_value(total: float, count: int) -> float:
    """Returns what is tested for drift: the mean of an episode's risks, from their sum and number;
    NaN of none.
    """
    # Rounded, so that episodes of one constant score are equal, however long they are.
    return float(f'{total / count:.{_DIGITS}g}') if count else math.nan


def episode_values(episode: RiskEpisode) -> dict[str, float]:
    """Returns the value of each score that the episode has."""
    found = {name: risks[~np.isnan(risks)] for name, risks in episode.risks.items()}
    return {name: episode_value(float(r.sum()), len(r)) for name, r in found.items() if len(r)}


def drift_reference(episodes: Sequence[RiskEpisode]) -> dict[str, list[float]]:
    """Returns the values of each score in all calibration episodes, of both outcomes, sorted."""
    values = [episode_values(each) for each in episodes]
    names = dict.fromkeys(name for each in values for name in each)
    return {name: sorted(each[name] for each in values if name in each) for name in names}


class ConformalBet:
    """Evidence against the exchangeability of one score's values, by conformal test martingales.

    Each new value is ranked among all before it, and bets are placed on extreme ranks, high and
    low: a mixture of power martingales (Vovk et al. 2003). If the values are exchangeable, the
    wealth of the bets ever reaches c with probability of at most 1 / c (Ville). Its restarted form
    (CUSUM, Vovk et al. 2021) sees a late change sooner and reaches c at most once in c episodes on
    average.

    Ranks of equal values are taken as the least extreme ones: so nothing is drawn at random, and
    the statistics lie below those with random ranks, for which the bounds are proved.

    Args:
        reference: values of the calibration episodes, finite.
    """

    def __init__(self, reference: Iterable[float]) -> None:
        self._values = sorted(reference)
        self._wealth = np.zeros((2, len(EXPONENTS)))
        self._restarted = np.full((2, len(EXPONENTS)), -math.inf)

    def update(self, value: float) -> None:
        """Bets on the rank of the value of the next episode."""
        count = len(self._values) + 1
        above = count - bisect_left(self._values, value)
        below = bisect_right(self._values, value) + 1
        insort(self._values, value)
        shares = np.log(np.array([[above], [below]]) / count)
        gain = np.log(EXPONENTS) + (EXPONENTS - 1.0) * shares
        self._wealth += gain
        self._restarted = np.maximum(self._restarted, 0.0) + gain

    @property
    def log_wealth(self) -> float:
        """Natural logarithm of the martingale; 0 at the start."""
        return _log_mean(self._wealth)

    @property
    def direction(self) -> str:
        """The direction in which the bets won most: 'higher' or 'lower'."""
        high, low = map(_log_mean, self._restarted)
        return 'higher' if high >= low else 'lower'

    @property
    def log_cusum(self) -> float:
        """Natural logarithm of its restarted form; -inf before the first value."""
        return _log_mean(self._restarted)


@dataclass
class DriftDetector:
    """Drift of several scores, with a stated rate of false alarms of all of them together.

    Attributes:
        reference: score -> values of the calibration episodes, as of `drift_reference`.
        alpha: probability that the martingales ever give a false alarm, in (0, 1).
        episodes_per_alarm: episodes between two false alarms of the restarted form on average, at
            least; above 1.

    Raises:
        CalibrationError: a score has fewer than LEAST_EPISODES values.
        ValueRangeError: another argument is out of its range.
    """

    reference: Mapping[str, Sequence[float]]
    alpha: float = 0.01
    episodes_per_alarm: float = 1000.0
    _bets: dict[str, ConformalBet] = field(init=False, repr=False)
    _causes: dict[str, str] = field(init=False, repr=False, default_factory=dict)

    def __post_init__(self) -> None:
        if not 0.0 < self.alpha < 1.0 or not 1.0 < self.episodes_per_alarm < math.inf:
            raise ValueRangeError(
                f'alpha is {self.alpha} and episodes_per_alarm {self.episodes_per_alarm}; between '
                '0 and 1, and above 1, are expected'
            )
        few = [name for name, each in self.reference.items() if len(each) < LEAST_EPISODES]
        if few or not self.reference:
            raise CalibrationError(
                f'drift of {", ".join(few) or "no score"} cannot be detected: each score needs '
                f'{LEAST_EPISODES} calibration episodes or more'
            )
        self.reset()

    def reset(self) -> None:
        """Starts over from the calibration episodes."""
        self._bets = {name: ConformalBet(each) for name, each in self.reference.items()}
        self._causes = {}

    def update(self, values: Mapping[str, float]) -> DriftVerdict:
        """Takes an episode, when it has ended. A cause that was found stays until `reset`.

        Args:
            values: score -> its value in the episode, as of `episode_values`; missing ones, NaN
                and scores without a reference are passed over.
        """
        for name, bet in self._bets.items():
            if math.isfinite(value := values.get(name, math.nan)):
                bet.update(value)
                if self._excess(bet) >= 0.0:
                    change = f'is {bet.direction} than in the calibration episodes'
                    self._causes.setdefault(name, f'the risk of {name} {change}')
        return self.verdict

    @property
    def verdict(self) -> DriftVerdict:
        """Returns the judgement of the episodes so far."""
        excesses = [self._excess(bet) for bet in self._bets.values()]
        return DriftVerdict(math.exp(min(max(excesses), 700.0)), tuple(self._causes.values()))

    def _excess(self, bet: ConformalBet) -> float:
        """Returns the logarithm of the larger statistic over its limit."""
        # The scores share the rates by Bonferroni.
        count = len(self._bets)
        return max(
            bet.log_wealth - math.log(count / self.alpha),
            bet.log_cusum - math.log(count * self.episodes_per_alarm),
        )


def _log_mean(logarithms: Array) -> float:
    largest = float(logarithms.max())
    if largest == -math.inf:
        return largest
    return largest + math.log(float(np.exp(logarithms - largest).mean()))
