# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Objects of attrs classes from the plain content of a file, checked by their type hints."""

from __future__ import annotations

import types
from collections.abc import Mapping
from typing import Any, TypeVar, Union, get_args, get_origin

import attrs

from frame_ros.core.errors import SetupError
from frame_ros.core.options import check_names

Kind = TypeVar('Kind', bound=attrs.AttrsInstance)
SCALARS = (bool, int, float, str)
# Metadata of a field that is not written while it has its default.
LEFT_OUT = {'frame_ros.is_left_out': True}


def structured(kind: type[Kind], content: Any, where: str = '') -> Kind:
    """Builds an object of an attrs class from a mapping of its fields, classes within it likewise.

    where: the place of the mapping in the file, for errors, such as 'gripper'; '': the top.

    Raises:
        SetupError: a field is not known, missing, or of another type than its hint.
    """
    if not isinstance(content, Mapping):
        raise SetupError(f'{where or "the file"} must be a map of names to values, not {content!r}')
    fields = {field.name: field for field in attrs.fields(attrs.resolve_types(kind)) if field.init}
    check_names(map(str, content), fields, f'field{where and " of "}{where}')
    for name, field in fields.items():
        if field.default is attrs.NOTHING and name not in content:
            raise SetupError(f'{_under(where, name)} is missing')
    values = {name: _value(fields[name].type, part, _under(where, name))
              for name, part in content.items()}  # fmt: skip
    try:
        return kind(**values)
    except ValueError as error:  # of a validator of attrs
        raise SetupError(f'{where or kind.__name__}: {error.args[0]}') from error


def unstructured(value: Any) -> Any:
    """Returns the plain content, as a JSON file holds it, of an object that `structured` builds."""
    if attrs.has(type(value)):
        fields = attrs.fields(type(value))
        parts = [(field, getattr(value, field.name)) for field in fields]
        return {
            field.name: unstructured(part)
            for field, part in parts
            if not (field.metadata == LEFT_OUT and part == field.default)
        }
    if isinstance(value, Mapping):
        return {name: unstructured(part) for name, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [unstructured(part) for part in value]
    # Arrays, without NumPy: profiles are read where it is not imported.
    return value.tolist() if hasattr(value, 'tolist') else value


def _under(where: str, name: str) -> str:
    return f'{where}.{name}' if where else name


def _value(hint: Any, content: Any, where: str) -> Any:
    origin, parts = get_origin(hint), get_args(hint)
    if hint is Any:
        return content
    if attrs.has(hint):
        return structured(hint, content, where)
    if origin in (Union, types.UnionType):
        if content is None and type(None) in parts:
            return None
        return _value(next(part for part in parts if part is not type(None)), content, where)
    if origin is tuple:
        return _sequence(parts, content, where)
    if isinstance(origin, type) and issubclass(origin, Mapping):
        if not isinstance(content, Mapping) or not all(isinstance(name, str) for name in content):
            raise SetupError(f'{where} must be a map of names to values, not {content!r}')
        return {n: _value(parts[1], part, _under(where, n)) for n, part in content.items()}
    return _scalar(hint, content, where)


def _sequence(parts: tuple[Any, ...], content: Any, where: str) -> tuple[Any, ...]:
    is_any_length = parts[-1] is Ellipsis
    if not isinstance(content, list) or not (is_any_length or len(content) == len(parts)):
        count = '' if is_any_length else f' of {len(parts)}'
        raise SetupError(f'{where} must be a list{count}, not {content!r}')
    hints = [parts[0]] * len(content) if is_any_length else parts
    return tuple(
        _value(hint, part, f'{where}[{index}]')
        for index, (hint, part) in enumerate(zip(hints, content, strict=True))
    )


def _scalar(hint: Any, content: Any, where: str) -> Any:
    if hint is float and type(content) is int:
        try:
            return float(content)
        except OverflowError:
            raise SetupError(f'{where} is too large a number') from None
    if hint in SCALARS and type(content) is not hint:
        raise SetupError(f'{where} must be a {hint.__name__}, not {content!r}')
    return content
