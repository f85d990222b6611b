# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Imports of LeRobot for inference, with the network kept out."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator
from types import ModuleType

from frame_ros.core.errors import MissingExtraError, install_hint
from frame_ros.core.torchvision_import import import_torchvision

OFFLINE_VARIABLES = ('HF_HUB_OFFLINE', 'TRANSFORMERS_OFFLINE', 'HF_DATASETS_OFFLINE')


def import_lerobot() -> ModuleType:
    """Imports LeRobot's policies, which registers their configurations.

    Raises:
        MissingExtraError: LeRobot, or a package that it needs, is not installed.
    """
    try:
        with offline():
            import_torchvision()
            import lerobot.policies
    except ImportError as error:
        raise MissingExtraError(
            f'a LeRobot policy cannot be loaded: {error}: {install_hint("lerobot")}'
        ) from error
    return lerobot.policies


@contextlib.contextmanager
def offline() -> Iterator[None]:
    """Keeps Hugging Face's libraries off the network inside a `with` block."""
    saved = {name: os.environ.get(name) for name in OFFLINE_VARIABLES}
    os.environ.update(dict.fromkeys(OFFLINE_VARIABLES, '1'))
    _set_hub_offline(True)
    try:
        yield
    finally:
        for name, value in saved.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
        _set_hub_offline((saved['HF_HUB_OFFLINE'] or '').upper() in {'1', 'ON', 'YES', 'TRUE'})


def _set_hub_offline(is_offline: bool) -> None:
    """Sets the variable that the hub's client reads at import, and its constant."""
    constants = sys.modules.get('huggingface_hub.constants')
    if constants is not None:
        constants.HF_HUB_OFFLINE = is_offline  # type: ignore[attr-defined]
