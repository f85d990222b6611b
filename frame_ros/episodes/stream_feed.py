# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Recorded streams into the metric pipeline, block by block."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from frame_ros.bags.streams.form import Stream
from frame_ros.bags.streams.table import pipeline_values
from frame_ros.core.stamps import LONGEST, may_reset
from frame_ros.episodes.metric_pipeline.metric_sample import MetricSample
from frame_ros.episodes.metric_pipeline.pipeline import TICK_STREAMS, MetricPipeline

# Samples are made of the arrays, and metric samples handed on, this often: as objects they take
# many times as much.
BLOCK = 2000


def feed_streams(
    streams: Mapping[str, Stream], pipeline: MetricPipeline, end: int
) -> Iterator[list[MetricSample]]:
    """Feeds streams, role -> Stream, in the order of reception and yields the samples that are due
    behind each block. end: stamp of the first END that the pipeline knows of, ns.
    """
    if not streams:
        return
    settled = _Settled(streams, pipeline, end)
    starts = np.cumsum([0, *map(len, streams.values())])
    received = np.concatenate([stream.received for stream in streams.values()])
    order = np.argsort(received, kind='stable')
    for begin in (0, *range(1, len(order), BLOCK)):
        places = order[begin : begin + BLOCK] if begin else order[:1]
        which = np.searchsorted(starts, places, side='right') - 1
        rows: list[Any] = [None] * len(places)
        for index, (role, stream) in enumerate(streams.items()):
            chosen = np.flatnonzero(which == index)
            if not len(chosen):
                continue
            part = stream.select(places[chosen] - starts[index])
            settled.take(role, part)
            samples = zip(part.stamps.tolist(), pipeline_values(role, part), strict=True)
            for place, (stamp, value) in zip(chosen.tolist(), samples):
                rows[place] = role, stamp, value
        for (role, stamp, value), arrival in zip(rows, received[places].tolist()):
            # Without receive times a bag has no information on arrivals.
            pipeline.feed(role, stamp, value, arrival if arrival > 0 else None)
        # What is left of the last block is for the pipeline to finish: nothing lags at the end.
        if not begin or len(places) == BLOCK:
            yield pipeline.advance(settled=settled.stamp)


class _Settled:
    """The stamp before which no control tick or inference is still to come, so that those that
    are held need not be all kept until the end of the bag. A summary has the counts of the whole
    bag: what is behind an END waits for its end.
    """

    def __init__(self, streams: Mapping[str, Stream], pipeline: MetricPipeline, end: int) -> None:
        self._end = end
        self._is_known = not any(
            _may_reset(stream, pipeline.newest.get(role, (0,))[0])
            for role, stream in streams.items()
        )
        ticks = {role: stream for role, stream in streams.items() if role in TICK_STREAMS}
        self._left = {role: len(stream) for role, stream in ticks.items()}
        # Those still to come are behind the newest: the pipeline drops all others.
        self._newest = {role: _first(stream.stamps) for role, stream in ticks.items()}

    def take(self, role: str, part: Stream) -> None:
        """Notes the next samples of a stream."""
        if role in self._left:
            self._left[role] -= len(part)
            self._newest[role] = max(self._newest[role], int(part.stamps.max()))

    @property
    def stamp(self) -> int:
        """It, in ns; 0: it is not known."""
        waited = [newest for role, newest in self._newest.items() if self._left[role]]
        return min(self._end, *waited, LONGEST) if self._is_known else 0


def _may_reset(stream: Stream, known: int) -> bool:
    """known: stamp of a sample from before the stream; 0: there is none."""
    arrivals = np.where(stream.received > 0, stream.received, stream.stamps)
    order = np.argsort(stream.received, kind='stable')
    stamps = np.append(known, stream.stamps[order])
    return may_reset(stamps, np.append(known, arrivals[order]))


def _first(stamps: NDArray[np.int64]) -> int:
    """Returns the smallest of the stamps that are set, LONGEST without any."""
    return int(stamps.min(where=stamps > 0, initial=LONGEST))
