# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Stamps in nanoseconds, and that units of time and qualities of service are written once."""

import re
import struct
from pathlib import Path
from types import SimpleNamespace

import pytest

from frame_ros.core.time import SECOND, stamp_ns, stamp_of_serialised

PACKAGE = Path(__file__).resolve().parents[2] / 'frame_ros'


def files_with(pattern):
    found = re.compile(pattern, re.M)
    return {
        str(p.relative_to(PACKAGE)) for p in PACKAGE.rglob('*.py') if found.search(p.read_text())
    }


@pytest.mark.parametrize('order', ['<', '>'])
def test_a_stamp_is_the_same_read_and_serialised(order):
    head = bytes((0, order == '<', 0, 0)) + struct.pack(f'{order}iI', 1_700_000_000, 123_456_789)
    assert stamp_of_serialised(head) == 1_700_000_000 * SECOND + 123_456_789
    assert stamp_ns(SimpleNamespace(sec=1_700_000_000, nanosec=123_456_789)) == (
        1_700_000_000_123_456_789
    )


def test_damaged_stamps_are_refused():
    with pytest.raises(ValueError, match='1000000000 ns'):
        stamp_of_serialised(bytes((0, 1, 0, 0)) + struct.pack('<iI', 5, SECOND))
    with pytest.raises((struct.error, IndexError)):
        stamp_of_serialised(b'\0')


def test_nanoseconds_per_second_are_written_once():
    assert files_with(r'= *(1_000_000_000|10 ?\*\* ?9|1e9)\b') == {'core/time.py'}


def test_qualities_of_service_are_made_in_one_place():
    # Others only fit one to what publishers offer, or give a declared one another depth.
    fitting = {
        'nodes/runtime/fitting_subscription.py',
        'nodes/runtime/endpoints.py',
        'nodes/runtime/recorded_topics.py',
    }
    made = files_with(r'\bQoSProfile\((?!depth=qos\))')
    assert made == {'nodes/runtime/qos.py'} | fitting
