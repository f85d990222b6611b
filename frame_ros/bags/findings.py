# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Findings on an episode's data: doubtful numbers, things worth knowing, mere counts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import IntEnum

# Share of a stream's samples that may be lost before its numbers are doubtful.
MOST_LOST = 0.01
# Share of an episode that pauses of a stream may take before they are.
MOST_PAUSED = 0.1

# The counted events of a counter `stream.what`.
MEANINGS = {
    'gap': 'pauses of the stream',
    'late': 'samples that came after later ones had been used',
    'backward': 'samples stamped before the one used last, not used',
    'duplicate': 'samples with the stamp of the one before, not used',
    'zero': 'samples without a stamp, not used',
    'invalid': 'samples without a usable value',
    'jump': 'samples stamped far ahead of the one before, not used',
    'reset': 'times the clock was set to another time',
    'ahead': 'samples stamped ahead of their arrival',
    'unavailable': 'steps without a value',
    'wrong_frame': 'samples in another frame, not used',
    'repeated': 'steps that share their sample with the step before',
    'vocabulary_changed': 'times the number of classes changed',
    'calibration_refused': 'inferences of a setup that the calibration file does not hold for',
    'waiting': 'messages with some of the joints, used once the others had come',
    'unknown_joints_only': 'messages of other joints only',
    'incomplete': 'messages that came before every joint had been seen',
    'stale': 'messages that gave no pose because another joint had been silent for too long',
    'interpolated': 'poses of which a part of the joints lies between two messages',
    'held': 'poses for which the last message of an infrequent part was taken',
}
# Of one topic with several publishers: used elsewhere, so nothing is lost.
SHARED = ('waiting', 'unknown_joints_only', 'interpolated', 'held')


class Level(IntEnum):
    """Importance of a finding."""

    DOUBTFUL = 1
    WORTH_KNOWING = 2
    COUNTING = 3


LEVEL_WORDS = {
    Level.DOUBTFUL: 'doubtful',
    Level.WORTH_KNOWING: 'worth knowing',
    Level.COUNTING: 'counting',
}


@dataclass(frozen=True)
class Finding:
    """One finding. about: the stream, topic or counter it concerns; '' for the whole episode."""

    level: Level
    text: str
    about: str = ''


class Note(str):
    """A text among the problems of a bag or an episode that makes no number doubtful."""


def finding_of(problem: str) -> Finding:
    """Returns the finding of a problem in words: doubtful, unless it is a `Note`."""
    level = Level.WORTH_KNOWING if isinstance(problem, Note) else Level.DOUBTFUL
    return Finding(level, str(problem))


def of_level(findings: Iterable[Finding], level: Level) -> list[Finding]:
    """Returns the findings of one level, in their order."""
    return [finding for finding in findings if finding.level is level]


def level_of_count(name: str, count: int, samples: int) -> Level:
    """Returns the level of a counter `stream.what` of a stream that a metric is computed from.

    Args:
        name: the counter's, as from `MetricPipeline.data_quality`.
        count: its value.
        samples: other samples of the stream.
    """
    stream, _, what = name.rpartition('.')
    if what in ('duplicate', 'repeated'):
        return Level.COUNTING  # the same sample again takes nothing away
    if what in SHARED and samples:
        return Level.COUNTING  # arm and gripper may share a topic and take turns on it
    if what in ('gap', 'late', 'ahead', 'vocabulary_changed'):
        return Level.WORTH_KNOWING  # how long a gap was, the counter does not say
    share = MOST_PAUSED if what == 'unavailable' else MOST_LOST
    is_much = what == 'reset' or stream == 'event' or count > share * (samples + count)
    return Level.DOUBTFUL if is_much else Level.WORTH_KNOWING


def findings_of_counts(counts: Mapping[str, int], samples: Mapping[str, int]) -> list[Finding]:
    """Returns findings of counters above zero of the streams that metrics are computed from.

    samples: stream -> how many samples it has.
    """
    found = []
    for name, count in counts.items():
        if count:
            level = level_of_count(name, count, samples.get(name.rpartition('.')[0], 0))
            found.append(Finding(level, count_text(name, count), name))
    return found


def count_text(name: str, count: int) -> str:
    """Returns a counter as text: 'pose.zero: 12 (samples without a stamp, not used)'."""
    meaning = MEANINGS.get(name.rpartition('.')[2], '')
    return f'{name}: {count:,}' + (f' ({meaning})' if meaning else '')
