# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Options declared once: name, type, default, unit, range or choices, description, and when they
can be changed. ROS parameters, files of parameters, command lines and reference pages are derived
from the declaration.

    @options
    class LimitOptions:
        '''Limits of every command.'''

        step: float = option(0.35, 'largest step of a joint', unit='rad', above=0.0, live=True)

    @options
    class GateOptions:
        '''The command gate.'''

        rate: float = option(50.0, 'rate of the watchdogs', unit='Hz', at_least=1.0)
        limits: LimitOptions = group(LimitOptions)  # limits.step

        @rule('limits.step', 'at most 1 rad below 10 Hz')
        def _is_smooth(self) -> bool:
            return self.rate >= 10.0 or self.limits.step <= 1.0
"""

from __future__ import annotations

import difflib
import math
import typing
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import cycle
from typing import TYPE_CHECKING, Any, TypeVar

import attrs

from frame_ros.core.errors import SetupError, ValueRangeError

if TYPE_CHECKING:
    from typing_extensions import dataclass_transform
else:  # only type checkers need it, and Python 3.10 does not have it

    def dataclass_transform(**_: Any) -> Callable[[Any], Any]:
        return lambda function: function


Made = TypeVar('Made')
Method = TypeVar('Method', bound=Callable[[Any], bool])

KINDS = {bool: 'true or false', int: 'a whole number', float: 'a number', str: 'a text'}
MANY = {bool: 'true or false', int: 'whole numbers', float: 'numbers', str: 'texts'}
NONE = type(None)
INT64 = range(-(2**63), 2**63)
# When a value can be changed: by a restart only; at any time; at any time, to at most the value the
# node was started with; while a managed node is not configured.
FIXED, LIVE, DOWNWARDS, UNCONFIGURED = '', 'live', 'downwards', 'unconfigured'


class OptionError(SetupError, ValueRangeError):
    """An option has a value that cannot be, or no option has the name.

    Attributes:
        name: the option, dotted where it is in a group.
        problem: the rest of the sentence that begins with the name.
    """

    def __init__(self, name: str, problem: str) -> None:
        super().__init__(f'{name} {problem}')
        self.name, self.problem = name, problem


@dataclass(frozen=True)
class Option:
    """One declared option.

    Attributes:
        name: of the option, dotted where it is in a group.
        kind: bool, int, float, str, a tuple of one of them, or a mapping; `| None` where there may
            be no value.
        default: its value unless another is given.
        text: meaning, in one line.
        unit: SI symbol; '': none, or no number.
        above, at_least, below, at_most: range of the number, or of each number of a list.
        besides: values outside the range that are allowed, with a meaning of their own; of a limit
            that is live DOWNWARDS: none.
        choices: all values it can have; of a list: all that its elements can be.
        known: names that it can be, among other values; in every help, not in files, which would
            change with each.
        lengths: numbers of elements that a list can have; empty: any.
        is_finite: whether an infinite number is refused.
        live: FIXED, LIVE, DOWNWARDS or UNCONFIGURED.
        group: first paragraph of the docstring of the class that declares it.
    """

    name: str
    kind: Any
    default: Any
    text: str
    unit: str = ''
    above: float | None = None
    at_least: float | None = None
    below: float | None = None
    at_most: float | None = None
    besides: tuple[Any, ...] = ()
    choices: tuple[Any, ...] = ()
    known: tuple[str, ...] = ()
    lengths: tuple[int, ...] = ()
    is_finite: bool = True
    live: str = FIXED
    group: str = ''

    @property
    def help(self) -> str:
        """The meaning, with the names that are known."""
        return f'{self.text} (known: {", ".join(self.known)})' if self.known else self.text

    @property
    def is_list(self) -> bool:
        """True if the value is a tuple."""
        return typing.get_origin(self._present) is tuple

    @property
    def is_mapping(self) -> bool:
        """True if the value is a mapping."""
        return not self.is_list and self.item not in KINDS

    @property
    def item(self) -> Any:
        """Type of the value, or of each element of a list."""
        return typing.get_args(self._present)[0] if self.is_list else self._present

    @property
    def _present(self) -> Any:
        """Type of the value where there is one."""
        kinds = typing.get_args(self.kind)
        return next(k for k in kinds if k is not NONE) if NONE in kinds else self.kind

    @property
    def expected(self) -> str:
        """In words, what the value must be."""
        besides = [_shown(value) for value in self.besides]
        if self.is_list:
            number = ' or '.join(map(str, self.lengths)) or 'a list of'
            single = self.lengths == (1,)
            kind = KINDS[self.item].partition(' ')[2] if single else MANY[self.item]
            each = ', or '.join([*besides, self.range]) if self.range else ''
            return f'{number} {kind}' + (f', each {each}' if each else '')
        text = 'a mapping' if self.is_mapping else self.range or KINDS[self.item]
        return ', or '.join([*besides, text])

    @property
    def range(self) -> str:
        """The choices, or the range with its unit, in words; '': there is none."""
        if self.choices:
            *others, last = map(_shown, self.choices)
            return f'{", ".join(others)} or {last}' if others else last
        unit = f' {self.unit}' if self.unit else ''
        if self.at_least is not None and self.at_most is not None:
            return f'{self.at_least:g} to {self.at_most:g}{unit}'
        bounds = {
            'above': self.above,
            'at least': self.at_least,
            'below': self.below,
            'at most': self.at_most,
        }
        texts = [f'{word} {bound:g}' for word, bound in bounds.items() if bound is not None]
        return ' and '.join(texts) + unit if texts else ''

    def checked(self, value: Any) -> Any:
        """`value` as the type of the option: whole numbers become decimal ones, lists tuples.

        Raises:
            OptionError: it is of another type, or out of range.
        """
        if value is None and NONE in typing.get_args(self.kind):
            return None
        if self.is_list:
            items = list(value) if isinstance(value, (list, tuple)) else None
            if items is not None and (not self.lengths or len(items) in self.lengths):
                found = tuple(map(self._item, items))
                if all(map(self._is_allowed, found)):
                    return found
        elif self.is_mapping:
            kind = typing.get_origin(self._present) or self._present
            if not isinstance(kind, type) or isinstance(value, kind):
                return value
        elif self._is_allowed(found := self._item(value)):
            return found
        raise OptionError(self.name, f'is {_written(value)}; it must be {self._kind_of(value)}')

    def is_above(self, most: Any) -> bool:
        """Returns whether the default, or one of a list, is above `most`, a value or a list."""
        values, bounds = (v if self.is_list else (v,) for v in (self.default, most))
        pairs = zip(range(max(len(values), len(bounds))), cycle(values), cycle(bounds))
        return any(self._height(value) > self._height(bound) for _, value, bound in pairs)

    def _height(self, value: float) -> float:
        return math.inf if value in self.besides else value

    def _kind_of(self, value: Any) -> str:
        """Returns the requirement on the value, with its type if it has another."""
        if self.is_finite and isinstance(value, float) and not math.isfinite(value):
            return 'a finite number' + (f', {self.expected}' if self.range else '')
        is_typed = self.is_list or self.is_mapping or self._has_type(self._item(value))
        has_words = not self.range or self.choices
        return self.expected if is_typed or has_words else f'{KINDS[self.item]}, {self.expected}'

    def _has_type(self, value: Any) -> bool:
        return isinstance(value, self.item) and (self.item is bool or not isinstance(value, bool))

    def _item(self, value: Any) -> Any:
        """A whole number as a decimal one; true and false as the words, where these are choices."""
        if self.item is float and type(value) is int:
            return float(value)
        if self.item is str and isinstance(value, bool) and str(value).lower() in self.choices:
            return str(value).lower()
        return value

    def _is_allowed(self, value: Any) -> bool:
        kind = self.item
        if not self._has_type(value):
            return False
        if value in self.besides:
            return True
        if self.choices:
            return value in self.choices
        if kind is int and value not in INT64:
            return False
        return kind in (bool, str) or (self._is_within(value) and self._is_number(value))

    def _is_number(self, value: float) -> bool:
        return math.isfinite(value) or (not self.is_finite and not math.isnan(value))

    def _is_within(self, value: float) -> bool:
        return (
            (self.above is None or value > self.above)
            and (self.at_least is None or value >= self.at_least)
            and (self.below is None or value < self.below)
            and (self.at_most is None or value <= self.at_most)
        )


def option(
    default: Any,
    text: str,
    *,
    unit: str = '',
    above: float | None = None,
    at_least: float | None = None,
    below: float | None = None,
    at_most: float | None = None,
    besides: Iterable[Any] = (),
    choices: Iterable[Any] = (),
    known: Iterable[str] = (),
    lengths: Iterable[int] = (),
    is_finite: bool = True,
    live: str | bool = FIXED,
) -> Any:
    """Declares an option in a class made by `options`; arguments as the attributes of `Option`.

    live: True stands for LIVE.
    """
    declared = Option(
        '', None, default, text, unit, above, at_least, below, at_most, tuple(besides),
        tuple(choices), tuple(known), tuple(lengths), is_finite,
        LIVE if live is True else live or FIXED,
    )  # fmt: skip
    if isinstance(default, dict):
        return attrs.field(factory=lambda: dict(default), metadata={Option: declared})
    return attrs.field(default=default, metadata={Option: declared})


def group(kind: Callable[..., Made], **defaults: Any) -> Made:
    """Declares a group of options: another class made by `options`.

    defaults: of its options, where they differ from those of the class.
    """
    found: Made = attrs.field(factory=lambda: kind(**defaults), metadata={'group': kind})
    return found


def rule(name: str, expected: str) -> Callable[[Method], Method]:
    """Declares a condition on several options: a method that returns whether it is met.

    name: dotted name of the option that the error names. expected: what it must be, with attributes
    of the object in braces, such as '{self.limits.step:g}'.
    """

    def mark(method: Method) -> Method:
        method.rule = name, expected  # type: ignore[attr-defined]
        return method

    return mark


@dataclass_transform(frozen_default=True)
def options(kind: type[Made]) -> type[Made]:
    """Makes a class of options: frozen, compared by value, and checked when it is made.

    Raises:
        OptionError: when an object of the class is made with a value that cannot be.
    """
    kind.__attrs_post_init__ = _check  # type: ignore[attr-defined]
    made: Any = attrs.frozen(kind, slots=False)
    attrs.resolve_types(made)
    return typing.cast(type[Made], made)


def _check(made: Any) -> None:
    for declared in _own(type(made)):
        value = getattr(made, declared.name)
        object.__setattr__(made, declared.name, declared.checked(value))
    for method in (getattr(type(made), name) for name in dir(type(made))):
        if hasattr(method, 'rule') and not method(made):
            name, expected = method.rule
            value = _written(_reached(made, name))
            raise OptionError(name, f'is {value}; it must be {expected.format(self=made)}')


def _own(kind: type) -> Iterator[Option]:
    """The options of a class, without those of its groups."""
    about = (kind.__doc__ or '').strip().partition('\n\n')[0]
    for field in attrs.fields(kind):
        if declared := field.metadata.get(Option):
            found = declared() if callable(declared) else declared  # of another class
            yield replace(found, name=field.name, kind=field.type, group=' '.join(about.split()))


def walk(kind: Any) -> list[Option]:
    """All options of a class made by `options`, or of an object of one, in the order in which they
    are declared, those of groups with dotted names and the defaults that hold in the group.
    """
    made = kind() if isinstance(kind, type) else kind
    own = {declared.name: declared for declared in _own(type(made))}
    found = []
    for field in attrs.fields(type(made)):
        value = getattr(made, field.name)
        if field.name in own:
            found.append(replace(own[field.name], default=value))
        elif 'group' in field.metadata:
            found += [replace(o, name=f'{field.name}.{o.name}') for o in walk(value)]
    return found


def flatten(made: Any) -> dict[str, Any]:
    """Dotted name -> value, of an object of a class made by `options`."""
    return {declared.name: declared.default for declared in walk(made)}


def from_values(kind: type[Made], values: Mapping[str, Any]) -> Made:
    """Options from dotted names and values; those that are not given have their defaults.

    Raises:
        OptionError: a value cannot be, or no option has the name.
    """
    return changed(kind(), values)


def changed(made: Made, values: Mapping[str, Any]) -> Made:
    """The options with other values of these dotted names.

    Raises:
        OptionError: a value cannot be, or no option has the name.
    """
    check_names(values, (declared.name for declared in walk(made)))
    own: dict[str, Any] = {}
    of_groups: dict[str, dict[str, Any]] = {}
    for name, value in values.items():
        first, _, rest = name.partition('.')
        if rest:
            of_groups.setdefault(first, {})[rest] = value
        else:
            own[first] = value
    for first, below in of_groups.items():
        try:
            own[first] = changed(getattr(made, first), below)
        except OptionError as error:
            raise OptionError(f'{first}.{error.name}', error.problem) from None
    return evolved(made, **own)


def evolved(made: Made, **values: Any) -> Made:
    """The same object with other values of its own fields, checked.

    Raises:
        OptionError: a value cannot be.
    """
    found: Made = attrs.evolve(made, **values)  # type: ignore[misc]
    return found


def flat(values: Mapping[str, Any], prefix: str = '') -> dict[str, Any]:
    """Mappings in mappings by dotted names, as ROS 2 reads a file of parameters.

    Raises:
        OptionError: a name is there twice: dotted, and in mappings.
    """
    found: dict[str, Any] = {}
    for name, value in values.items():
        is_group = isinstance(value, Mapping) and value
        inner = flat(value, f'{prefix}{name}.') if is_group else {f'{prefix}{name}': value}
        if twice := found.keys() & inner.keys():
            raise OptionError(min(twice), 'is given twice')
        found |= inner
    return found


def check_names(names: Iterable[str], known: Iterable[str], kind: str = 'option') -> None:
    """Refuses names that are none of the known ones.

    Raises:
        OptionError: there is such a name; it names the nearest known one, or else all.
    """
    existing = list(known)
    for name in names:
        if name not in existing:
            near = nearest(name, existing)
            hint = f'did you mean {near!r}?' if near else f'there are {", ".join(existing)}'
            raise OptionError(repr(name), f'is no {kind}; {hint}')


def nearest(name: str, known: Iterable[str]) -> str:
    """The known name that is most like `name`, whatever the groups; '': none is like it."""
    plain = {each.replace('.', '_'): each for each in known}
    last = {each.rpartition('.')[2]: each for each in plain.values()}
    for names in (plain, last):
        found = difflib.get_close_matches(name.replace('.', '_'), names, 1, 0.7)
        if found:
            return names[found[0]]
    return ''


def _reached(made: Any, name: str) -> Any:
    for part in name.split('.'):
        made = getattr(made, part)
    return made


def _written(value: Any) -> str:
    if value is None:
        return 'null'
    return repr(list(value) if isinstance(value, tuple) else value)


def _shown(value: Any) -> str:
    if isinstance(value, float):
        return f'{value:g}'
    return 'empty' if value == '' else str(value)
