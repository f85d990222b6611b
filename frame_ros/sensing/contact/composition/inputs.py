# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Streams of the contact sensors: judged by their stamps, put in the order of time."""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from frame_ros.core.stamps import StampGuard, Verdict
from frame_ros.core.time import SECOND
from frame_ros.sensing.contact.trusted_inputs import TrustedInputs

MOST_AT_ONCE = 1000
COMES = 0.8  # of the age at which a source is silent: a younger message is of a stream that comes
NOBODY = b''  # who published, where that is not known


class Sample(NamedTuple):
    """stamp: ns. stream: its name. value: as the stream's reader gives it."""

    stamp: int
    stream: str
    value: Any


class Messages(Protocol):
    """The messages of one topic, read from their bytes, as a subscription or a recording has
    them.
    """

    @property
    def topic_name(self) -> str: ...

    @property
    def received(self) -> int: ...

    @property
    def unreadable(self) -> int: ...

    def take(self, max_count: int) -> Sequence[tuple[Any, Mapping[str, Any]]]:
        """Returns what has arrived, oldest first: anything with a `stamp` in ns, or None if there
        is nothing in it; and received_timestamp, ns, and where it is known the publisher.
        """
        ...

    def silence(self) -> str:
        """Returns why nothing may be arriving, in words."""
        ...


class SensorStream:
    """One topic, without messages whose stamps cannot be used.

    is_reset: the clock was reset; to be cleared by the caller. problem: what was last dropped
    and why; '' if nothing was.
    """

    def __init__(
        self,
        name: str,
        subscription: Messages,
        trusted: TrustedInputs | None = None,
        publisher: Callable[[str, bytes], Hashable] | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """trusted: is given each message as it arrives; None: nothing is. publisher: names that of
        a topic by its identity; None: it is not known. clock: s.
        """
        self.name, self.subscription, self._trusted = name, subscription, trusted
        self._publisher, self._clock = publisher, clock
        self._guard = StampGuard()
        self.used = self._unreadable = 0
        self.is_reset = False
        self.problem = self._reported = ''
        self.heard = -1.0  # by the clock, when the last usable message was taken

    @property
    def received(self) -> int:
        """Messages that have come."""
        return self.subscription.received

    @property
    def unreadable(self) -> int:
        """Of those, how many are damaged or of a kind that its reader does not take."""
        return self.subscription.unreadable + self._unreadable

    def take(self) -> list[Sample]:
        """Returns the usable samples that have arrived, in order."""
        samples: list[Sample] = []
        for value, info in self.subscription.take(MOST_AT_ONCE):
            if value is None:
                self._unreadable += 1
                self.problem = f'a message on {self.subscription.topic_name} cannot be read'
                continue
            arrival = info.get('received_timestamp', 0)
            if self._trusted is not None and arrival:
                self._announce(value, arrival, info.get('publisher', NOBODY))
            verdict = self._judge(value.stamp, arrival)
            if verdict is Verdict.RESET:
                self.is_reset = True
                samples.clear()  # they are of the time before
            if verdict is not Verdict.DROP:
                samples.append(Sample(value.stamp, self.name, value))
        if samples:
            self.used += len(samples)
            self.heard = self._clock()
        return samples

    def _announce(self, value: Any, arrival: int, gid: bytes) -> None:
        assert self._trusted is not None
        self._trusted.arrived(self.name, value.stamp, arrival)
        if gid != NOBODY and self._publisher is not None:
            publisher = self._publisher(self.subscription.topic_name, gid)
            self._trusted.published(self.name, publisher, arrival, value)

    def _judge(self, stamp: int, arrival: int) -> Verdict:
        last = self._guard.last
        verdict = self._guard.check(stamp, arrival)
        if verdict is not Verdict.DROP:
            return verdict
        kind = 'without header.stamp, the time of measurement' if stamp <= 0 else (
            f'{(stamp - (last or 0)) / SECOND:+.6f} s after the last'
        )  # fmt: skip
        self.problem = f'dropped: a message on {self.subscription.topic_name} {kind}'
        return verdict

    def new_problem(self) -> str:
        """Returns `problem`, if it was not returned before."""
        found = '' if self.problem is self._reported else self.problem
        self._reported = self.problem
        return found

    def age(self, now: float) -> float:
        """s since the last usable message; infinite before the first. now: by the clock."""
        return now - self.heard if self.heard >= 0 else float('inf')

    def counts(self) -> dict[str, int]:
        """Messages by what became of them."""
        stamps = {f'stamp_{kind}': count for kind, count in self._guard.counts.items()}
        return {
            'received': self.received, 'used': self.used, 'unreadable': self.unreadable, **stamps
        }  # fmt: skip


def in_order(batches: list[list[Sample]]) -> list[Sample]:
    """The samples of several streams by their stamps; of equal ones, those of earlier batches
    first.
    """
    filled = [batch for batch in batches if batch]
    if len(filled) < 2:
        return filled[0] if filled else []
    return sorted((s for batch in filled for s in batch), key=lambda sample: sample.stamp)


class Waiting:
    """Keeps samples back that are newer than the newest of one stream, until that has caught up:
    what is judged with joint states waits for those of its time.
    """

    def __init__(self, streams: Iterable[str], leader: str, patience: float) -> None:
        """streams: names, in the order in which samples of one stamp are handled. leader: name of
        that stream. patience: s that a sample waits, at most; 0: none does.
        """
        self._order = {name: place for place, name in enumerate(streams)}
        self._leader, self._patience = leader, patience
        self.reset()

    def reset(self) -> None:
        """Forgets what waits."""
        self._newest = -1
        self._samples: list[tuple[Sample, float]] = []  # and when it came, s

    def take(self, samples: list[Sample], now: float) -> list[Sample]:
        """Returns what may be judged now, in the order of time, and of streams where stamps are
        equal.

        samples: new ones, in that order. now: s.
        """
        if not self._patience:
            return samples
        led = [sample.stamp for sample in samples if sample.stream == self._leader]
        self._newest = max([self._newest, *led])
        waiting = [*self._samples, *((sample, now) for sample in samples)]
        # What has waited for a joint state of its very stamp is handled behind it.
        waiting.sort(key=lambda pair: (pair[0].stamp, self._order[pair[0].stream]))
        ready = 0
        for row, (sample, since) in enumerate(waiting, start=1):
            if sample.stamp <= self._newest or now - since >= self._patience:
                ready = row
        self._samples = waiting[ready:]
        return [sample for sample, _ in waiting[:ready]]

    def rest(self) -> list[Sample]:
        """All that still waits, in the same order; nothing does after."""
        samples, self._samples = self._samples, []
        return [sample for sample, _ in samples]


def silence_of(
    streams: Sequence[SensorStream], age: float, now: float, most: float, unused: str
) -> str:
    """Returns why one source says nothing, in words.

    Args:
        streams: of the source.
        age: s for which it has said nothing.
        now: s, by the clock of the streams.
        most: s, the age at which it is silent.
        unused: why what comes is no use.
    """
    topics = ' or '.join(stream.subscription.topic_name for stream in streams)
    # The newest message of a stream that pauses may be one that was not judged any more.
    if min(stream.age(now) for stream in streams) <= COMES * most:
        return f'{topics} comes, but without contact: {unused}'
    why = '; '.join(filter(None, (stream.subscription.silence() for stream in streams)))
    if not why and streams[0].received and not streams[0].used:
        why = streams[0].problem
    since = f'nothing on {topics}' + (f' for {age:.2f} s' if age < float('inf') else ' yet')
    return f'{since}: {why}' if why else since
