# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Declared options as texts: of launch files, and of command lines."""

from __future__ import annotations

import argparse
import re
import typing
from collections.abc import Collection, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeVar

import yaml

from frame_ros.core.errors import SetupError
from frame_ros.core.input_files import missing_file, names_file, read_text
from frame_ros.core.name_values import decoded
from frame_ros.core.options import Option, OptionError, changed, check_names, walk
from frame_ros.core.strict_yaml import load_yaml

Made = TypeVar('Made')
BOOLEANS = {'true': True, 'false': False, 'True': True, 'False': False}
EXAMPLES = {float: '[1.0, 0.5]', int: '[1, 2]', str: '[front, wrist]', bool: '[true, false]'}


def from_texts(kind: Any, texts: Mapping[str, str]) -> Any:
    """Options from a text per dotted name; those that are not given have their defaults.

    kind: as of `add_options`.

    Raises:
        SetupError: a text is not of its option's type, or no option has the name.
    """
    declared = {option.name: option for option in walk(kind)}
    check_names(texts, declared)
    made = kind() if isinstance(kind, type) else kind
    return changed(made, {name: parse(declared[name], text) for name, text in texts.items()})


def parse(option: Option, text: str) -> Any:
    """The value that a text stands for; lists and mappings are YAML, the latter or a file of it.

    Raises:
        SetupError: it is not of the type of the option.
    """
    if option.is_mapping:
        return parse_mapping(option.name, text)
    if option.is_list:
        return parse_list(option.name, text, option.item)
    if option.item is str:
        return text
    if option.item is bool:
        return BOOLEANS.get(text, text)
    try:
        return option.item(text)
    except ValueError:
        return text  # refused with the option's own message


def parse_list(name: str, text: str, kind: type) -> tuple[Any, ...]:
    """A YAML list, such as '[front, wrist]', of texts or numbers; one of them alone is a list too.

    Raises:
        SetupError: it is no such list.
    """
    content = _load(name, text)
    items = content if isinstance(content, list) else [] if content is None else [content]
    if kind is float:
        items = [float(item) if type(item) is int else item for item in items]
    is_separated = content is not items and isinstance(content, str) and set(content) & set(',;')
    if is_separated or not all(type(item) is kind for item in items):
        raise SetupError(f'{name} must be a YAML list such as {EXAMPLES[kind]}, not {text!r}')
    return tuple(items)


def parse_mapping(name: str, text: str) -> dict[str, Any]:
    """A YAML mapping, such as '{url: ws://127.0.0.1:8000}', or a YAML file that holds one.

    Raises:
        SetupError: it is neither.
    """
    content = _load(name, text)
    where = ''
    if isinstance(content, str) and names_file(content):
        where = f' of the file {content}'
        content = _load(name + where, _content_of(name, content))
    if content is None:
        return {}
    if not isinstance(content, dict) or not all(isinstance(key, str) for key in content):
        missing = missing_file(content) if isinstance(content, str) else ''
        raise SetupError(
            f'{name}{where} must be a YAML mapping such as {{name: value, other: [1, 2]}}, or a '
            f'YAML file that holds one, not {text!r}' + (f': {missing}' if missing else '')
        )
    return content


