# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Texts for people: of others, such as names in a bag, as a terminal shows them without acting on
them, and numbers of things.
"""

from __future__ import annotations

import json
import re
import unicodedata

# Control characters, invisible ones that format (also those that turn the direction of writing),
# ends of lines and paragraphs, and halves of a character.
ACTING = ('Cc', 'Cf', 'Zl', 'Zp', 'Cs')
# Invisible ones that only choose the form of the letters next to them, in Persian, in scripts of
# India and in emoji: ZWNJ and ZWJ.
JOINING = '\u200c\u200d'
_NOT_ASCII = re.compile(r'[^\n\x20-\x7e]')


def plain(text: str) -> str:
    """Returns a text in one line, with what a terminal would act on as an escape, such as \\n.

    For output alone: names stay as they are in data, where two that differ are two.
    """
    if text.isprintable():
        return text
    return ''.join(each.encode('unicode_escape').decode() if _acts(each) else each for each in text)


def plain_lines(text: str) -> str:
    """Returns a text of several lines, each of them plain."""
    return '\n'.join(map(plain, text.split('\n')))


def plain_json(text: str) -> str:
    """Returns a JSON document of the same content, with what a terminal would act on as JSON's
    escapes; line feeds stay.
    """
    return _NOT_ASCII.sub(lambda found: _escaped(found[0]), text)


def _escaped(character: str) -> str:
    return json.dumps(character)[1:-1] if _acts(character) else character


def quoted(text: str) -> str:
    """Returns a plain text in quotes, to copy where it has no escapes."""
    return f"'{plain(text)}'"


def _acts(character: str) -> bool:
    return unicodedata.category(character) in ACTING and character not in JOINING


def counted(count: float, noun: str) -> str:
    """Returns '1 episode', '2,000 episodes', '2 successes'; the noun's plural takes an s."""
    plural = 'es' if noun.endswith('s') else 's'
    return f'{count:,} {noun}{"" if count == 1 else plural}'
