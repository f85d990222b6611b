# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""metadata.yaml as libyaml reads it, and as the strict loader does."""

import pytest
import yaml
from bag_making import episode_messages, write_bag

from frame_ros.bags import metadata
from frame_ros.core.strict_yaml import load_yaml, yaml_problem


def outcome(load, text):
    try:
        return load(text)
    except yaml.YAMLError as error:
        return yaml_problem(error)


@pytest.mark.parametrize(
    'text',
    [
        'a: [1e-3, 1.5, 0x1F, 0o17, 017, 1_000, .inf, 12:30:00]\nb: [2026-11-28, yes, ~, "1"]\n',
        'a: {b: [], c: {}}\nd: |\n  two\n  lines\ne: >-\n  one\n  line\n',
        'a: &x {b: 1}\nc: *x\nd:\n  <<: *x\n  e: 2\n',
        'a: 1\nb: 2\na: 3\n',
        'a: &x [*x]\n',
        'a: *nowhere\n',
        'a: [1, 2\nb: 3\n',
        '\ta: 1\n',
        'a: 1\n---\nb: 2\n',
        'a: "\x07"\n',
        'a: !!python/object:os.system {}\n',
        'a: !!timestamp x\n',
        f'a: {"9" * 500}\n',
        '[' * 3000 + ']' * 3000,
        ''.join(f'{" " * depth}a:\n' for depth in range(300)),
        '&a [1, 2, 3]\n- *a\n',
        'a: &a [x, x, x, x, x, x, x, x]\n'
        + ''.join(
            f'{b}: &{b} [{", ".join([f"*{a}"] * 8)}]\n' for a, b in zip('abcdefgh', 'bcdefghi')
        ),
        '',
    ],
)  # fmt: skip
def test_it_is_read_as_strictly(text):
    assert outcome(metadata._load, text) == outcome(load_yaml, text)


def test_that_of_a_bag_needs_no_scanner_in_python(tmp_path, monkeypatch):
    if not yaml.__with_libyaml__:
        pytest.skip('PyYAML without libyaml')
    folder = write_bag(tmp_path / 'bag', episode_messages(4), {'policy': 'act'})
    expected = load_yaml((folder / 'metadata.yaml').read_text())
    monkeypatch.setattr(metadata, 'load_yaml', None)
    assert metadata.bag_information(folder) == expected['rosbag2_bagfile_information']
