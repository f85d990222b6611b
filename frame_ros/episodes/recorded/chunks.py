# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The chunks of actions that a policy predicted in a recorded episode."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from frame_ros.bags.reader import Bag
from frame_ros.core.errors import BagError
from frame_ros.core.time import stamp_ns
from frame_ros.episodes.bounds import bounds_of
from frame_ros.episodes.episode import Episode

# A chunk computed while the robot waited begins when it is ready.
WAITING = 'synchronous'


@dataclass(frozen=True)
class RecordedChunk:
    """One chunk.

    Attributes:
        start: ns, the time of its first step: when the inference began; when it was ready, if the
            robot waited for it (execution mode 'synchronous') or the request has no stamp.
        actions: (H, D).
        dt: s.
    """

    start: int
    actions: NDArray[np.float64]
    dt: float
    names: tuple[str, ...]
    units: tuple[str, ...]
    action_space: str
    policy: str
    checkpoint: str


def recorded_chunks(
    episode: Episode, bag: Bag | None = None
) -> tuple[list[RecordedChunk], dict[str, int]]:
    """Returns the chunks of an episode by their start, and why others were left out -> how many.

    Raises:
        BagError: the bag holds no inferences of the episode, or their topic cannot be read.
    """
    stream = episode.streams.get('inference')
    if stream is None:
        raise BagError(f'{episode.path}: no policy_inference, so there are no recorded chunks')
    begin, end = bounds_of(episode)
    chunks, left_out = [], {'chunk of wrong size': 0}
    bag = bag or Bag(episode.path, is_by_receipt=episode.is_by_receipt)
    for _, message in bag.messages(stream.topic):
        if not begin <= stamp_ns(message.header.stamp) <= end:
            continue
        shape = (int(message.horizon), int(message.action_dimension))
        if (
            0 in shape
            or len(message.actions) != shape[0] * shape[1]
            or len(message.action_names) != shape[1]
            or not message.action_dt > 0
        ):
            left_out['chunk of wrong size'] += 1
            continue
        chunks.append(_chunk(message, shape))
    if not chunks:
        raise BagError(f'{episode.path}: {stream.topic} has no chunk between START and END')
    return sorted(chunks, key=lambda chunk: chunk.start), {k: n for k, n in left_out.items() if n}


def _chunk(message: Any, shape: tuple[int, int]) -> RecordedChunk:
    ready, request = stamp_ns(message.header.stamp), stamp_ns(message.request_stamp)
    # Older bags have no execution mode: their chunks begin at the request.
    is_waited_for = getattr(message, 'execution_mode', '') == WAITING
    return RecordedChunk(
        ready if is_waited_for or request <= 0 else request,
        np.array(message.actions, np.float64).reshape(shape),
        float(message.action_dt),
        tuple(map(str, message.action_names)),
        tuple(map(str, message.action_units)),
        str(message.action_space),
        str(message.policy),
        str(message.checkpoint),
    )
