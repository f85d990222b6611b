# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The settings published by metrics nodes during a recording, by namespace and episode."""

from __future__ import annotations

from collections.abc import Sequence

from frame_ros.episodes.episode_split import Part


def settings_of_part(settings: Sequence[tuple[int, str]], part: Part) -> str:
    """Returns the settings that an episode was computed with, of those of one namespace, at least
    one. The metrics node publishes them at every START, so they are the first received between
    START and END; else the last before START; else the first of all. Without START the last.
    """
    if part.start is None:
        return settings[-1][1]
    begin = part.start.received
    end = part.finish.received if part.finish else None
    own = [text for at, text in settings if at >= begin and (end is None or at <= end)]
    before = [text for at, text in settings if at < begin]
    return (own[:1] or before[-1:] or [settings[0][1]])[0]
