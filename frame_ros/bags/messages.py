# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Serialised messages (CDR) made of plain values, without ROS."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from frame_ros.bags.cdr import ARRAY, BASE, NAME, SIZES
from frame_ros.bags.definitions import find_definition, typestore_of
from frame_ros.core.errors import BagError
from frame_ros.core.time import SECOND

TIMES = ('builtin_interfaces/msg/Time', 'builtin_interfaces/msg/Duration')


class MessageMaker:
    """Makes messages of one type.

    Args:
        message_type: such as 'sensor_msgs/msg/JointState'.

    Attributes:
        definition: as a bag stores it.
    """

    def __init__(self, message_type: str) -> None:
        """Raises BagError: the type has no definition here."""
        self.definition = find_definition(message_type)
        self._store = typestore_of(message_type, self.definition.text)

    def data(self, **values: Any) -> bytes:
        """Returns a message as CDR.

        Args:
            values: fields; what is not given is 0, False, '' or empty. A message in it is a
                mapping of its fields, or these in order, such as (3,) of a Point; a time is ns.

        Raises:
            BagError: the type has no such field.
        """
        name = self.definition.message_type
        return bytes(self._store.serialize_cdr(self._message(name, values), name))

    def _message(self, name: str, given: Any) -> Any:
        fields = dict(self._store.fielddefs[name][1])
        if name in TIMES and isinstance(given, int):
            given = divmod(given, SECOND)
        if not isinstance(given, Mapping):
            given = dict(zip(fields, given, strict=True))
        if unknown := sorted(given.keys() - fields.keys()):
            raise BagError(f'{name} has no field {unknown[0]}; it has {", ".join(fields)}')
        made = {field: self._value(kind, given.get(field)) for field, kind in fields.items()}
        return self._store.types[name](**made)

    def _value(self, kind: Any, given: Any) -> Any:
        """kind: of a field, as rosbags describes it. given: None: nothing."""
        node, detail = kind
        if node == BASE:
            return _single(detail[0], given)
        if node == NAME:
            return self._message(detail, {} if given is None else given)
        (node_of_element, element), count = detail
        if given is None:
            given = [None] * (count if node == ARRAY else 0)
        if node_of_element == NAME:
            return [self._message(element, {} if each is None else each) for each in given]
        if element[0] not in SIZES:
            return [_single(element[0], each) for each in given]
        given = [0 if each is None else each for each in given] if type(given) is list else given
        return np.ascontiguousarray(np.ravel(given), SIZES[element[0]])


def _single(kind: str, given: Any) -> Any:
    if kind.endswith('string'):
        return '' if given is None else str(given)
    if kind == 'bool':
        return bool(given)
    return float(given or 0) if kind.startswith('float') else int(given or 0)
