# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The metrics of a message that are fed one by one, through their streaming classes."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any

from frame_ros.episodes.metric_pipeline.options import PipelineOptions
from frame_ros.metrics.constants import NAN
from frame_ros.metrics.message_fields import metrics_of
from frame_ros.metrics.record import Live, Metric


class LiveMetrics:
    """The metrics of one kind of message whose record says how they are fed, and that no class of
    the engine computes together with others.

    streams: those that they take samples of. fields: of the message, in the order of `values`.
    """

    def __init__(self, kind: str, config: PipelineOptions | None = None) -> None:
        self._entries: list[tuple[Metric, str, Any]] = []
        self._feeds: dict[str, list[tuple[Callable[..., None], Any]]] = {}
        for entry in metrics_of(kind, Live):
            live = entry.live
            assert live is not None and entry.streaming is not None
            made = live.make(config or PipelineOptions()) if live.make else entry.streaming()
            self._entries.append((entry, live.stream, made))
            self._feeds.setdefault(live.stream, []).append((live.feed, made))
        self._is_plain = not any(entry.has_three_forms for entry, _, _ in self._entries)
        self.streams = frozenset(self._feeds)
        self.fields = tuple(field for entry, _, _ in self._entries for field in entry.fields)

    def reset(self) -> None:
        """Starts a new episode."""
        for _, _, metric in self._entries:
            metric.reset()

    def reset_differences(self, stream: str) -> None:
        """After a gap in a stream: no difference of its samples spans it."""
        for _, metric in self._feeds.get(stream, ()):
            if hasattr(metric, 'reset_differences'):
                metric.reset_differences()

    def update(self, stream: str, *sample: Any) -> None:
        """Takes one sample of a stream, as `Live` describes it."""
        for feed, metric in self._feeds.get(stream, ()):
            feed(metric, *sample)

    def values(self, missing: Collection[str] = (), late: Collection[str] = ()) -> tuple:
        """Returns the values of the fields of these metrics.

        Args:
            missing: streams without a sample at this step: what holds for a moment is NaN.
            late: streams of which samples may be still to come: all that is of them is NaN.
        """
        if self._is_plain and not missing and not late:
            return tuple([metric.value for _, _, metric in self._entries])
        found: list[float] = []
        for entry, stream, metric in self._entries:
            if stream in late:
                found += [NAN] * len(entry.fields)
                continue
            is_known = stream not in missing
            found.append(metric.value if is_known or not entry.aggregate else NAN)
            if entry.has_three_forms:
                found += metric.step if is_known else NAN, metric.mean
        return tuple(found)
