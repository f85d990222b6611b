# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""YAML as people write it: a key given twice is an error, and 1e-3 is a number."""

from __future__ import annotations

import re
from typing import Any

import yaml

_EXPONENT = re.compile(r'[-+]?[0-9]+(?:\.[0-9]*)?[eE][-+]?[0-9]+$')


class StrictLoader(yaml.SafeLoader):
    """Refuses a key that is given twice, where YAML takes the last one silently."""

    def construct_mapping(self, node: Any, deep: bool = False) -> dict[Any, Any]:
        """Raises ConstructorError for a repeated key."""
        keys = [self.construct_object(key, deep=True) for key, _ in node.value]
        for index, key in enumerate(keys):
            if key in keys[:index]:
                raise yaml.constructor.ConstructorError(
                    None, None, f'{key!r} is given twice', node.start_mark
                )
        return super().construct_mapping(node, deep)


# YAML 1.1, as PyYAML reads it, has no number without a point before the exponent; JSON, YAML 1.2
# and ROS's own reader of parameters have.
StrictLoader.add_implicit_resolver('tag:yaml.org,2002:float', _EXPONENT, list('-+0123456789'))


def load_yaml(text: str) -> Any:
    """The content of a YAML document.

    Raises:
        yaml.YAMLError: it is none, or gives a key twice.
    """
    return yaml.load(text, Loader=StrictLoader)
