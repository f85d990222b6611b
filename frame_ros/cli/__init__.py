# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The `frame-ros` command. The module of a subcommand is imported when it is used, so that help and
version stay fast.
"""

from __future__ import annotations

import argparse
import errno
import os
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Any

from frame_ros.cli.arguments import positive
from frame_ros.cli.lasting_output import lasting_output
from frame_ros.cli.parser import Parser, suggestion
from frame_ros.core.errors import FrameRosError, SetupError
from frame_ros.core.input_files import set_limits_factor
from frame_ros.core.plain_text import plain, plain_lines

# Subcommand -> (module, summary). A module has `add_arguments(parser)` and `run(args) -> int`.
COMMANDS = {
    'demo': (
        'frame_ros.cli.demo',
        'run a simulated robot with a policy, live metrics, recording and a report',
    ),
    'report': (
        'frame_ros.cli.report.command',
        'recompute the metrics of recorded episodes and write an HTML page or JSON',
    ),
    'calibrate': (
        'frame_ros.cli.calibrate',
        'fit recalibrators and halt thresholds to recorded episodes, and compare them',
    ),
    'clean': ('frame_ros.cli.clean', 'list the sizes of recorded runs, and remove old ones'),
    'video': ('frame_ros.cli.video', 'make an MP4 from the camera images of a bag'),
    'open-loop': (
        'frame_ros.cli.open_loop',
        'compare what a policy predicts from recorded observations with what was executed',
    ),
    'compare': (
        'frame_ros.cli.compare',
        'compare policies over recorded episodes: which is better, and how sure that is',
    ),
    'correlate': (
        'frame_ros.cli.correlate',
        'compare human labels of quality with the metrics of recorded episodes',
    ),
    'plan': (
        'frame_ros.cli.plan',
        'compute how many rollouts a comparison of policies needs, or still needs',
    ),
    'null-check': (
        'frame_ros.cli.null_check',
        'count how often the tests of policies reject where there is no difference',
    ),
    'operations': (
        'frame_ros.cli.operations',
        'find the operations of recorded episodes by events and gripper, and review them',
    ),
    'sense': (
        'frame_ros.cli.sense',
        'sense the contacts of a recording after the fact, from its wrench or joint efforts',
    ),
    'dataset': ('frame_ros.cli.dataset', 'write recorded episodes as a LeRobotDataset'),
    'serve': ('frame_ros.cli.serve', 'serve a policy to robots and other clients; needs no ROS'),
    'simulate-so101': (
        'frame_ros.cli.feetech',
        "simulate an SO-101's servos behind a serial port, to try drivers without an arm",
    ),
    'capsules': (
        'frame_ros.cli.capsules',
        "make capsules around a robot's collision or tight shapes around its visual meshes",
    ),
    'sequential': (
        'frame_ros.cli.sequential',
        'compare two policies pair by pair, and say when enough pairs have been run',
    ),
    'session': (
        'frame_ros.cli.session.command',
        'compare policies on a robot without knowing which of them runs, until all is done',
    ),
    'rephrase': (
        'frame_ros.cli.rephrase',
        'collect rephrasings of an instruction, confirmed one by one, for prompt ensembles',
    ),
    'identify': (
        'frame_ros.cli.identify.command',
        "find a robot's motor constants and friction, or the mass of its tool, from a motion",
    ),
    'outline': (
        'frame_ros.cli.outline',
        "measure how wide a depth camera mixes the robot's outline with what is behind it",
    ),
    'scenes': (
        'frame_ros.cli.scenes.command',
        'draw scenes in which a policy is to be tried, and check, list and convert files of them',
    ),
    'metrics': ('frame_ros.cli.metrics', 'list all metrics with unit, direction and source'),
}
FILE_LIMITS: dict[str, Any] = {
    'type': positive,
    'metavar': 'FACTOR',
    'help': 'multiply the limits on the sizes of files, which are safe for files of unknown '
    'origin (default: 1, or FRAME_ROS_FILE_LIMITS)',
}
USAGE_ERROR = 2
COMPLETION = '_ARGCOMPLETE'  # set by the shell, see argcomplete
INTERRUPTED = 130
# Of a full disk, of a user's share of it, and of the size that files may have; then of paths.
USER_ERRORS = (
    errno.ENOSPC, errno.EDQUOT, errno.EFBIG,
    errno.ENAMETOOLONG, errno.ELOOP, errno.EACCES, errno.EPERM, errno.EROFS,
)  # fmt: skip


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the command line; returns the exit code: 0, 2 after an error that the user can correct,
    such as a full disk, or that of the command (`report`: 1 if a bag could not be read).

    argv: the arguments without the program's name; those of the process by default.
    """
    arguments = list(sys.argv[1:] if argv is None else argv)
    if COMPLETION in os.environ:
        complete()
    try:
        with lasting_output() as problems:
            code = _run(arguments)
    except SystemExit:
        if not problems:
            raise
    if not problems:
        return code
    with lasting_output():
        print(f'frame-ros: the output cannot be written: {problems[0].strerror}', file=sys.stderr)
    return USAGE_ERROR


