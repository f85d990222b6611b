# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Bags from before frame_ros's messages had all their fields, which are then 'unknown'."""

from __future__ import annotations

from typing import Any

import numpy as np

from frame_ros.bags.cdr import ARRAY, BASE, NAME, SIZES
from frame_ros.bags.definitions import find_definition, known_types, typestore_of

OWN_PACKAGE = 'frame_ros/'


def conflict_with_known(message_type: str, types: dict[str, Any]) -> str:
    """Returns how a bag's definition of a type conflicts with that of an installed package; '' if
    not. A field of another type conflicts; so does a missing one, except in frame_ros's own
    messages, which gain fields.
    """
    known = known_types(message_type)
    for name in known.keys() & types.keys():
        own = dict(types[name][1])
        for field, kind in known[name][1]:
            if field in own and own[field] != kind:
                return f'{name} has another type of {field!r} in the bag than in its package'
            if field not in own and not name.startswith(OWN_PACKAGE):
                return f'{name} has no {field!r} in the bag'
    return ''


def filled_typestore(message_type: str, text: str, encoding: str) -> tuple[Any, list[str]]:
    """Returns a rosbags typestore with one stored definition's types, extended by missing fields.

    These are those of the installed types, returned as 'package/msg/Name.field'; messages of the
    store have them: NaN, 0, false, '' or empty.

    Raises:
        BagError: the text is not a message definition.
        MissingExtraError: rosbags is not installed.
    """
    store = typestore_of(message_type, text, encoding)
    known = known_types(message_type)
    missing = []
    for name in sorted(known.keys() & store.fielddefs.keys()):
        own = dict(store.fielddefs[name][1])
        for field, kind in known[name][1]:
            if field not in own:
                # The class of the messages provides what they lack themselves.
                setattr(store.types[name], field, _unknown(kind, message_type, known))
                missing.append(f'{name}.{field}')
    return store, missing


def _unknown(kind: Any, message_type: str, known: dict[str, Any]) -> Any:
    """Returns the value of a field that was not recorded. kind: as rosbags describes it."""
    node, detail = kind
    if node == BASE:
        return _unknown_number(detail[0])
    if node == NAME:
        fields = {name: _unknown(part, message_type, known) for name, part in known[detail][1]}
        return _known_class(message_type, detail)(**fields)
    element, count = detail
    number = count if node == ARRAY else 0
    code = SIZES.get(element[1][0]) if element[0] == BASE else None
    if code is None:
        return [_unknown(element, message_type, known) for _ in range(number)]
    values = np.full(number, _unknown_number(element[1][0]), code)
    values.flags.writeable = False
    return values


def _unknown_number(kind: str) -> float | int | bool | str:
    if kind.startswith('float'):
        return float('nan')
    if kind == 'bool':
        return False
    return '' if 'string' in kind else 0


def _known_class(message_type: str, name: str) -> Any:
    return typestore_of(message_type, find_definition(message_type).text).types[name]
