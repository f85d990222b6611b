# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Options of a calibration."""

from __future__ import annotations

from frame_ros.confidence.calibration import BINS, RESAMPLES
from frame_ros.confidence.recalibration.recalibrator import kinds
from frame_ros.confidence.scores import SCORES
from frame_ros.confidence.thresholds import QUANTILE
from frame_ros.core.options import option, options, rule

FIRST, HORIZON = 'first', 'horizon'
# The confidence as it is.
RAW = 'raw'
# Of `calibration_metrics`, those by which recalibrators are compared.
STATISTICS = ('ece_1', 'ece_2', 'mce', 'brier', 'nll', 'auroc')


@options
class CalibrationOptions:
    """The calibration."""

    samples: str = option(
        HORIZON,
        'moments of an episode that the saved recalibrator is fitted on: its first inference, or '
        'equal steps over its horizon',
        choices=(FIRST, HORIZON),
    )
    recalibrator: str = option(
        '',
        'recalibrator to save; none: the recommended one',
        choices=('', RAW, *(kind.kind for kind in kinds())),
    )
    quantile: float = option(
        QUANTILE, 'share of episodes below a horizon threshold', above=0.0, below=1.0
    )
    alpha: tuple[float, ...] = option(
        (0.05, 0.1, 0.2),
        'false alarms per successful episode of conformal thresholds and bands',
        above=0.0,
        below=1.0,
    )
    alpha_confidence: float = option(
        0.0,
        'confidence with which the very episodes at hand keep alpha, which needs more of them; 0: '
        'they keep it on average',
        at_least=0.0,
        below=1.0,
    )
    per_hour: tuple[float, ...] = option(
        (), 'false alarms per hour of successful episodes, likewise', above=0.0
    )
    together: tuple[str, ...] = option(
        (), 'scores that are to be watched together, and also share each rate'
    )
    folds: int = option(5, 'parts of the cross-validation', at_least=2, at_most=100)
    bins: int = option(
        BINS, 'bins of equal mass of the calibration error', at_least=2, at_most=1000
    )
    resamples: int = option(
        RESAMPLES, 'of the bootstrap over episodes; 0: no intervals', at_least=0, at_most=100_000
    )
    seed: int = option(0, 'of the bootstrap and of the cross-validation', at_least=0)

    @rule('together', 'names of scores, each once, two or more')
    def _are_scores(self) -> bool:
        is_each_once = len(set(self.together)) == len(self.together)
        return is_each_once and len(self.together) != 1 and set(self.together) <= set(SCORES)
