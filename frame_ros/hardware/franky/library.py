# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The package franky-control, imported where a Franka arm is to be driven."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from importlib import import_module
from typing import Any

from frame_ros.core.errors import FrameRosError, MissingExtraError, SetupError, install_hint
from frame_ros.hardware.device_error import DeviceError

VERSIONS = 'docs/real-arms.md lists which system versions of the robot a wheel fits'


class MotionAborted(DeviceError):
    """The arm ended a motion by itself: a reflex, its user stop, or lost commands."""


def import_franky() -> Any:
    """Imports franky.

    Raises:
        MissingExtraError: it is not installed.
    """
    try:
        return import_module('franky')
    except ImportError as error:
        raise MissingExtraError(
            f'a Franka arm by its host needs franky-control: {error}: {install_hint("franka")}'
        ) from error


@contextlib.contextmanager
def franky_errors(what: str, other: type[DeviceError] = DeviceError) -> Iterator[None]:
    """Turns any error of franky inside a `with` block into one of ours.

    other: of what is neither a lost connection nor one of those below.

    Raises:
        SetupError: the wheel does not fit the robot, or the system has no realtime permission.
        MotionAborted: the arm ended the motion.
        DeviceError: a lost connection, and by default anything else.
    """
    franky = import_franky()
    try:
        yield
    except FrameRosError:
        raise
    except franky.IncompatibleVersionException as error:
        raise SetupError(f'{what}: {_text(error)}; {VERSIONS}') from error
    except franky.RealtimeException as error:
        raise SetupError(
            f'{what}: {_text(error)}; install a realtime kernel and give the user realtime '
            "permission, or set fci.realtime to 'ignore'"
        ) from error
    except franky.ControlException as error:
        raise MotionAborted(_text(error)) from error
    except (franky.NetworkException, franky.ProtocolException) as error:
        raise DeviceError(f'{what}: {_text(error)}') from error
    except Exception as error:  # pybind11 passes on what it does not know as RuntimeError
        raise other(f'{what}: {_text(error)}') from error


def _text(error: BaseException) -> str:
    return ' '.join(str(error).split()) or type(error).__name__
