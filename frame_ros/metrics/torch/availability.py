# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Check for torch and torchmetrics: imported before anything else of this package."""

import contextlib

from frame_ros.core.errors import MissingExtraError, install_hint
from frame_ros.core.torchvision_import import import_torchvision

try:
    import torch  # noqa: F401

    # torchmetrics imports torchvision where it is installed, and needs none where it is not.
    with contextlib.suppress(ImportError):
        import_torchvision()
    import torchmetrics  # noqa: F401
except ImportError as error:
    raise MissingExtraError(
        f'the TorchMetrics classes need torch and torchmetrics ({error}): {install_hint("torch")}'
    ) from error
