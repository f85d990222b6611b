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


def counted_policies(attributes: Iterable[Mapping[str, str]]) -> str:
    """Returns what the policies of episodes with these attributes are: '2 policies', '4 qualities
    of scripted', '3 checkpoints of act', '2 policies in 5 variants'; '' of a single one.
    """
    keys = {tuple(str(each.get(name) or '') for name in FACTS) for each in attributes}
    names = {policy for policy, *_ in keys}
    if len(keys) < 2:
        return ''
    if len(names) > 1:
        variants = f' in {len(keys):,} variants' if len(keys) > len(names) else ''
        return f'{len(names):,} policies{variants}'
    _, checkpoints, qualities = (len(set(values)) for values in zip(*keys))
    noun = 'variants' if min(checkpoints, qualities) > 1 else 'checkpoints'
    noun = 'qualities' if checkpoints == 1 else noun
    return f'{len(keys):,} {noun} of {names.pop() or NAMELESS}'


def _label(key: _Key, is_short: bool) -> str:
    policy, checkpoint, quality = key
    name = checkpoint.rstrip('/').rpartition('/')[2] if is_short else checkpoint
    parts = [policy or NAMELESS, name, f'quality {quality}' if quality else '']
    return ', '.join(part for part in parts if part)
