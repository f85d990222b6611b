# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The examples are scripts beside each other, not a package."""

import sys
from pathlib import Path

import pytest

TRAINING = Path(__file__).resolve().parent.parent.parent / 'examples' / 'training'


@pytest.fixture(scope='session', autouse=True)
def _examples_are_found():
    sys.path.insert(0, str(TRAINING))
    yield
    sys.path.remove(str(TRAINING))
