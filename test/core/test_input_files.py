# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Ordinary files only, and no more of them than is allowed."""

import os
import socket
import stat
from pathlib import Path

import pytest
import yaml

from frame_ros import cli
from frame_ros.core.errors import SetupError
from frame_ros.core.input_files import (
    FACTOR_VARIABLE,
    NESTING,
    TEXT,
    Limit,
    load_json,
    missing_file,
    names_file,
    open_file,
    read_text,
)
from frame_ros.core.option_texts import parse_mapping
from frame_ros.core.strict_yaml import load_yaml

LAUGHS = 'a: &a [x,x,x,x,x,x,x,x,x]\n' + ''.join(
    f'{name}: &{name} [{",".join(9 * ["*" + before])}]\n'
    for before, name in zip('abcdefgh', 'bcdefghi', strict=True)
)


def test_a_named_pipe_is_refused_without_waiting(tmp_path):
    os.mkfifo(tmp_path / 'pipe')
    with pytest.raises(OSError, match='a named pipe, not a file'):
        read_text(tmp_path / 'pipe')


def test_devices_sockets_and_folders_are_no_files(tmp_path):
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(tmp_path / 'socket'))
    (tmp_path / 'zero').symlink_to('/dev/zero')
    for name, kind in (('zero', 'a device'), ('.', 'a folder')):
        with pytest.raises(OSError, match=kind):
            open_file(tmp_path / name)
    with pytest.raises(OSError):
        open_file(tmp_path / 'socket')
    listener.close()


def test_a_text_that_is_too_large_names_the_option(tmp_path, monkeypatch):
    path = tmp_path / 'a.yaml'
    with path.open('wb') as file:
        file.truncate(TEXT.amount + 1)
    with pytest.raises(OSError, match='--file-limits 2'):
        read_text(path)
    monkeypatch.setenv(FACTOR_VARIABLE, '2')
    assert len(read_text(path)) == TEXT.amount + 1


@pytest.mark.parametrize('text', ['0', '-1', 'nan', 'much', 'inf'])
def test_a_factor_that_is_none_is_refused(monkeypatch, text):
    monkeypatch.setenv(FACTOR_VARIABLE, text)
    with pytest.raises(SetupError, match=FACTOR_VARIABLE):
        _ = TEXT.now


