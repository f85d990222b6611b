# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The events and the stamps of a bag that belong to each of its episodes."""

from __future__ import annotations

from dataclasses import dataclass, field

from frame_ros.bags.findings import Note
from frame_ros.core.events import Event, EventType

BOUNDS = (EventType.START, EventType.END)
NO_START = 'no START event: the whole bag is taken as one episode'
NO_END = 'no END event: the end of the data is taken as its end'


@dataclass
class Part:
    """One episode's share of a bag."""

    recorded_id: str  # its name in START, or else END; may be empty
    events: list[Event]  # its own, by stamp
    episode_id: str = ''  # its name, never empty, and unique in the bag
    begin: int | None = None  # the stamps [begin, end) of its samples, ns; None: no bound
    end: int | None = None  # the stamps [begin, end) of its samples, ns; None: no bound
    problems: list[str] = field(default_factory=list)

    @property
    def start(self) -> Event | None:
        """Its START."""
        return next((e for e in self.events if e.type is EventType.START), None)

    @property
    def finish(self) -> Event | None:
        """Its first END."""
        return next((e for e in self.events if e.type is EventType.END), None)


def divide(events: list[Event], known: str, name: str) -> list[Part]:
    """Returns the episodes of a bag, at least one, in the order of their STARTs.

    Each START begins an episode, whatever its name. Other events go to the last episode of their id
    that had begun, those without id to the last that had begun.

    Args:
        events: all of the bag, by stamp.
        known: id of the episode that the recorder made the bag for, or ''. Only that one is
            returned, if it is there.
        name: the bag's, for episodes without id.
    """
    events = _each_once(events)
    parts = [Part(e.episode_id, [e]) for e in events if e.type is EventType.START]
    if not parts:
        return [_whole(events, known, name)]
    strays = [e for e in events if e.type is not EventType.START and not _place(e, parts)]
    chosen = [part for part in parts if known and part.recorded_id == known] or parts
    if not known:
        ends = {e.episode_id for e in strays if e.type is EventType.END}
        chosen[0].problems += [f'END of {end!r} without its START: left out' for end in ends]
    _bound(chosen)
    _name(chosen, known or name)
    return chosen


def _each_once(events: list[Event]) -> list[Event]:
    """Removes repeated START and END: equal id and stamp mean the same event, sent again."""
    seen: set[tuple[int, EventType, str]] = set()
    kept = []
    for event in events:
        key = (event.stamp, event.type, event.episode_id)
        if event.type not in BOUNDS or key not in seen:
            kept.append(event)
        seen.add(key)
    return kept


def _place(event: Event, parts: list[Part]) -> bool:
    """Gives an event to its part; returns False if it has none."""
    begun = [part for part in parts if part.events[0].stamp <= event.stamp]
    if not event.episode_id:
        candidates = begun
    else:
        candidates = [part for part in begun if part.recorded_id == event.episode_id]
        # One announced ahead of its START also belongs to that episode.
        candidates = candidates or [p for p in parts if p.recorded_id == event.episode_id][:1]
        candidates = candidates or [part for part in begun[-1:] if not part.recorded_id]
    if not candidates:
        return False
    part = candidates[-1]
    part.events.append(event)
    if event.type is EventType.END and not part.recorded_id:
        part.recorded_id = event.episode_id
    return True


def _bound(parts: list[Part]) -> None:
    for part, following in zip(parts, parts[1:]):
        start, finish = following.events[0].stamp, part.finish
        part.end = start
        # Events recorded before a START, but after the previous END, lead to that START.
        following.begin = start if finish is None else min(finish.stamp + 1, start)
    for part in parts:
        part.events.sort(key=lambda event: event.stamp)
        if part.finish is None:
            part.problems.append(NO_END)


def _name(parts: list[Part], fallback: str) -> None:
    recorded = {part.recorded_id for part in parts}
    used: set[str] = set()
    for part in parts:
        wanted = part.recorded_id or fallback
        name, number = wanted, 1
        while name in used or (name in recorded and name != part.recorded_id):
            number += 1
            name = f'{wanted}_{number}'
        used.add(name)
        part.episode_id = name
        if not part.recorded_id:
            part.problems.append(Note(f'its START names no episode: it is called {name} here'))
        elif name != part.recorded_id:
            text = (
                f'several episodes of the bag are called {wanted}: this one is called {name} here'
            )
            part.problems.append(Note(text))


def _whole(events: list[Event], known: str, name: str) -> Part:
    """Returns the whole bag as one episode, named by its last END."""
    ids = {event.episode_id for event in events if event.episode_id}
    ends = [e for e in events if e.type is EventType.END]
    ends = [e for e in ends if not known or e.episode_id in ('', known)]
    recorded = ends[-1].episode_id if ends else ''
    if not recorded and not known and len(ids) == 1:
        (recorded,) = ids
    episode_id = recorded or known or name
    own = [e for e in events if e.type is not EventType.END and e.episode_id in ('', episode_id)]
    part = Part(recorded, own + ends[-1:], episode_id, problems=[NO_START])
    part.events.sort(key=lambda event: event.stamp)
    if len(ends) > 1:
        part.problems.append(f'{len(ends)} END events without START: the last is taken')
    return part
