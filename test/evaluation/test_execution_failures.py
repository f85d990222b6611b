# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Windows of UCI's robot execution failures, from generated files of the same form."""

import numpy as np
import pytest

from frame_ros.core.errors import SetupError
from frame_ros.core.time import SECOND
from frame_ros.evaluation.execution_failures import judge_failures, read_execution_failures


def window(label, rows):
    lines = ['\t' + '\t'.join(str(value) for value in row) for row in rows]
    return '\n'.join([label, *lines, '', '', ''])


@pytest.fixture()
def folder(tmp_path):
    rng = np.random.default_rng(0)
    texts = []
    for index in range(12):
        rows = rng.integers(-1, 2, (15, 6)) + np.array([0, 0, 60, 0, 0, 0])
        if index % 3 == 2:
            rows[4:, 1] += 40
        texts.append(window('collision' if index % 3 == 2 else 'normal', rows.tolist()))
    (tmp_path / 'lp1.data').write_text(''.join(texts))
    return tmp_path


def test_windows_are_read_with_labels_and_times(folder):
    windows = read_execution_failures(folder)
    assert [w.label for w in windows] == ['normal', 'normal', 'collision'] * 4
    assert [w.is_failure for w in windows[:3]] == [False, False, True]
    first = windows[0]
    assert first.problem == 'lp1' and first.wrenches.shape == (15, 6)
    assert np.unique(np.diff(first.stamps)).tolist() == [SECOND * 315 // 15000]
    assert np.median(first.wrenches[:, 2]) == pytest.approx(60.0, abs=1.0)


def test_failures_are_found_by_thresholds_that_normal_windows_set(folder):
    (row,) = judge_failures(read_execution_failures(folder), is_scaled=True)
    assert (row.failures, row.found) == (4, 4)
    assert row.normal == 4  # the other four are what the bias is of
    assert row.false <= 1 and 1.0 <= row.force_on < 4.0


@pytest.mark.parametrize(
    ('change', 'said'),
    [
        (lambda text: text.replace('normal', '1 2 3', 1), 'line 1'),
        (lambda text: text[: text.rindex('\t')], 'neither a label|of 15 samples'),
        (lambda text: text.replace('60', 'x', 1), 'line'),
        (lambda text: text + 'normal\n', '0 of 15 samples'),
    ],
)
def test_a_file_of_another_form_is_refused_with_its_line(folder, change, said):
    file = folder / 'lp1.data'
    file.write_text(change(file.read_text()))
    with pytest.raises(SetupError, match=said):
        read_execution_failures(folder)


def test_a_folder_without_the_files_is_refused(tmp_path):
    with pytest.raises(SetupError, match=r'none of lp1\.data to lp5\.data'):
        read_execution_failures(tmp_path)
