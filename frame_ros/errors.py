# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The errors that a user of frame_ros can cause and mend. Each says what was wrong and what would
be right.
"""


class FrameRosError(Exception):
    """Base of all errors raised on purpose by frame_ros."""


class ShapeError(FrameRosError, ValueError):
    """An array has the wrong shape, or too few samples."""


class ValueRangeError(FrameRosError, ValueError):
    """A value is outside what it may be (not finite, negative, unknown name)."""


class RobotError(FrameRosError, ValueError):
    """A robot description or a joint state does not fit."""


class BagError(FrameRosError):
    """A bag cannot be read or written."""


class CheckpointError(FrameRosError):
    """A policy's folder lacks files or does not fit the robot."""


class PolicyError(FrameRosError):
    """A policy cannot act on what it was given, or gave something unusable."""


class MissingExtraError(FrameRosError, ImportError):
    """An optional dependency is not installed; the message names the extra to install."""


class SetupError(FrameRosError):
    """The environment lacks a tool, or a configuration is wrong."""


def install_hint(extra: str = '') -> str:
    """How to install what is missing. extra: the one that brings it; empty: the package itself."""
    package = f'frame_ros[{extra}]' if extra else 'frame_ros'
    return (
        f'pip install {package}; with a colcon build: `make setup` in the checkout, or '
        'requirements/ros-sourced.txt in a venv made with --system-site-packages'
    )