def _run(arguments: Sequence[str]) -> int:
    try:
        args = parse(arguments)
        if args.file_limits is not None:
            set_limits_factor(args.file_limits)
        code: int = args.run(args)
        return code
    except FrameRosError as error:
        print(plain_lines(f'frame-ros: {error}'), file=sys.stderr)
        return USAGE_ERROR
    except OSError as error:
        if error.errno not in USER_ERRORS:
            raise
        place = plain(str(error.filename or 'a file'))
        print(f'frame-ros: {place}: {error.strerror}', file=sys.stderr)
        return USAGE_ERROR
    except KeyboardInterrupt:
        return INTERRUPTED


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    """Returns the parsed arguments; ends with exit code 2 and the usage if they are wrong.

    Raises:
        SetupError: a value is out of range.
    """
    command = chosen_command(arguments)
    parser = build_parser(command)
    if command is not None and command not in COMMANDS:
        hint = suggestion(command, COMMANDS) or f'there are {", ".join(COMMANDS)}'
        parser.error(f'there is no command {command!r}; {hint}')
    try:
        return parser.parse_args(arguments)
    except argparse.ArgumentError as error:
        if error.argument_name is None:  # from Python 3.12 on also what is missing
            parser.error(str(error))
        raise SetupError(f'{error.argument_name}: {error.message}') from error


def complete() -> None:
    """Gives the shell the completions of an incomplete command line; does not return.

    Does nothing if argcomplete is not installed.
    """
    try:
        import argcomplete
    except ImportError:
        return
    words = os.environ.get('COMP_LINE', '').split()[1:]
    argcomplete.autocomplete(build_parser(chosen_command(words)))


def chosen_command(arguments: Sequence[str]) -> str | None:
    """Returns the subcommand: the first argument that is not an option."""
    return next((a for a in arguments if not a.startswith('-')), None)


def build_parser(command: str | None) -> Parser:
    """Returns the parser; only the subcommand `command` is imported and has its arguments."""
    parser = Parser(
        prog='frame-ros',
        description='Live quality, safety and confidence metrics for learned robot policies.',
        epilog='frame-ros COMMAND --help lists the options of a command.',
    )
    parser.add_argument('--version', action=_Version, nargs=0, help='print the version and exit')
    subparsers = parser.add_subparsers(title='commands', metavar='COMMAND', required=True)
    for name, (module_name, summary) in COMMANDS.items():
        subparser = subparsers.add_parser(
            name, help=summary, description=f'{summary[0].upper()}{summary[1:]}.'
        )
        if name == command:
            module = import_module(module_name)
            module.add_arguments(subparser)
            subparser.add_argument('--file-limits', **FILE_LIMITS)
            subparser.set_defaults(run=module.run)
    return parser


class _Version(argparse.Action):
    """Prints the version, which is looked up only for this."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        from frame_ros.core.version import package_version

        print(f'frame-ros {package_version()}')
        parser.exit(0)
