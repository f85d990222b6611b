# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Texts for people: of others, such as names in a bag, as a terminal shows them without acting on
them, and numbers of things.
"""

from __future__ import annotations

import unicodedata

# Control characters, invisible ones that format (also those that turn the direction of writing),
# ends of lines and paragraphs, and halves of a character.
ACTING = ('Cc', 'Cf', 'Zl', 'Zp', 'Cs')


def plain(text: str) -> str:
    """Returns a text in one line, with what a terminal would act on as an escape, such as \\n."""
    if text.isprintable():
        return text
    return ''.join(
        each.encode('unicode_escape').decode() if unicodedata.category(each) in ACTING else each
        for each in text
    )


def counted(count: int, noun: str) -> str:
    """Returns '1 episode', '2,000 episodes', '2 successes'; the noun's plural takes an s."""
    plural = 'es' if noun.endswith('s') else 's'
    return f'{count:,} {noun}{"" if count == 1 else plural}'
