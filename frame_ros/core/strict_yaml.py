# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""YAML with fewer surprises: a repeated key is an error, and 1e-3 is a number.

Nesting is limited, and so are the values that aliases repeat.
"""

from __future__ import annotations

import re
from typing import Any

import yaml

from frame_ros.core.input_files import (
    CHARACTERS_PER_VALUE,
    NESTING,
    YAML_VALUES,
    limits_factor,
    valid_text,
)

_EXPONENT = re.compile(r'[-+]?[0-9]+(?:\.[0-9]*)?[eE][-+]?[0-9]+$')
# Digits of a number: nobody writes longer ones, and they take long to convert.
_LONGEST_NUMBER = 400


class StrictLoader(yaml.SafeLoader):
    """Refuses repeated keys, of which YAML silently takes the last, and documents that exceed the
    limits of nesting and values.
    """

    def __init__(self, stream: Any) -> None:
        # A long document, such as a file of many scenes, has many values without any alias.
        length = len(stream) if isinstance(stream, (str, bytes)) else 0
        most = int(length / CHARACTERS_PER_VALUE * limits_factor())
        self._most_values = max(YAML_VALUES.now, most)
        self._deepest = NESTING.now
        self._depth = 0
        self._values = 0
        super().__init__(stream)
        # The number of values that each node stands for.
        self._sizes: dict[int, int] = {}

    def fetch_flow_collection_start(self, token_class: Any) -> None:
        """Raises ScannerError for too many brackets, at each of which the scanner looks far
        ahead.
        """
        self._check_level(self.flow_level)
        super().fetch_flow_collection_start(token_class)

    def add_indent(self, column: int) -> bool:
        """Raises ScannerError for too many levels of indentation."""
        self._check_level(len(self.indents))
        return bool(super().add_indent(column))

    def _check_level(self, level: int) -> None:
        if level > self._deepest:
            text = f'it is nested {NESTING.excess(level)}'
            raise yaml.scanner.ScannerError(None, None, text, self.get_mark())

    def compose_node(self, parent: Any, index: Any) -> Any:
        """Raises ComposerError for too deep nesting or too many values."""
        mark = self.peek_event().start_mark
        self._depth += 1
        if self._depth > self._deepest:
            raise _composer_error(f'it is nested {NESTING.excess(self._depth)}', mark)
        is_alias = self.check_event(yaml.AliasEvent)
        node = super().compose_node(parent, index)
        self._depth -= 1
        if is_alias and id(node) not in self._sizes:
            raise _composer_error('an alias refers to a node that contains it', mark)
        if not is_alias:
            self._values += 1
            self._sizes[id(node)] = 1 + sum(map(self._size, _parts(node)))
        most = max(self._values, self._sizes[id(node)])
        if most > self._most_values:
            raise _composer_error(f'it has {YAML_VALUES.excess(most)}', mark)
        return node

    def construct_mapping(self, node: Any, deep: bool = False) -> dict[Any, Any]:
        """Raises ConstructorError for a repeated key."""
        keys = set()
        for part, _ in node.value:
            if part.tag == 'tag:yaml.org,2002:merge':
                continue  # the base puts in what it names
            key = self.construct_object(part, deep=True)
            if isinstance(key, (list, dict, set)):
                continue  # refused by the base, which names the place
            if key in keys:
                raise yaml.constructor.ConstructorError(
                    None, None, f'{key!r} is given twice', node.start_mark
                )
            keys.add(key)
        return super().construct_mapping(node, deep)

    def construct_scalar(self, node: Any) -> Any:
        """Raises ConstructorError for too long a number; passes text through `valid_text`."""
        if node.tag.endswith((':int', ':float')) and len(node.value) > _LONGEST_NUMBER:
            raise yaml.constructor.ConstructorError(
                None, None, f'a number of {len(node.value)} characters', node.start_mark
            )
        return valid_text(super().construct_scalar(node))

    def _size(self, node: Any) -> int:
        return self._sizes.get(id(node), 1)


# YAML 1.1, as PyYAML reads it, has no number without a point before the exponent; JSON, YAML 1.2
# and ROS's own reader of parameters have.
StrictLoader.add_implicit_resolver('tag:yaml.org,2002:float', _EXPONENT, list('-+0123456789'))


def load_yaml(text: str) -> Any:
    """Returns the content of a YAML document.

    Raises:
        yaml.YAMLError: it is not YAML, repeats a key, is nested too deep, or has too many values.
    """
    try:
        return yaml.load(text, Loader=StrictLoader)
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        # PyYAML's own constructors raise these for a value that its tag does not allow.
        raise yaml.YAMLError(f'a value cannot be read: {error}') from error


def yaml_problem(error: yaml.YAMLError) -> str:
    """Returns the cause in one line, with its position if known."""
    mark = getattr(error, 'problem_mark', None)
    text = getattr(error, 'problem', None) or str(error).partition('\n')[0]
    return f'line {mark.line + 1}: {text}' if mark is not None else text


def _parts(node: Any) -> list[Any]:
    """Returns the direct children of a node."""
    if isinstance(node, yaml.MappingNode):
        return [part for pair in node.value for part in pair]
    return list(node.value) if isinstance(node, yaml.SequenceNode) else []


def _composer_error(text: str, mark: Any) -> yaml.YAMLError:
    return yaml.composer.ComposerError(None, None, text, mark)
