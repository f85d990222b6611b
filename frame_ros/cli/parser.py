# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Argument parser of the command: defaults in every help, suggestions for misspelt options."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Sequence
from typing import Any, NoReturn


class HelpFormatter(argparse.HelpFormatter):
    """Ends the help of every option that has a value with its default."""

    def _get_help_string(self, action: argparse.Action) -> str:
        text = (action.help or '').strip()
        is_valued = action.option_strings and action.nargs != 0
        if not is_valued or action.required or 'default:' in text:
            return text
        value = action.default
        shown = f'{value:g}' if isinstance(value, float) else str(value)
        return f'{text} (default: {"none" if value in (None, "", []) else shown})'.strip()


class Parser(argparse.ArgumentParser):
    """A parser that suggests options for misspelt ones.

    A wrong value is an argparse.ArgumentError; other wrong usage ends the process.
    """

    def __init__(self, **options: Any) -> None:
        super().__init__(formatter_class=HelpFormatter, exit_on_error=False, **options)
        self._given: Sequence[str] = ()

    def parse_known_args(  # type: ignore[override]
        self, args: Sequence[str] | None = None, namespace: argparse.Namespace | None = None
    ) -> tuple[argparse.Namespace, list[str]]:
        """Parses as its base does, but an unknown argument is an error of the parser that met it:
        that of the subcommand, with its usage.
        """
        self._given = sys.argv[1:] if args is None else list(args)
        found, extras = super().parse_known_args(args, namespace)
        if extras:
            self.refuse(extras)
        return found, extras

    def error(self, message: str) -> NoReturn:
        """Ends as its base does, with hints for misspelt options if a required one is missing."""
        if 'are required' in message and (hints := self._hints(self._given)):
            message = f'{message} ({hints})'
        super().error(message)

    def refuse(self, extras: Sequence[str]) -> NoReturn:
        """Ends with an error for unknown arguments."""
        hints = self._hints(extras)
        self.error(f'unrecognized arguments: {" ".join(extras)}{f" ({hints})" if hints else ""}')

    def _hints(self, arguments: Sequence[str]) -> str:
        """Returns a suggestion for each unknown option among the arguments."""
        known = [text for action in self._actions for text in action.option_strings]
        options = [text.partition('=')[0] for text in arguments if text.startswith('-')]
        unknown = [text for text in options if text not in known]
        return '; '.join(f'{text}: {hint}' for text in unknown if (hint := suggestion(text, known)))


def suggestion(word: str, known: Iterable[str]) -> str:
    """Returns 'did you mean ...?' for a misspelt word; '' if no known word is similar."""
    from frame_ros.core.options import nearest

    near = nearest(word, known)
    return f'did you mean {near}?' if near else ''
