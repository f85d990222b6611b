# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""What a reader should know before trusting an episode's numbers, gathered once for page and
JSON.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from frame_ros.episodes.data import Episode
from frame_ros.episodes.reading import NO_MESSAGES
from frame_ros.reports.numbers import counted, readable
from frame_ros.reports.parity import EpisodeParity, compare_live, field_problems
from frame_ros.reports.rates import RateRow, stream_rates
from frame_ros.reports.source import open_bag
from frame_ros.reports.topic_faults import TopicFaults, topic_faults


@dataclass(frozen=True)
class EpisodeCheck:
    """counts: all counters of the data quality, of streams by role and of topics by name. warnings:
    problems, counters above zero, topics that stopped and lagging steps, in words.
    """

    parity: EpisodeParity = field(default_factory=EpisodeParity)
    rates: list[RateRow] = field(default_factory=list)
    faults: TopicFaults = field(default_factory=TopicFaults)
    counts: dict[str, int] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)


def check_episode(episode: Episode) -> EpisodeCheck:
    """Compares live with bag, and looks at the stamps of every topic of the bag."""
    bag, parity = open_bag(episode), compare_live(episode)
    faults = topic_faults(episode, bag)
    counts = {**{name: int(n) for name, n in episode.data_quality.items()}, **faults.counts}
    problems = problems_of(episode)
    warnings = [*problems, *stop_texts(faults)]
    if episode.is_truncated:
        warnings.insert(
            0, 'the bag is truncated: it was cut before its end; values cover what was saved'
        )
    if parity.lagging_steps:
        warnings.append(
            f'at {parity.lagging_steps:,} of {counted(parity.steps, "step")} a stream came too '
            'late to be used live'
        )
    warnings += [f'{name}: {count:,}' for name, count in counts.items() if count]
    return EpisodeCheck(parity, stream_rates(episode, bag), faults, counts, problems, warnings)


def stop_texts(faults: TopicFaults) -> list[str]:
    """'front/image_raw stopped 6.8 s before the end', per topic that did."""
    return [
        f'{topic} stopped {readable(silence, 2)} s before the end'
        for topic, silence in faults.stopped.items()
    ]


def problems_of(episode: Episode) -> list[str]:
    """Returns the episode's problems and those of its live topics' fields, each once."""
    fields = (text for kind in episode.live for text in field_problems(episode, kind))
    return list(dict.fromkeys([*map(str, episode.problems), *fields]))


def has_data(episode: Episode) -> bool:
    """Whether there is an episode at all: the bag behind it was read and held messages."""
    was_read = bool(episode.metrics or episode.streams or episode.live or episode.events)
    return was_read and NO_MESSAGES not in episode.problems


def without_data(episodes: Iterable[Episode]) -> list[tuple[str, str]]:
    """(name of the bag, why) of those that could not be read or held no messages."""
    return [(e.path.name, _why(e)) for e in episodes if not has_data(e)]


def unread_text(unread: list[tuple[str, str]]) -> str:
    """'1 bag could not be read: cut_1 (...).'; '' if all could."""
    if not unread:
        return ''
    named = '; '.join(f'{name} ({reason})' for name, reason in unread)
    return f'{counted(len(unread), "bag")} could not be read: {named}.'


def _why(episode: Episode) -> str:
    if NO_MESSAGES in episode.problems:
        return NO_MESSAGES
    return str(episode.problems[0]) if episode.problems else 'it holds nothing'
