# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""CSV files as spreadsheets write them, and their mistakes."""

import pytest

from frame_ros.core.csv_table import CsvTable
from frame_ros.core.errors import SetupError, ValueRangeError


@pytest.fixture()
def table(tmp_path):
    def make(content):
        path = tmp_path / 'table.csv'
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return CsvTable(path, 'labels')

    return make


@pytest.mark.parametrize('separator', [',', ';', '\t'])
@pytest.mark.parametrize('end', ['\n', '\r\n'])
def test_names_and_cells_have_no_spaces_around_them_and_empty_rows_are_left_out(
    table, separator, end
):
    rows = ['\ufeffa | B', '1 | x', ' | ', '', '2', '3 | "y,;\tz"']
    found = table(end.join(rows).replace(' | ', f' {separator} '))
    assert found.names == ['a', 'B']
    assert list(found.rows()) == [(2, ['1', 'x']), (5, ['2', '']), (6, ['3', 'y,;\tz'])]


def test_the_line_of_a_row_with_a_line_break_is_its_last(table):
    assert list(table('a,b\n"1\n2",3\n4,5\n').rows()) == [(3, ['1\n2', '3']), (4, ['4', '5'])]


def test_an_empty_file_names_nothing(table):
    assert table('').names == [] and list(table('').rows()) == []


def test_more_cells_than_names_are_refused_unless_they_are_empty(table):
    assert list(table('a\n1,,\n').rows()) == [(2, ['1'])]
    with pytest.raises(ValueRangeError, match=r"line 3: 2 values.* names 1 columns; quote .* ','"):
        list(table('a\n1\n2,3\n').rows())


def test_a_quote_that_is_not_closed_swallows_no_rows(table):
    with pytest.raises(ValueRangeError, match='line 3: unexpected end of data; a quotation mark'):
        list(table('a,b\n1,"x\n2,y\n').rows())
    with pytest.raises(ValueRangeError, match="line 2: ',' expected after '\"'"):
        list(table('a,b\n"x"1,2\n').rows())


def test_a_file_that_cannot_be_read_is_named(table, tmp_path):
    with pytest.raises(SetupError, match='the labels .* save the file as UTF-8'):
        table('a\né\n'.encode('latin-1'))
    with pytest.raises(SetupError, match='the labels .* cannot be read'):
        CsvTable(tmp_path / 'none.csv', 'labels')
