# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Rows of result tables that are written into a page."""

import importlib.util
from pathlib import Path

import pytest

FOLDER = Path(__file__).resolve().parent.parent / 'benchmarks' / 'parts'
PAGE = """| robot | sensor | recall |
| --- | --- | --- |
| fr3 | wrench | 99 % |
| fr3 | torque | 80 % |

| robot | distance | error |
| --- | --- | --- |
| fr3 | each link | 2 mm |""".splitlines()


@pytest.fixture()
def renewed():
    specification = importlib.util.spec_from_file_location('rows', FOLDER / 'result_rows.py')
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module.renewed


def test_a_row_takes_the_place_of_the_one_before_and_the_others_stay(renewed):
    measured = [*PAGE[:2], '| fr3 | torque | 90 % |', '| so101 | current | 95 % |']
    expected = [*PAGE[:3], '| fr3 | torque | 90 % |', '| so101 | current | 95 % |', *PAGE[4:]]
    assert renewed(PAGE, measured) == expected
    assert renewed(PAGE, []) == PAGE


def test_new_tables_and_remarks_follow_and_old_remarks_go(renewed):
    table = ['| robot | machine | false |', '| --- | --- | --- |', '| so101 | idle | 0 |']
    before = [*PAGE, '', '2 of 9 trials could not be run.']
    assert renewed(before, [*table, '', 'A remark.']) == [*PAGE, '', *table, '', 'A remark.']
