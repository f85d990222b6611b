# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Names of the policies that episodes were run with, distinct and short."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from frame_ros.episodes.episode import Episode

# Attributes of an episode that distinguish policies. quality: of the scripted policy.
FACTS = ('policy', 'checkpoint', 'quality')
NAMELESS = 'unnamed policy'

_Key = tuple[str, ...]


def policy_labels(episodes: Sequence[Episode]) -> list[str]:
    """Returns the label of each episode's policy: one per policy, checkpoint and (scripted)
    quality; a checkpoint by its last folder, if that suffices.
    """
    return labels_of(episode.attributes for episode in episodes)


def labels_of(attributes: Iterable[Mapping[str, str]]) -> list[str]:
    """Returns the same of episodes of which these are the attributes."""
    keys = [tuple(str(each.get(name) or '') for name in FACTS) for each in attributes]
    distinct = list(dict.fromkeys(keys))
    labels: dict[_Key, str] = {}
    for is_short in (True, False):
        labels = {key: _label(key, is_short) for key in distinct}
        if len(set(labels.values())) == len(labels):
            break
    return [labels[key] for key in keys]


def _label(key: _Key, is_short: bool) -> str:
    policy, checkpoint, quality = key
    name = checkpoint.rstrip('/').rpartition('/')[2] if is_short else checkpoint
    parts = [policy or NAMELESS, name, f'quality {quality}' if quality else '']
    return ', '.join(part for part in parts if part)
