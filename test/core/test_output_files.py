# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Files are written whole or not at all, and nothing else is replaced."""

import os
import threading

import pytest

from frame_ros.core.errors import SetupError
from frame_ros.core.output_files import appending, check_file, replacing, write_whole


def test_a_file_is_replaced_only_by_a_whole_one(tmp_path):
    target = tmp_path / 'page.html'
    write_whole(target, 'first', 'the page')
    with pytest.raises(UnicodeEncodeError):
        write_whole(target, 'second' * 10_000 + '\ud800', 'the page')
    assert target.read_text() == 'first'
    assert [path.name for path in tmp_path.iterdir()] == ['page.html']


def test_a_folder_that_is_missing_is_said(tmp_path):
    with pytest.raises(SetupError, match='the page cannot be written to .*No such file'):
        write_whole(tmp_path / 'no' / 'page.html', 'text', 'the page')


def test_a_pipe_is_written_to_and_stays_one(tmp_path):
    pipe = tmp_path / 'pipe'
    os.mkfifo(pipe)
    found = []
    reader = threading.Thread(target=lambda: found.append(pipe.read_text()), daemon=True)
    reader.start()
    write_whole(check_file(pipe, '--output'), 'text', 'the page')
    reader.join(10.0)
    assert found == ['text'] and pipe.is_fifo()
    assert [path.name for path in tmp_path.iterdir()] == ['pipe']


def test_links_that_were_planted_are_replaced_and_never_followed(tmp_path):
    (tmp_path / 'victim').write_text('mine')
    for name in ('page.html', '.page.html.part'):
        (tmp_path / name).symlink_to('victim')
    write_whole(tmp_path / 'page.html', 'text', 'the page')
    assert (tmp_path / 'victim').read_text() == 'mine'
    assert (tmp_path / 'page.html').read_text() == 'text'
    assert not (tmp_path / 'page.html').is_symlink()


def test_a_new_file_is_made_where_a_link_has_its_temporary_name(tmp_path):
    (tmp_path / 'victim').write_text('mine')
    (tmp_path / 'part').symlink_to('victim')
    with replacing(tmp_path / 'bag.mp4', tmp_path / 'part') as part:
        part.write_text('video')
    assert (tmp_path / 'victim').read_text() == 'mine'
    assert (tmp_path / 'bag.mp4').read_text() == 'video'
    assert sorted(path.name for path in tmp_path.iterdir()) == ['bag.mp4', 'victim']


def test_a_file_is_appended_to_and_no_link(tmp_path):
    for text in (b'first', b'second'):
        with appending(tmp_path / 'a') as file:
            file.write(text)
    assert (tmp_path / 'a').read_bytes() == b'firstsecond'
    (tmp_path / 'b').symlink_to(tmp_path / 'a')
    (tmp_path / 'c').symlink_to(tmp_path / 'new')
    os.mkfifo(tmp_path / 'd')
    for name in 'bcd':
        with pytest.raises(OSError, match='link|not a file'), appending(tmp_path / name):
            pass
    assert not (tmp_path / 'new').exists()
    assert (tmp_path / 'a').read_bytes() == b'firstsecond'
