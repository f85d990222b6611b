# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The source of the operations of episodes: events, a detector, a review."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from frame_ros.core.errors import SetupError, ValueRangeError
from frame_ros.core.input_files import read_bytes
from frame_ros.episodes.episode import Episode
from frame_ros.evaluation.operations.episode_operations import EpisodeOperations
from frame_ros.evaluation.operations.label_streams import label_streams
from frame_ros.evaluation.operations.options import OperationOptions
from frame_ros.evaluation.operations.review import ReviewedEpisode, read_review
from frame_ros.evaluation.operations.zones import Zone, read_zones

EVENTS, DETECTED = 'events', 'detected'


@dataclass(frozen=True)
class LabelChoice:
    """Labels that take precedence over the events.

    Attributes:
        is_detected: the detector's do, where it can run.
        zones: of the detector.
        reviewed: name of a bag and of an episode -> its review, which takes precedence over both.
        digest: of the files behind them.
    """

    is_detected: bool = False
    zones: tuple[Zone, ...] = ()
    reviewed: Mapping[tuple[str, str], ReviewedEpisode] = field(default_factory=dict)
    digest: str = ''

    def operations(
        self, episode: Episode, options: OperationOptions
    ) -> tuple[EpisodeOperations | None, str]:
        """Returns the operations of an episode that replace those of its events, if any, and '' or
        the reason that there is none.
        """
        if not self.is_detected and not self.reviewed:
            return None, ''
        streams = label_streams(episode, self.reviewed, self.zones, options)
        if streams.reviewed is not None:
            return streams.reviewed, ''
        if not self.is_detected:
            return None, ''
        problem = streams.detection.problem
        return streams.automatic, f'its events count, not the detector: {problem}' * bool(problem)

    def check(self, path: str, known: Iterable[tuple[str, str]]) -> None:
        """Raises ValueRangeError if the review, of the file `path`, names an episode that is not
        among the known ones.
        """
        names = set(known)
        for (bag, episode), each in self.reviewed.items():
            if (bag, episode) not in names:
                raise ValueRangeError(
                    f'{path}, line {each.lines[0]}: no episode {episode!r} in a bag {bag!r} was '
                    'read; name the bags that were reviewed'
                )


def read_label_choice(labels: str, zones: str, reviewed: str) -> LabelChoice:
    """Returns the choice.

    Args:
        labels: 'events' or 'detected'.
        zones: YAML file, or ''.
        reviewed: CSV file of `frame-ros operations --review`, edited, or ''.

    Raises:
        SetupError: a file cannot be read.
        ValueRangeError: a line of the review is wrong.
    """
    return LabelChoice(
        labels == DETECTED,
        read_zones(zones) if zones else (),
        read_review(reviewed) if reviewed else {},
        ' '.join(_digest(file) for file in (zones, reviewed)),
    )


def _digest(file: str) -> str:
    if not file:
        return '-'
    try:
        return hashlib.sha256(read_bytes(Path(file).expanduser())).hexdigest()
    except OSError as error:
        raise SetupError(f'{file} cannot be read: {error}') from error
