# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The version of a part of the sources changes with their text, and with nothing else."""

import pytest

from frame_ros.core import version


@pytest.fixture()
def checkout(tmp_path, monkeypatch):
    monkeypatch.setattr(version, 'ROOT', tmp_path)
    (tmp_path / 'package.xml').write_text('<package><version>1.2.3</version></package>')
    (tmp_path / 'a' / 'b').mkdir(parents=True)
    (tmp_path / 'a' / 'b' / 'code.py').write_text('x = 1\n')
    return tmp_path


def test_a_digest_follows_the_text_of_the_folders_only(checkout):
    first = version.source_version(['a'])
    assert first.startswith('1.2.3+') and len(first) == len('1.2.3+') + 12
    (checkout / 'a' / 'notes.txt').write_text('not code')
    (checkout / 'c').mkdir()
    (checkout / 'c' / 'code.py').write_text('y = 1\n')
    assert version.source_version(['a']) == first
    (checkout / 'a' / 'b' / 'code.py').write_text('x = 2\n')
    assert version.source_version(['a']) != first


def test_a_folder_that_is_not_there_counts_as_empty(checkout):
    assert version.source_version(['nowhere']) == version.source_version([])