def test_the_option_of_a_command_raises_the_limits(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv(FACTOR_VARIABLE, '1')
    assert cli.main(['report', str(tmp_path), '--file-limits', '3']) == cli.USAGE_ERROR
    assert TEXT.now == 3 * TEXT.amount
    assert cli.main(['report', str(tmp_path), '--file-limits', '0']) == cli.USAGE_ERROR
    assert '--file-limits' in capsys.readouterr().err


def test_an_excess_says_the_amounts():
    text = Limit(256 << 20, 'bytes').excess(6.2e9)
    allows = '--file-limits 24 or FRAME_ROS_FILE_LIMITS=24 allows it'
    assert text == f'6.2 GB, above the limit of 268 MB ({allows})'


@pytest.mark.parametrize('text', ['[' * 100_000, '{"a":' * 500 + '1' + '}' * 500])
def test_json_nested_without_end_is_no_json(text):
    with pytest.raises(ValueError, match='nested'):
        load_json(text)


def test_brackets_in_texts_of_json_are_no_nesting():
    assert load_json('["' + '[' * 500 + '\\"' + '"]') == ['[' * 500 + '"']
    deep = '[' * NESTING.amount + ']' * NESTING.amount
    assert load_json(deep + ' ' * 5) is not None


@pytest.mark.parametrize(
    'text',
    [
        LAUGHS,
        '[' * 100_000,
        '- ' * 10_000,
        'a: ' + '[' * 100_000,
        'a: {b: 1}\nc: ' + '{x: ' * 50_000,
        'a: ' + '[x, ' * 50_000,
        'a:\n' + '- ' * 50_000,
        'a:\n  ' + '? ' * 50_000,
        'a: &a [*a]',
        'a: &a {b: *a}',
        'a: ' + '9' * 10_000,
        'a: ' + '1:' * 10_000 + '1',
        'a: 2001-99-99',
        'a: !!int x',
        'a: !!timestamp x',
        '{a: 1, a: 2}',
        '? [1]\n: 2',
    ],
)
def test_yaml_that_blows_up_is_no_yaml(text):
    with pytest.raises(yaml.YAMLError):
        load_yaml(text)


def test_yaml_within_the_limits_is_read_with_aliases_and_merges():
    found = load_yaml('a: &a {x: 1, y: 1e-3}\nb: {<<: *a, x: 2}\nc: [*a, *a]')
    assert found == {
        'a': {'x': 1, 'y': 0.001},
        'b': {'x': 2, 'y': 0.001},
        'c': 2 * [{'x': 1, 'y': 0.001}],
    }


@pytest.mark.parametrize('load', [load_json, load_yaml])
def test_half_a_character_becomes_one_that_can_be_written(load):
    found = load(r'{"a\uD83D": ["x\uDE00y", {"b": "\ud83d\ude00"}], "c": 1}')
    assert found['a\ufffd'][0] == 'x\ufffdy' and found['c'] == 1
    assert load(r'{"a": "\uFEFF\uD800"}') == {'a': '\ufeff\ufffd'}
    str(found).encode()


def test_a_long_honest_document_is_read():
    """Such as metadata.yaml of a day's recording in parts of 10 s, or a file of 300 scenes."""
    entry = '{path: bag_%d.mcap, duration: {nanoseconds: 1}, message_count: 1}'
    text = 'files:\n' + ''.join(f'- {entry % number}\n' for number in range(8640))
    assert len(load_yaml(text)['files']) == 8640


def test_aliases_of_many_values_are_read_when_the_user_raises_the_limits(monkeypatch):
    text = f'a: &a {[0] * 1000}\nb: [{", ".join(["*a"] * 60)}]'
    monkeypatch.setenv(FACTOR_VARIABLE, '1')
    with pytest.raises(yaml.YAMLError, match='above the limit of 50,000 values .*--file-limits 2'):
        load_yaml(text)
    monkeypatch.setenv(FACTOR_VARIABLE, '2')
    assert len(load_yaml(text)['b']) == 60


def test_a_file_is_opened_for_reading_only(tmp_path):
    (tmp_path / 'a').write_text('x')
    with open_file(tmp_path / 'a') as file:
        assert stat.S_ISREG(os.fstat(file.fileno()).st_mode) and file.read() == b'x'


@pytest.mark.parametrize('text', ['a' * 5000, '~nobody_of_this_name/x', '\0', '', '/'])
def test_any_text_may_be_asked_whether_it_names_a_file(text):
    assert not names_file(text)
    assert names_file(__file__)


def test_only_a_text_that_can_be_nothing_else_is_a_missing_file(tmp_path):
    there = tmp_path / 'a.yaml'
    there.touch()
    for text in (f'{tmp_path}/b', 'options.yaml', 'arm.urdf', './a b', 'my arm.yaml'):
        assert missing_file(text) == f'there is no file {text!r}; the folder now is {Path.cwd()}'
    others = 'fr3', 'ws://127.0.0.1:8000', '{a: 1}', '- a/b\n- c.yaml', 'max 1 m/s'
    for text in (str(there), *others):
        assert missing_file(text) == ''


def test_a_folder_or_a_pipe_is_not_missing_but_no_file(tmp_path):
    os.mkfifo(tmp_path / 'pipe')
    assert missing_file(f'{tmp_path}/pipe') == f"'{tmp_path}/pipe' is a named pipe, not a file"
    assert missing_file(str(tmp_path)) == f"'{tmp_path}' is a folder, not a file"


def test_a_file_is_missing_in_a_folder_that_was_removed_too(tmp_path, monkeypatch):
    folder = tmp_path / 'gone'
    folder.mkdir()
    monkeypatch.chdir(folder)
    folder.rmdir()
    assert missing_file('a.yaml').endswith("'a.yaml'; the folder now is one that was removed")


def test_a_missing_file_of_options_is_said_to_be_missing():
    with pytest.raises(SetupError, match="not 'nofile.yaml': there is no file 'nofile.yaml'"):
        parse_mapping('gate_parameters', 'nofile.yaml')


def test_options_that_are_no_mapping_are_not_taken_for_a_file():
    with pytest.raises(SetupError, match=r"a YAML mapping such as .*, not 'max 1 m/s'$"):
        parse_mapping('gate_parameters', 'max 1 m/s')
