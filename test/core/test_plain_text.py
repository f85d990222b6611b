# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Texts of others as people see them: nothing acts on a terminal, and letters stay joined."""

import json

import pytest

from frame_ros.core.plain_text import plain, plain_json, plain_lines, quoted


@pytest.mark.parametrize(
    'text', ['Grün 試', 'پای\u200cزیرو', 'क्\u200dष', '\U0001f469\u200d\U0001f52c', 'a\u00a0b', '']
)
def test_letters_of_all_scripts_stay(text):
    assert plain(text) == plain_lines(text) == plain_json(text) == text
    assert quoted(text) == f"'{text}'"


@pytest.mark.parametrize(
    ('text', 'shown'),
    [
        ('a\nb', r'a\nb'),
        ('a\x1b[2Jb\x9b', r'a\x1b[2Jb\x9b'),
        ('a\u202eb\u2028', r'a\u202eb\u2028'),
        ('a\u200b\U000e0041', r'a\u200b\U000e0041'),
        ('a\udcff', r'a\udcff'),
    ],
)
def test_what_acts_is_an_escape(text, shown):
    assert plain(text) == shown


def test_lines_stay_lines():
    assert plain_lines('a\tb\nc\x07') == 'a\\tb\nc\\x07'


def test_json_of_names_that_act_is_the_same_json():
    value = {'na\x9bme\u202e': ['x\ny', '\U000e0041', 'پای\u200cزیرو']}
    text = plain_json(json.dumps(value, indent=1, ensure_ascii=False))
    assert plain_lines(text) == text and 'پای\u200cزیرو' in text
    assert json.loads(text) == value
