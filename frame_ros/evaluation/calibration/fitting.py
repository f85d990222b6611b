# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The calibration file of a study."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timezone

import attrs

from frame_ros.confidence.calibration_file import CalibrationFile
from frame_ros.confidence.calibration_parts import CalibrationEpisode, Provenance
from frame_ros.confidence.fingerprint import PARTS, Fingerprint
from frame_ros.confidence.guarantees.drift import drift_reference
from frame_ros.confidence.recalibration.recalibrator import Recalibrator, kinds
from frame_ros.confidence.score_episode import ScoreEpisode
from frame_ros.core.errors import CalibrationError
from frame_ros.core.time import SECOND
from frame_ros.core.version import package_version
from frame_ros.evaluation.calibration.calibration_set import CalibrationSet
from frame_ros.evaluation.calibration.comparison import samples_of
from frame_ros.evaluation.calibration.study import CONFIDENCE, CalibrationStudy
from frame_ros.evaluation.calibration.thresholds import risk_episode

# Stamps below this are of a simulation's clock, and no date, ns.
FIRST_DATE = 10**17


def fitted_file(found: CalibrationStudy) -> CalibrationFile:
    """Returns the calibration file of a study: all that could be fitted.

    Raises:
        CalibrationError: the recalibrator that the options name cannot be fitted, or the episodes
            are of different setups.
    """
    given = found.given
    return CalibrationFile(
        recalibrator=saved_recalibrator(found),
        statistics=found.statistics,
        horizon_thresholds=found.thresholds.horizon,
        guarantees=found.thresholds.guarantees,  # type: ignore[arg-type]
        expected_duration=found.expected_duration,
        longest_duration=found.longest_duration,
        features=found.features,
        combination=found.combination,
        drift=_drift(given.episodes),
        provenance=_provenance(given),
        fingerprint=common_fingerprint(given.episodes),
    )


def saved_recalibrator(found: CalibrationStudy) -> Recalibrator | None:
    """Returns the recalibrator to save, fitted on all episodes; None: the raw confidence.

    Raises:
        CalibrationError: the one that the options name cannot be fitted.
    """
    kind = next((each for each in kinds() if each.kind == found.saved_kind), None)
    if kind is None:
        return None
    having = found.given.with_score(CONFIDENCE)
    if not len(having):
        raise CalibrationError(
            f'{kind.kind} cannot be fitted: no episode has a confidence; leave the option '
            'recalibrator out for thresholds alone'
        )
    samples = samples_of(having, CONFIDENCE, found.options.samples)
    try:
        return samples.inputs.fit(kind, samples.outcomes)
    except CalibrationError as error:
        raise CalibrationError(f'{kind.kind} cannot be fitted: {error}') from error


def _drift(episodes: Sequence[ScoreEpisode]) -> dict[str, list[float]]:
    return drift_reference([risk_episode(each) for each in episodes])


def _provenance(given: CalibrationSet) -> Provenance:
    facts = [each.attributes for each in given.episodes]
    newest = max(each.begin for each in given.episodes)
    is_date = newest >= FIRST_DATE
    date = datetime.fromtimestamp(newest / SECOND, timezone.utc)
    return Provenance(
        episodes=tuple(
            CalibrationEpisode(name=each.name, sha256=each.data_hash) for each in given.episodes
        ),
        policy=', '.join(sorted({each['policy'] for each in facts if each.get('policy')})),
        package_version=package_version(),
        newest=date.isoformat(timespec='seconds') if is_date else '',
        successes=given.successes,
        failures=given.failures,
    )


def common_fingerprint(episodes: Sequence[ScoreEpisode]) -> Fingerprint:
    """Returns the setup of all episodes; their instructions may differ.

    Raises:
        CalibrationError: they are of different setups; the message names the parts.
    """
    # Of the parts that some episodes do not show, those count that show them.
    known = episodes[0].fingerprint
    for number, each in enumerate(episodes):
        own = attrs.evolve(each.fingerprint, instructions=known.instructions)
        if differing := known.mismatches(own):
            parts = ', '.join(text.partition(':')[0] for text in differing)
            raise CalibrationError(
                f'{_other(episodes[:number], own).name} and {each.name} are of different setups '
                f'({parts}: '
                f'{differing[0].partition(": ")[2].replace("the calibration holds for ", "")}); '
                'calibrate the episodes of each on their own'
            )
        lacking = {part: getattr(own, part) for part in PARTS if not known.knows(part)}
        known = attrs.evolve(known, **lacking)
    instructions = sorted({text for each in episodes for text in each.fingerprint.instructions})
    return attrs.evolve(known, instructions=tuple(instructions))


def _other(episodes: Sequence[ScoreEpisode], setup: Fingerprint) -> ScoreEpisode:
    """Returns the first episode of another setup."""
    return next(
        each
        for each in episodes
        if attrs.evolve(each.fingerprint, instructions=()).mismatches(setup)
    )
