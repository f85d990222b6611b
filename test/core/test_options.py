# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Options: one declaration, from which checks, names, texts and arguments come."""

import argparse
import math
import re
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from frame_ros.core.errors import SetupError, ValueRangeError
from frame_ros.core.option_texts import add_options, from_arguments, from_texts, text_of
from frame_ros.core.options import (
    DOWNWARDS,
    LIVE,
    OptionError,
    changed,
    flat,
    flatten,
    from_values,
    group,
    nearest,
    option,
    options,
    rule,
    walk,
)


@options
class LimitOptions:
    """Limits of a command.

    More about them.
    """

    step: float = option(0.35, 'largest step', unit='rad', above=0.0, live='downwards')
    speeds: tuple[float, ...] = option((0.0,), 'speed of each joint', unit='rad/s', at_least=0.0)


@options
class BaseOptions:
    """Options that several nodes have."""

    autostart: bool = option(True, 'start at once')


@options
class GateOptions(BaseOptions):
    """A gate."""

    rate: float = option(50.0, 'rate of the watchdogs', unit='Hz', at_least=1, at_most=200)
    priority: int = option(0, 'priority of the thread; 0: none', at_least=10, besides=(0,))
    mode: str = option('auto', 'reaction', choices=('auto', 'true', 'false'), live=True)
    corner: tuple[float, ...] = option((0.0, 0.0), 'corner', unit='m', lengths=(2,))
    names: tuple[str, ...] = option((), 'names of joints', known=('elbow', 'wrist'))
    ratio: float = option(math.inf, 'largest ratio', above=0.0, is_finite=False)
    more: Mapping[str, Any] = option({}, 'whatever else')
    limits: LimitOptions = group(LimitOptions, step=0.2)
    others: LimitOptions = group(LimitOptions)

    @rule('limits.step', 'at most 1 rad below 10 Hz')
    def _is_smooth(self) -> bool:
        return self.rate >= 10.0 or self.limits.step <= 1.0


def test_walk_gives_dotted_names_and_the_defaults_that_hold_in_the_group():
    found = {each.name: each for each in walk(GateOptions)}
    assert list(found) == [
        'autostart', 'rate', 'priority', 'mode', 'corner', 'names', 'ratio', 'more',
        'limits.step', 'limits.speeds', 'others.step', 'others.speeds',
    ]  # fmt: skip
    assert (found['limits.step'].default, found['others.step'].default) == (0.2, 0.35)
    assert (found['limits.step'].live, found['mode'].live) == (DOWNWARDS, LIVE)
    assert found['limits.step'].group == 'Limits of a command.'
    assert found['rate'].kind is float and found['names'].item is str


def test_values_take_the_type_of_the_option():
    made = from_values(
        GateOptions,
        {'rate': 20, 'corner': [1, 2.5], 'mode': True, 'limits.speeds': [1], 'ratio': math.inf},
    )
    assert (made.rate, made.corner, made.mode) == (20.0, (1.0, 2.5), 'true')
    assert made.limits == LimitOptions(step=0.2, speeds=(1.0,))
    assert type(made.rate) is float and type(made.corner[0]) is float
    assert made != GateOptions() and from_values(GateOptions, flatten(made)) == made


@pytest.mark.parametrize(
    ('values', 'message'),
    [
        ({'rate': 0.5}, 'rate is 0.5; it must be 1 to 200 Hz'),
        ({'rate': 'fast'}, "rate is 'fast'; it must be a number, 1 to 200 Hz"),
        ({'rate': True}, 'rate is True; it must be a number, 1 to 200 Hz'),
        ({'rate': math.nan}, 'rate is nan; it must be a finite number, 1 to 200 Hz'),
        ({'rate': None}, 'rate is null; it must be a number, 1 to 200 Hz'),
        ({'ratio': math.nan}, 'ratio is nan; it must be above 0'),
        ({'autostart': 1}, 'autostart is 1; it must be true or false'),
        ({'priority': 3}, 'priority is 3; it must be 0, or at least 10'),
        ({'priority': 20.0}, 'priority is 20.0; it must be a whole number, 0, or at least 10'),
        ({'priority': 2**63}, 'priority is 9223372036854775808; it must be 0, or at least 10'),
        ({'mode': 'on'}, "mode is 'on'; it must be auto, true or false"),
        ({'corner': [1.0]}, 'corner is [1.0]; it must be 2 numbers'),
        ({'corner': 1.0}, 'corner is 1.0; it must be 2 numbers'),
        ({'names': ['a', 1]}, "names is ['a', 1]; it must be a list of texts"),
        ({'more': [1]}, 'more is [1]; it must be a mapping'),
        ({'limits.step': 0.0}, 'limits.step is 0.0; it must be above 0 rad'),
        ({'limits.step': math.inf}, 'limits.step is inf; it must be a finite number, above 0 rad'),
        (
            {'limits.speeds': [-1.0]},
            'limits.speeds is [-1.0]; it must be a list of numbers, each at least 0 rad/s',
        ),
        (
            {'rate': 5.0, 'limits.step': 2.0},
            'limits.step is 2.0; it must be at most 1 rad below 10 Hz',
        ),
        ({'limit_step': 0.1}, "'limit_step' is no option; did you mean 'limits.step'?"),
        ({'limits': 0.1}, "'limits' is no option; "),
    ],
)
def test_a_value_that_cannot_be_is_refused_with_its_name_and_what_is_right(values, message):
    with pytest.raises(OptionError) as caught:
        from_values(GateOptions, values)
    assert str(caught.value).startswith(message)
    assert isinstance(caught.value, SetupError) and isinstance(caught.value, ValueRangeError)


