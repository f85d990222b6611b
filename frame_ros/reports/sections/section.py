# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""A section of a report: one part of the model, shown in the page and written to the JSON."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from frame_ros.bags.reader import Bag
from frame_ros.core.time import SECOND
from frame_ros.episodes.episode import Episode
from frame_ros.episodes.episode_errors import EpisodeErrors
from frame_ros.reports.model.metric_table import MetricRow
from frame_ros.reports.model.options import ReportOptions


class Section:
    """One section. A fragment of HTML sees it as `part`, and shows its attributes.

    Attributes:
        key: its key in the JSON; the fragment is the file `<key>.html` in the folder of its module.
        template: the fragment itself, in Jinja's language, of a section that has no such file.
        is_shown: whether the page has it.
        most_rows: that a table of the page shows; the JSON has all.
    """

    key = ''
    template = ''
    is_shown = True
    most_rows = 200

    @property
    def data(self) -> Any:
        """The JSON value under `key`: dicts, lists, texts and numbers in SI; NaN and infinity
        become null.
        """
        raise NotImplementedError


class EpisodeSection(Section):
    """A section about one episode.

    bag: the episode's, None if it cannot be read; it must not be kept, as there may be more bags
    than a process can hold open.
    """

    def __init__(self, episode: Episode, bag: Bag | None) -> None:
        self.episode = episode


@dataclass(frozen=True)
class Basis:
    """Content that the sections about all episodes are built from. rows: see `metric_rows`. errors:
    of each episode against its references.
    """

    episodes: Sequence[Episode]
    rows: Sequence[MetricRow]
    errors: Sequence[EpisodeErrors]
    options: ReportOptions


class ReportSection(Section):
    """A section about all episodes of a report."""

    def __init__(self, basis: Basis) -> None:
        self.basis = basis


def as_row(record: Any, start: int, *names: str) -> dict[str, Any]:
    """Returns attributes of a record by name; stamps (begin, end) in s since `start`, ns."""
    values = {name: getattr(record, name) for name in names}
    return {
        name: (value - start) / SECOND if name in ('begin', 'end') else value
        for name, value in values.items()
    }
