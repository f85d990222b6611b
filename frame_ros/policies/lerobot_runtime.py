# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Bringing up LeRobot for inference: its imports, and the network kept out."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator
from types import ModuleType

from frame_ros.errors import MissingExtraError, install_hint

OFFLINE_VARIABLES = ('HF_HUB_OFFLINE', 'TRANSFORMERS_OFFLINE', 'HF_DATASETS_OFFLINE')
# A torch.library.Library's definitions live as long as the object.
_operators: list[object] = []


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


def import_torchvision() -> ModuleType:
    """Imports torchvision, also beside a torch for which its compiled operators do not load.

    Without them torchvision fails at import, because it registers shape functions for two
    operators. Declaring the schemas of these two is enough for all that uses neither, such as the
    ResNets in policies.
    """
    try:
        import torchvision
    except RuntimeError as error:
        if 'torchvision::nms' not in str(error):
            raise
        for name in [name for name in sys.modules if name.split('.')[0] == 'torchvision']:
            del sys.modules[name]
        _declare_operators()
        import torchvision
    return torchvision


def _declare_operators() -> None:
    import torch

    library = torch.library.Library('torchvision', 'FRAGMENT')
    for name in ('nms', 'qnms'):
        library.define(f'{name}(Tensor dets, Tensor scores, float iou_threshold) -> Tensor')
    _operators.append(library)


@contextlib.contextmanager
def offline() -> Iterator[None]:
    """Keeps Hugging Face's libraries off the network inside a `with` block.

    They look in local folders alone.
    """
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
    """The hub's client reads the variable once, when it is imported.

    Afterwards its constant counts.
    """
    constants = sys.modules.get('huggingface_hub.constants')
    if constants is not None:
        constants.HF_HUB_OFFLINE = is_offline  # type: ignore[attr-defined]
