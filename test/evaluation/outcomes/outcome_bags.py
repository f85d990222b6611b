# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Bags of one episode each, with events and little else."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bag_making import T0, event, message, pose, write_bag

from frame_ros.core.events import EventType, Outcome
from frame_ros.core.time import SECOND

TOPIC = '/episode_events'


def pairs(facts: dict[str, str]) -> list[Any]:
    """Attributes of an event."""
    return [
        message('diagnostic_msgs/msg/KeyValue', key=key, value=value)
        for key, value in facts.items()
    ]


def outcome_bag(
    path: Path,
    outcome: Outcome | None = Outcome.SUCCESS,
    seconds: float = 10.0,
    seen: Sequence[tuple[float, EventType, dict[str, Any]]] = (),
    start: int = T0,
    episode_id: str = '',
    facts: dict[str, str] | None = None,
    **texts: str,
) -> Path:
    """Writes an episode with a pose each second, and returns its bag's path.

    Args:
        path: of the bag.
        outcome: on END; None: without END.
        seconds: from START to END.
        seen: time since START in s, kind and fields of further events.
        start: ns.
        episode_id: its name; '': the bag's.
        facts: attributes of START.
        texts: of START: policy, object, instruction, checkpoint.
    """
    name = episode_id or path.name
    texts = {'policy': 'act', 'object': 'cube', 'instruction': 'put it in', **texts}
    end = start + int(seconds * SECOND)
    first = event(start, EventType.START, name, attributes=pairs(facts or {}), **texts)
    sent = [(TOPIC, start, first)]
    for i in range(int(seconds) + 1):
        sent.append(('/ee_pose', start + i * SECOND, pose(start + i * SECOND, 0.01 * i)))
    for time, kind, fields in seen:
        at = start + int(time * SECOND)
        sent.append((TOPIC, at, event(at, kind, name, **fields)))
    if outcome is not None:
        sent.append((TOPIC, end, event(end, EventType.END, name, outcome=int(outcome))))
    return write_bag(path, sorted(sent, key=lambda row: row[1]), {'episode_id': name})