def text_of(value: Any) -> str:
    """The text that `parse` reads back."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, (Mapping, tuple)):
        plain = dict(value) if isinstance(value, Mapping) else list(value)
        return yaml.safe_dump(plain, default_flow_style=True, width=10_000, sort_keys=False).strip()
    return str(value)


def add_options(
    parser: argparse._ActionsContainer,
    kind: Any,
    without: Collection[str] = (),
    names: Mapping[str, str] = MappingProxyType({}),
) -> None:
    """Adds an argument per option: --limits.velocity-scale of limits.velocity_scale, --shared of
    is_shared. A bool that is true by default is a pair, --record and --no-record; the items of a
    list have commas between them; a mapping is NAME=VALUE, given again for each name.

    Args:
        kind: a class made by `options`, or an object of one, whose values are the defaults.
        without: names, or groups, that get no argument.
        names: option -> its argument, where it is called otherwise: --option of policy_options.
    """
    for option in walk(kind):
        if option.name in without or option.name.partition('.')[0] in without:
            continue
        flag = names.get(option.name) or flag_of(option.name)
        text, _, default = option.help.partition('; none: ')
        shown = f'{text}{_details(option, flag, default)}'.replace('%', '%%')
        form = _form(option, flag)
        parser.add_argument(flag, dest=option.name, default=argparse.SUPPRESS, help=shown, **form)


def flag_of(name: str) -> str:
    """The argument of an option on a command line."""
    *groups, last = name.split('.')
    return '--' + '.'.join([*groups, re.sub('^(is|has)_', '', last)]).replace('_', '-')


def from_arguments(kind: Any, arguments: argparse.Namespace) -> Any:
    """Options from what a parser with `add_options` has read; further arguments are left alone.

    kind: as of `add_options`.

    Raises:
        OptionError: several options contradict each other.
    """
    made = kind() if isinstance(kind, type) else kind
    names = {option.name for option in walk(made)}
    given = {name: value for name, value in vars(arguments).items() if name in names}
    return changed(made, given)


def _form(option: Option, flag: str) -> dict[str, Any]:
    """Returns what argparse is to know of an option besides its name."""
    if option.kind is bool:
        return {'action': argparse.BooleanOptionalAction if option.default else 'store_true'}
    if option.is_mapping:
        reader = {'type': partial(_read_pair, option, flag)}
        return reader | {'action': _AddPair, 'metavar': 'NAME=VALUE'}
    reader = {'type': partial(_read, option, flag)}
    if option.choices and not option.is_list:
        return reader | {'choices': [value for value in option.choices if value != '']}
    metavar = re.split('[._]', option.name)[-1].upper()
    return reader | {'metavar': 'A,B,...' if option.is_list else metavar}


def _read(option: Option, flag: str, text: str) -> Any:
    """The value of an argument. An empty text is one only where it is not the same as none.

    Raises:
        SetupError: it is not of the type of the option, or out of range.
    """
    try:
        if option.is_list:
            item = replace(option, kind=option.item)
            parts = [part.strip() for part in _without_brackets(option, text).split(',')]
            value: Any = [parse(item, part) for part in parts if part]
        else:
            value = parse(option, text)
        is_empty = not text.strip(' ,') and (option.is_list or option.kind is str)
        found = option.checked(value)
    except OptionError as error:
        raise SetupError(f'{flag} {error.problem}') from None
    if is_empty:
        raise SetupError(f'{flag} is empty')
    return found


def _without_brackets(option: Option, text: str) -> str:
    """A list of numbers may be written as YAML does: [1, 2] as 1,2."""
    bare = text.strip()
    is_bracketed = option.item in (int, float) and bare[:1] == '[' and bare[-1:] == ']'
    return bare[1:-1] if is_bracketed else text


def _read_pair(option: Option, flag: str, text: str) -> tuple[str, Any]:
    """A name and its value, of the type of the mapping's values; of any type: JSON or text."""
    name, _, value = (part.strip() for part in text.partition('='))
    if not (name and value):
        raise SetupError(f'{flag} is {text!r}; it must be NAME=VALUE')
    kind = typing.get_args(option.item)[-1]
    if kind is Any:
        return name.replace('-', '_'), decoded(value)
    item = replace(option, kind=kind)
    try:
        return name, item.checked(parse(item, value))
    except OptionError as error:
        raise SetupError(f'{flag} {name} {error.problem}') from None


class _AddPair(argparse.Action):
    """Adds a name and its value to a mapping."""

    def __call__(self, _: Any, arguments: argparse.Namespace, pair: Any, flag: Any = None) -> None:
        pairs = getattr(arguments, self.dest, {})
        if pair[0] in pairs:
            raise SetupError(f'{flag} gives {pair[0]} twice')
        setattr(arguments, self.dest, {**pairs, pair[0]: pair[1]})


def _details(option: Option, flag: str, if_none: str) -> str:
    """Range, unit and default, in brackets."""
    value = option.default
    if option.kind is bool:
        return f' (default: {flag})' if value else ''
    items = value if isinstance(value, tuple) else [] if value in (None, '', {}) else [value]
    default = ','.join(f'{v:g}' if isinstance(v, float) else str(v) for v in items)
    allowed = option.unit if option.choices else option.range or option.unit
    default = f'default: {default or if_none or "none"}'
    return f' ({allowed}; {default})' if allowed else f' ({default})'


def _content_of(name: str, path: str) -> str:
    try:
        return read_text(Path(path).expanduser())
    except (OSError, UnicodeDecodeError) as error:
        raise SetupError(f'{name}: the file {path} cannot be read: {error}') from error


def _load(name: str, text: str) -> Any:
    try:
        return load_yaml(text)
    except yaml.YAMLError as error:
        problem = ' '.join(str(error).split())
        raise SetupError(f'{name} is no YAML: {problem}') from None
