# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Defaults of parameters that a page quotes, as in `streams.frozen_time` (0.3 s), are those of the
declarations.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from markdown_blocks import PAGES, ROOT

from frame_ros.bringup.declared_nodes import node_names, parameters_of

SIZES = {
    'ms': 1e-3, 'mm': 1e-3, 'cm': 1e-2, '%': 1e-2, 'g': 1e-3, 'MiB': 2.0**20,
    **dict.fromkeys(('', 's', 'm', 'N', 'N m', 'rad', 'Hz', 'kg', 'rad/s'), 1.0),
}  # fmt: skip
QUOTED = re.compile(
    r'`(?P<name>[a-z_.]+[._][a-z_]+)`[^`.;|()]{0,12}\((?:default:? |by default |is )?'
    rf'(?P<number>\d+(?:[.,]\d+)?)\s?(?P<unit>{"|".join(filter(None, SIZES))})?(?=[\s;,)])'
)


def defaults_of(name: str) -> list[float]:
    """The numbers that parameters of this name, or of its end, have by default in any node."""
    return [
        option.default
        for node in node_names()
        for dotted, option in parameters_of(node).items()
        if f'.{dotted}'.endswith(f'.{name}') and type(option.default) in (int, float)
    ]


def quoted() -> Iterator[tuple[str, str, float]]:
    """Place, name and value, in SI, of every default that a page quotes."""
    for page in PAGES:
        text = page.read_text(encoding='utf-8')
        for found in QUOTED.finditer(text):
            if defaults_of(found['name']):
                line = text.count('\n', 0, found.start()) + 1
                number = float(found['number'].replace(',', ''))
                value = number * SIZES[found['unit'] or '']
                yield f'{page.relative_to(ROOT)}:{line}', found['name'], value


FOUND = list(quoted())


def test_pages_quote_defaults():
    assert len(FOUND) >= 20


@pytest.mark.parametrize(('place', 'name', 'value'), FOUND, ids=lambda each: str(each))
def test_a_quoted_default_is_that_of_the_declaration(place, name, value):
    assert any(value == pytest.approx(default, rel=1e-9) for default in defaults_of(name))
