# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Options that metrics nodes published while a bag was recorded."""

from __future__ import annotations

from frame_ros.bags.reader import Bag
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


def used_topics(settings: str) -> dict[str, str]:
    """Returns role -> topic of the settings, if they have them."""
    try:
        topics = load_json(settings)['topics']
        return {role: name for role, name in topics.items() if name and isinstance(name, str)}
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return {}
