# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""An action of `frame-ros scenes`, declared once: its help, its files, the options that it takes
(any other is refused, not ignored), and what does it.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from frame_ros.core.errors import SetupError
from frame_ros.core.options import walk

if TYPE_CHECKING:
    from frame_ros.scenes.description.scene import Scene

# Files that an action needs: none, and then none may be named; any; or files of scenes, which are
# read before it begins.
NO_FILES, FILES, SCENE_FILES = 'no file', 'files', 'scene files'


@dataclass(frozen=True)
class Action:
    """One action.

    Attributes:
        text: what it does, in the help.
        run: does it, with the arguments and the scenes of the files; returns the exit code.
        options: returns the names of the options that it takes.
        files: NO_FILES, FILES or SCENE_FILES.
        is_resumed: the same command goes on where it was interrupted, in the folder --output.
    """

    text: str
    run: Callable[[argparse.Namespace, Sequence[Scene]], int]
    options: Callable[[], Collection[str]] = frozenset
    files: str = NO_FILES
    is_resumed: bool = False


def names_of(*kinds: Any, without: Collection[str] = ()) -> frozenset[str]:
    """Returns the names of the options of classes."""
    return frozenset(each.name for kind in kinds for each in walk(kind)) - frozenset(without)


def note_arguments(parser: argparse.ArgumentParser) -> None:
    """Notes for `check` what the arguments of the parser are called, and which of them are always
    there: they are not made of declared options, which are absent unless they are given.
    """
    flags, plain = {}, set()
    for each in parser._actions:
        flags[each.dest] = next((f for f in each.option_strings if f.startswith('--')), each.dest)
        if each.default is not argparse.SUPPRESS:
            plain.add(each.dest)
    parser.set_defaults(flags_of_arguments=flags, plain_arguments=plain)


def check(args: argparse.Namespace, actions: Mapping[str, Action]) -> None:
    """Checks that the action that was chosen got none but its own options, and files if it needs
    them.

    Args:
        args: of a parser that `note_arguments` has seen.
        actions: by name.

    Raises:
        SetupError: it got an option of another action, lacks files, or has some and needs none.
    """
    check_options(args, {name: action.options() for name, action in actions.items()})
    is_needing = actions[args.what].files != NO_FILES
    if is_needing != bool(args.files):
        raise SetupError(f'{args.what} needs {"files" if is_needing else "no file"} of scenes')


def check_options(args: argparse.Namespace, allowed: Mapping[str, Collection[str]]) -> None:
    """Checks that the action `args.what` got none but its own options.

    Args:
        args: of a parser that `note_arguments` has seen.
        allowed: action -> names of its options.

    Raises:
        SetupError: it got an option of another action.
    """
    for name in dict.fromkeys(name for names in allowed.values() for name in sorted(names)):
        value = getattr(args, name, None)
        is_declared = name in vars(args) and name not in args.plain_arguments
        is_given = is_declared or value not in (None, False, '', [])
        if is_given and name not in allowed[args.what]:
            *others, last = (action for action, names in allowed.items() if name in names)
            taking = f'{", ".join(others)} and {last}' if others else last
            flag = args.flags_of_arguments[name]
            raise SetupError(f'{flag} is an option of {taking}, not of {args.what}')
