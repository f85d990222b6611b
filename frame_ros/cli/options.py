# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""NAME=VALUE arguments, as the commands that make a policy take them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from frame_ros.core.errors import ValueRangeError


def parse_options(texts: Sequence[str], option: str = '--option') -> dict[str, Any]:
    """NAME=VALUE texts -> name: value; a value that is no JSON is text. option: what took them.

    Raises:
        ValueRangeError: a text of another form, or a name given twice.
    """
    options: dict[str, Any] = {}
    for text in texts:
        name, sign, value = text.partition('=')
        name = name.strip().replace('-', '_')
        if not name or not sign or name in options:
            raise ValueRangeError(f'{option} {text!r} must be NAME=VALUE, each name once')
        try:
            options[name] = json.loads(value)
        except ValueError:
            options[name] = value
    return options
