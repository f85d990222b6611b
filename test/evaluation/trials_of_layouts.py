# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Trials that other processes can import: where a scene's object stands."""

from frame_ros.scenes.generation.layout import draw_layout


def drawn(trial):
    """The position (3,) m of the object to pick."""
    return {'target': draw_layout(trial.seed).target.position}
