# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""`frame-ros rephrase INSTRUCTION`: a list of rephrasings that the user has confirmed."""

from __future__ import annotations

import argparse
import datetime
import os
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from frame_ros.cli.arguments import any_path, given, input_file
from frame_ros.core.errors import SetupError
from frame_ros.core.input_files import read_text
from frame_ros.core.option_texts import add_options, from_arguments
from frame_ros.core.options import option, options, rule
from frame_ros.core.output_files import check_folder

if TYPE_CHECKING:
    from frame_ros.policies.rephrasing.rephrasings import ReviewedList

QUESTION = '[a]ccept, [e]dit, [r]eject, [q]uit? '


@options
class RephraseOptions:
    """Rephrasings of an instruction, and the endpoint that proposes them."""

    count: int = option(20, 'rephrasings to ask for', at_least=1)
    reviewer: str = option('', 'who confirms them; none: asked')
    url: str = option(
        '',
        'OpenAI-compatible endpoint that proposes, such as http://127.0.0.1:11434/v1; none: you '
        'type them, or name a file by --text',
    )
    model: str = option('', 'model of the endpoint')
    key_variable: str = option(
        'OPENAI_API_KEY',
        'environment variable that holds the key of the endpoint; unset: none is sent',
    )
    timeout: float = option(60.0, 'to wait for an answer', unit='s', above=0.0)

    @rule('key_variable', 'letters, digits and _')
    def _is_variable(self) -> bool:
        return self.key_variable.isidentifier()


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the arguments."""
    parser.add_argument(
        'instruction', metavar='INSTRUCTION', help="the robot's instruction", type=given
    )
    parser.add_argument(
        '--file', type=any_path, default=Path('rephrasings.yaml'), metavar='FILE',
        help='the reviewed list, made or added to',
    )  # fmt: skip
    parser.add_argument(
        '--text', type=input_file, metavar='FILE', help='proposals from a text file, one per line'
    )
    add_options(parser, RephraseOptions)


def run(args: argparse.Namespace) -> int:
    """Proposes, asks, and writes the accepted rephrasings; returns 1 if there are none.

    Raises:
        SetupError: the endpoint or a file cannot be used, or an argument is wrong.
    """
    from frame_ros.policies.rephrasing.rephrasings import (
        ReviewedList,
        load_reviewed,
        merged,
        problem_of,
        save_reviewed,
    )

    options = from_arguments(RephraseOptions, args)
    instruction = args.instruction.strip()
    if problem := problem_of(instruction, ''):
        raise SetupError(f'{instruction!r} cannot be an instruction: {problem}')
    check_folder(args.file.parent, '--file')
    former = load_reviewed(args.file) if args.file.exists() else []
    there = _there(former, instruction)
    if options.url or args.text:
        accepted = review(instruction, _proposals(options, args.text, instruction), there)
    else:
        accepted = typed(instruction, there, options.count)
    if not accepted:
        print('nothing was accepted; nothing is written')
        return 1
    reviewer = (options.reviewer or _ask('reviewed by: ') or '').strip()
    if not reviewer:
        raise SetupError('a list needs the name of its reviewer; give --reviewer')
    added = ReviewedList(instruction, tuple(accepted), reviewer, datetime.date.today())
    save_reviewed(args.file, merged(former, added))
    print(f'{len(accepted)} rephrasings added to {args.file}, {len(there) + len(accepted)} in all')
    return 0


def _there(former: list[ReviewedList], instruction: str) -> tuple[str, ...]:
    return next((each.rephrasings for each in former if each.instruction == instruction), ())


def _proposals(options: RephraseOptions, file: Path | None, instruction: str) -> list[str]:
    from frame_ros.policies.rephrasing.proposals import ChatEndpoint, propose
    from frame_ros.policies.rephrasing.rephrasings import cleaned

    if options.url and file:
        raise SetupError('proposals come from --url or from --text; give one of them')
    if file:
        try:
            lines = read_text(file).splitlines()
        except (OSError, UnicodeDecodeError) as error:
            raise SetupError(f'{file} cannot be read: {error}') from error
        return [line for line in map(cleaned, lines) if line]
    if not options.model:
        raise SetupError('--url needs --model, the name of the model to ask')
    key = os.environ.get(options.key_variable, '').strip()
    endpoint = ChatEndpoint(options.url, options.model, key, options.timeout)
    return propose(endpoint, instruction, options.count)


def review(instruction: str, proposals: Iterable[str], there: Iterable[str] = ()) -> list[str]:
    """Shows each proposal; returns the accepted ones, as they are or edited.

    there: rephrasings that are in the list already.
    """
    from frame_ros.policies.rephrasing.rephrasings import problem_of

    proposals, known = list(proposals), list(there)
    accepted: list[str] = []
    print(f'Does each ask for the same as: {instruction}')
    for number, proposal in enumerate(proposals, start=1):
        if problem := problem_of(proposal, instruction, known + accepted):
            print(f'\n{number}/{len(proposals)}  {proposal}\n    left out: {problem}')
            continue
        print(f'\n{number}/{len(proposals)}  {proposal}')
        decision = _decide(proposal, instruction, known + accepted)
        if decision is None:
            break
        if decision:
            accepted.append(decision)
    return accepted


def _decide(proposal: str, instruction: str, others: list[str]) -> str | None:
    """Returns the accepted text; '' if it is rejected; None: the user wants to quit."""
    while True:
        answer = _ask(QUESTION)
        choice = 'q' if answer is None else answer.strip().lower()[:1]
        if choice == 'a':
            return proposal
        if choice == 'r':
            return ''
        if choice == 'q':
            return None
        if choice == 'e':
            text = _typed('instead: ', instruction, others)
            if text:
                return text


def typed(instruction: str, there: Iterable[str], count: int) -> list[str]:
    """Returns rephrasings typed by the user, up to an empty line."""
    known = list(there)
    accepted: list[str] = []
    print(f'Other words for: {instruction}\n(an empty line ends)')
    while len(accepted) < count:
        text = _typed(f'{len(accepted) + 1}: ', instruction, known + accepted)
        if text is None:
            break
        if text:
            accepted.append(text)
    return accepted


def _typed(question: str, instruction: str, others: list[str]) -> str | None:
    """Reads a rephrasing; '' for one that is refused, with the reason printed; None: empty line."""
    from frame_ros.policies.rephrasing.rephrasings import cleaned, problem_of

    text = cleaned(_ask(question) or '')
    if not text:
        return None
    problem = problem_of(text, instruction, others)
    if problem:
        print(f'    not taken: {problem}')
    return '' if problem else text


def _ask(question: str) -> str | None:
    """Reads a line; None at the end of the input."""
    try:
        return input(question)
    except EOFError:
        print()
        return None
