# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Modules of the benchmarks in tests."""

import importlib
import sys
from pathlib import Path

FOLDER = Path(__file__).resolve().parent.parent / 'benchmarks'


def import_parts(monkeypatch, *names):
    """The modules of benchmarks/parts by these names; what they share is loaded with them, so that
    no test has what another changed.
    """
    monkeypatch.syspath_prepend(str(FOLDER))
    for name in [each for each in sys.modules if each.split('.')[0] == 'parts']:
        monkeypatch.delitem(sys.modules, name)
    return [importlib.import_module(f'parts.{name}') for name in names]
