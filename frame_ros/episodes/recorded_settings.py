# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The settings that metrics nodes published while a bag was recorded: of whom, and for which
episode."""

from __future__ import annotations

from collections.abc import Sequence

from frame_ros.bags.reader import Bag
from frame_ros.episodes.episode_split import Part
from frame_ros.core.input_files import load_json

SETTINGS_TOPIC = 'metrics_config'


def read_settings(bag: Bag) -> dict[str, list[tuple[int, str]]]:
    """Returns namespace ('' for the root) -> receive times (ns) and settings, JSON, that a metrics
    node there published, in recorded order, at least one."""
    settings: dict[str, list[tuple[int, str]]] = {}
    for name, topic in bag.topics.items():
        if not name.endswith(f'/{SETTINGS_TOPIC}'):
            continue
        if topic.message_type == 'std_msgs/msg/String' and topic.types:
            found = [(received, message.data) for received, message in bag.messages(name)]
            if found:
                settings[name[: -len(SETTINGS_TOPIC) - 1]] = found
    return settings


def settings_of_part(settings: Sequence[tuple[int, str]], part: Part) -> str:
    """Returns the settings that an episode was computed with, of those of one namespace, at least
    one.

    The metrics node publishes them at every START, so they are the first received between START
    and END; else the last before START; else the first of all. Without START the last.
    """
    if part.start is None:
        return settings[-1][1]
    begin = part.start.received
    end = part.finish.received if part.finish else None
    own = [text for at, text in settings if at >= begin and (end is None or at <= end)]
    before = [text for at, text in settings if at < begin]
    return (own[:1] or before[-1:] or [settings[0][1]])[0]


def used_topics(settings: str) -> dict[str, str]:
    """Role -> topic as the settings say; empty where they do not."""
    try:
        topics = load_json(settings)['topics']
        return {role: name for role, name in topics.items() if name and isinstance(name, str)}
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return {}