def test_an_object_made_by_hand_is_checked_and_fixed():
    with pytest.raises(OptionError, match='step is -1'):
        LimitOptions(step=-1.0)
    with pytest.raises(AttributeError):
        LimitOptions().step = 1.0


def test_changed_keeps_the_rest():
    first = from_values(GateOptions, {'limits.speeds': [3.0], 'names': ['a']})
    second = changed(first, {'limits.step': 0.1})
    assert flatten(second) == flatten(first) | {'limits.step': 0.1}


@pytest.mark.parametrize(
    ('name', 'found'),
    [
        ('limit.step', 'limits.step'),
        ('step', 'limits.step'),
        ('speed', 'limits.speeds'),
        ('prority', 'priority'),
        ('colour', ''),
    ],
)
def test_the_nearest_name_is_found_whatever_the_group(name, found):
    assert nearest(name, ['priority', 'limits.step', 'limits.speeds']) == found


def test_mappings_in_mappings_are_flat_by_dotted_names():
    values = {'a': 1, 'b': {'c': 2, 'd': {'e': []}}, 'f.g': 3, 'h': {}}
    assert flat(values) == {'a': 1, 'b.c': 2, 'b.d.e': [], 'f.g': 3, 'h': {}}
    with pytest.raises(OptionError, match='b.c is given twice'):
        flat({'b': {'c': 1}, 'b.c': 2})


numbers = st.floats(1.0, 200.0)


@given(numbers, st.lists(numbers, min_size=2, max_size=2), st.lists(st.text('ab', min_size=1)))
def test_texts_are_read_back(rate, corner, words):
    values = {'rate': rate, 'corner': tuple(corner), 'names': tuple(words)}
    texts = {name: text_of(value) for name, value in values.items()}
    assert from_texts(GateOptions, texts) == from_values(GateOptions, values)


def parse(*arguments):
    parser = argparse.ArgumentParser()
    parser.add_argument('--other', default=1)
    add_options(parser, GateOptions, without=('others',), names={'ratio': '--most'})
    return from_arguments(GateOptions, parser.parse_args(arguments))


def test_arguments_of_a_command_line_come_from_the_declaration(capsys):
    assert parse() == GateOptions()
    found = parse('--no-autostart', '--limits.step', '0.1', '--names', 'a,b', '--mode', 'true')
    assert not found.autostart and found.limits.step == 0.1
    assert (found.names, found.mode) == (('a', 'b'), 'true')
    with pytest.raises(SystemExit):
        parse('--help')
    shown = ' '.join(capsys.readouterr().out.split())
    assert 'rate of the watchdogs (1 to 200 Hz; default: 50)' in shown
    assert 'names of joints (known: elbow, wrist)' in shown
    assert '--most RATIO' in shown and 'start at once (default: --autostart)' in shown
    assert '--limits.step STEP' in shown and '--others.step' not in shown


def test_lists_pairs_and_flags_on_a_command_line():
    found = parse('--corner', '1, 2.5', '--more', 'a=[1, 2]', '--more', 'b-c=x=y')
    assert found.corner == (1.0, 2.5) and found.more == {'a': [1, 2], 'b_c': 'x=y'}

    @options
    class FlagOptions:
        """Flags."""

        is_shared: bool = option(False, 'several clients')
        has_images: bool = option(True, 'with images')
        topics: Mapping[str, str] = option({}, 'role=topic')
        parts: Mapping[str, int] = option({}, 'link=number', at_least=1)
        title: str | None = option(None, 'a heading; none: of the file')

    parser = argparse.ArgumentParser()
    add_options(parser, FlagOptions, names={'topics': '--topic'})
    given = parser.parse_args(['--shared', '--no-images', '--topic', 'pose=1', '--title='])
    assert from_arguments(FlagOptions, given) == FlagOptions(True, False, {'pose': '1'}, {}, '')
    given = parser.parse_args(['--parts', 'a-b=2'])
    assert from_arguments(FlagOptions, given).parts == {'a-b': 2}
    with pytest.raises(SetupError, match='--parts a is 0; it must be at least 1'):
        parser.parse_args(['--parts', 'a=0'])


@pytest.mark.parametrize(
    ('arguments', 'message'),
    [
        (['--rate', '0'], '--rate is 0.0; it must be 1 to 200 Hz'),
        (['--rate', 'x'], "--rate is 'x'; it must be a number, 1 to 200 Hz"),
        (['--priority', '2.5'], "--priority is '2.5'; it must be a whole number"),
        (['--mode', ''], "--mode is ''; it must be auto, true or false"),
        (['--names', ','], '--names is empty'),
        (['--corner', '1,x'], "--corner is [1.0, 'x']; it must be 2 numbers"),
        (['--more', 'a'], "--more is 'a'; it must be NAME=VALUE"),
        (['--more', 'a=1', '--more', 'a=2'], '--more gives a twice'),
        (['--limits.step', '9', '--rate', '1'], 'limits.step is 9.0; it must be at most 1 rad'),
    ],
)
def test_a_wrong_argument_is_refused(arguments, message):
    with pytest.raises(SetupError, match=re.escape(message)):
        parse(*arguments)
