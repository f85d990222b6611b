# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Bags of episodes in which a policy with tokens was more or less sure."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from bag_making import T0, event, message, stamp, write_bag

from frame_ros.core.events import EventType, Outcome
from frame_ros.core.time import SECOND

DURATION = 8  # s


def inference(second: int, chosen: Sequence[float], **fields: Any) -> Any:
    """An inference with two tokens, of the action dimensions 0 and 1, at two temperatures; without
    probabilities one without tokens; further fields as given.
    """
    p = np.array(chosen, float)
    tokens = {
        'vocabulary_size': 256, 'token_max_probability': p, 'token_chosen_probability': p,
        'token_second_probability': np.zeros(2), 'token_sum_of_squares': p**2,
        'token_entropy': np.zeros(2), 'token_step': np.zeros(2, np.int32),
        'token_dimension': np.array([0, 1], np.int32), 'temperatures': np.array([1.0, 2.0]),
        'token_max_at_temperature': np.stack([p, p / 2.0], axis=1).ravel(),
    } if len(p) else {}  # fmt: skip
    return message(
        'frame_ros/msg/PolicyInference', header__stamp=stamp(T0 + second * SECOND),
        sequence=second, latency=0.1, **{**tokens, **fields},
    )  # fmt: skip


def score_bag(
    path: Path,
    rows: Sequence[Sequence[float]],
    outcome: Outcome = Outcome.SUCCESS,
    extra: Sequence[tuple[str, int, Any]] = (),
    episode_id: str = 'e1',
) -> Path:
    """Writes an episode of DURATION with an inference each second, and returns its path.

    Args:
        path: of the bag.
        rows: of each inference the probabilities of its tokens.
        outcome: of the episode.
        extra: further messages: topic, receive time, message.
        episode_id: its name.
    """
    end = T0 + DURATION * SECOND
    sent = [('/policy_inference', T0 + i * SECOND, inference(i, p)) for i, p in enumerate(rows)]
    return write_bag(
        path,
        [
            ('/episode_events', T0, event(T0, EventType.START, episode_id)),
            *sent,
            *extra,
            ('/episode_events', end, event(end, EventType.END, episode_id, outcome=int(outcome))),
        ],
    )
