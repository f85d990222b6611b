# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The bags of the other rooms' tests, for the command that reads them."""

import sys
from pathlib import Path

for room in ('episodes', 'evaluation', 'reports'):
    sys.path.insert(0, str(Path(__file__).resolve().parents[1] / room))
