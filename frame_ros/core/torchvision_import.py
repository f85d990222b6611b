# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Import of torchvision where its compiled operators do not load.

LeRobot, torchmetrics and the published library of FRAME import torchvision; nothing used here needs
its operators.
"""

from __future__ import annotations

import sys
from types import ModuleType

# A torch.library.Library's definitions live as long as the object.
_operators: list[object] = []


def import_torchvision() -> ModuleType:
    """Imports torchvision, even if its compiled operators do not match the installed torch.

    Without them its import fails, because it registers shape functions for two operators. Declaring
    the schemas of these two is enough for code that uses neither, such as the ResNets in policies.

    Raises:
        ImportError: torch or torchvision is not installed.
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
