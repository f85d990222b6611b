# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The command line by which bags that lack poses or steps give numbers."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from frame_ros.bags.recording_options import RecordingOptions
from frame_ros.episodes.episode import Episode
from frame_ros.episodes.foreign_bags.complete_options import complete_options, is_incomplete

MOST_COMMANDS = 3
# Options that a command keeps; topics have a form of their own.
GIVEN = ('namespace', 'stamps', 'action_joints', 'robot', 'joint_units', 'joint_calibration')


def complete_commands(
    paths: Sequence[str], options: RecordingOptions, episodes: Sequence[Episode]
) -> list[str]:
    """Returns commands to be copied, with the options that were given; one for all paths where all
    bags need the same, else one for each of the first bags.
    """
    namespace, topics = options.namespace, options.reading()['topics']
    found: dict[str, list[str]] = {}
    for path, episode in {episode.path: episode for episode in episodes}.items():
        bag = episode.open_bag() if is_incomplete(episode) else None
        if bag is not None and (more := complete_options(episode, bag, namespace, topics)):
            found[str(path)] = more
    if len({tuple(more) for more in found.values()}) == 1:
        return [_command(paths, options, next(iter(found.values())))]
    return [_command([path], options, more) for path, more in list(found.items())[:MOST_COMMANDS]]


def _command(paths: Sequence[str], options: RecordingOptions, more: Sequence[str]) -> str:
    return shlex.join(['frame-ros', 'report', *paths, *_given(options, more), *more])


def _given(options: RecordingOptions, more: Sequence[str]) -> list[str]:
    """Returns the options that were given, but those that others replace."""
    replaced = {text.partition('=')[0] for text in more}
    usual, found = RecordingOptions(), []
    for name in GIVEN:
        flag, value = '--' + name.replace('_', '-'), getattr(options, name)
        if value != getattr(usual, name) and flag not in replaced:
            found += [flag, ','.join(value) if isinstance(value, tuple) else str(value)]
    for role, topic in options.topics.items():
        if role not in replaced:
            found += ['--topic', f'{role}={topic}']
    return found
