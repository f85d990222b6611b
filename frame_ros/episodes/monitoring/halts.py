# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Halts that a monitor recommended in an episode, and how long before its end."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from frame_ros.bags.reader import Bag
from frame_ros.confidence.monitor import Level
from frame_ros.core.errors import BagError
from frame_ros.core.events import EventType, Outcome
from frame_ros.core.time import SECOND
from frame_ros.episodes.bounds import bounds_of
from frame_ros.episodes.episode import Episode
from frame_ros.episodes.monitoring.replay import RecordedState, ReplayedEpisode, replay_monitor
from frame_ros.episodes.sensed_contacts import namespace_of

# A verdict holds for so long at most, ns: then the monitor was silent.
LONGEST = SECOND


@dataclass(frozen=True)
class Stretch:
    """A stretch [begin, end) (ns) in which the monitor's verdict was of one level.

    Attributes:
        causes: all that were given, in the order in which they came.
        text: the reasons at its begin.
    """

    begin: int
    end: int
    level: Level
    causes: tuple[str, ...] = ()
    text: str = ''

    @property
    def duration(self) -> float:
        """s."""
        return (self.end - self.begin) / SECOND


@dataclass(frozen=True)
class EpisodeHalts:
    """The verdicts of a monitor in one episode.

    Attributes:
        begin, end: of the episode, ns.
        failed: ns, when a failure was certain: the FAILURE event, or else the end of an episode
            that failed; 0: it did not fail.
        verdicts: number of verdicts.
        stretches: by time, the ends of each at the next one's begin at the latest.
        replayed: the same verdicts computed again.
    """

    begin: int
    end: int
    failed: int
    verdicts: int
    stretches: tuple[Stretch, ...]
    replayed: ReplayedEpisode

    @property
    def halts(self) -> tuple[Stretch, ...]:
        """The stretches in which a halt was recommended."""
        return tuple(each for each in self.stretches if each.level is Level.HALT)

    @property
    def lead(self) -> float:
        """Time from the first halt to the failure, s; NaN without either, or if it came later."""
        if not self.failed or not self.halts or self.halts[0].begin > self.failed:
            return math.nan
        return (self.failed - self.halts[0].begin) / SECOND

    def seconds(self, level: Level) -> float:
        """Time of a level in all, s."""
        return float(sum(each.duration for each in self.stretches if each.level is level))


def halts_of(episode: Episode, bag: Bag | None) -> EpisodeHalts | None:
    """Returns the verdicts of an episode; None if the bag has none. One that cannot be read is in
    the episode's problems.
    """
    if bag is None:
        return None
    namespace = namespace_of(episode)
    try:
        found = replay_monitor(bag, namespace, episode.episode_id, episode.events)
    except BagError as error:
        if str(error) not in episode.problems:
            episode.problems.append(str(error))
        return None
    if found is None:
        return None
    states, replayed = found
    begin, end = bounds_of(episode)
    return EpisodeHalts(
        begin, end, _failed(episode, end), len(states), tuple(stretches(states, end)), replayed
    )


def _failed(episode: Episode, end: int) -> int:
    events = [event.stamp for event in episode.events if event.type is EventType.FAILURE]
    return min(events, default=end if episode.outcome is Outcome.FAILURE else 0)


def stretches(states: Sequence[RecordedState], end: int) -> list[Stretch]:
    """Returns the stretches of equal levels, by time. end: of the episode, ns."""
    found: list[Stretch] = []
    for state, following in zip(states, [*(s.stamp for s in states[1:]), end]):
        until = max(min(following, state.stamp + LONGEST), state.stamp)
        level, last = Level(state.level), found[-1] if found else None
        if last is not None and last.level is level and last.end == state.stamp:
            causes = tuple(dict.fromkeys((*last.causes, *state.causes)))
            found[-1] = Stretch(last.begin, until, level, causes, last.text)
        else:
            text = '; '.join(state.reasons)
            found.append(Stretch(state.stamp, until, level, state.causes, text))
    return found
