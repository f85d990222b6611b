# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""`frame-ros demo`: a simulated robot, a policy, live metrics, a bag per episode, and a report."""

from __future__ import annotations

import argparse
import importlib.util
import os
import sys
import time
from collections.abc import Collection, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from frame_ros.bringup.process_table import Process, demo_processes
from frame_ros.bringup.run_checks import check_run
from frame_ros.bringup.run_options import DemoOptions
from frame_ros.bringup.supervisor import ProcessError, Supervisor, free_domain
from frame_ros.cli.arguments import output_folder
from frame_ros.cli.progress import progress_bar
from frame_ros.core.errors import BagError, SetupError
from frame_ros.core.machine_lock import MachineLock
from frame_ros.core.option_texts import add_options, from_arguments
from frame_ros.core.options import walk
from frame_ros.core.output_files import make_folder
from frame_ros.core.ros_names import commands_on_bags

if TYPE_CHECKING:
    from frame_ros.cli.live_view import LiveView
    from frame_ros.nodes.console.node import EpisodeResult

NAMES = {'qualities': '--quality', 'policy_options': '--option', 'references': '--reference'}
LOOK_PERIOD = 0.25  # s
LAST_SUMMARY = 20.0  # s to wait for summaries behind the last episode, as on a busy machine


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the options of the demo, then those of every run."""
    own = set(DemoOptions.__annotations__)
    shared = {option.name for option in walk(DemoOptions)} - own
    add_options(parser, DemoOptions, {'directory', *shared}, NAMES)
    parser.add_argument(
        '--directory',
        dest='folder',
        metavar='DIR',
        help='folder of the run; default: runs/<date-time>',
        type=output_folder,
    )
    parser.add_argument('--no-report', action='store_true', help='no report at the end')
    parser.add_argument(
        '--dry-run', action='store_true', help='print what would start, and start nothing'
    )
    group = parser.add_argument_group('options of every run')
    add_options(group, DemoOptions, own, NAMES)


def run(args: argparse.Namespace) -> int:
    """Runs the demo.

    Returns:
        0 after all episodes, 130 after Ctrl-C.

    Raises:
        FrameRosError: ROS 2 or our built messages are missing, or an option is wrong: found before
            anything is started; or another demo runs in the same domain and namespace.
        ProcessError: a node died; its name and last log lines are in the message.
    """
    directory = args.folder or Path(f'runs/{datetime.now():%Y-%m-%d-%H%M%S}')
    default = DemoOptions(directory=str(directory), given=frozenset(vars(args)))
    options: DemoOptions = from_arguments(default, args)
    processes = demo_processes(options)
    check_run(processes)
    if args.dry_run:
        from frame_ros.cli.dry_run import describe_run

        print(describe_run(options, processes, directory))
        return 0
    require_ros()
    if not os.environ.get('ROS_DOMAIN_ID'):
        os.environ['ROS_DOMAIN_ID'] = str(free_domain())
    only = MachineLock('demo', options.namespace)
    only.acquire()
    make_folder(directory, '--directory')
    earlier = bags_in(directory)
    try:
        run_episodes(options, processes, directory, earlier)
        if options.record and not args.no_report:
            write_demo_report(directory, earlier)
        elif options.record:
            print_recorded(directory, earlier)
    except KeyboardInterrupt:
        print('\nstopped', file=sys.stderr)
        print_recorded(directory, earlier)
        return 130
    except ProcessError:
        print_recorded(directory, earlier)
        raise
    finally:
        only.release()
    return 0


def print_recorded(directory: Path, earlier: Collection[Path]) -> None:
    """Prints the recordings of a run without a report to standard error."""
    from frame_ros.cli.recorded import stopped_lines

    print('\n'.join(stopped_lines(directory, earlier)), file=sys.stderr)


def require_ros() -> None:
    """Raises SetupError where the demo cannot run, and says what is missing."""
    if importlib.util.find_spec('rclpy') is None:
        raise SetupError(
            'rclpy was not found: source a ROS 2 installation, or `make setup` and source env.bash'
        )
    if importlib.util.find_spec('frame_ros.msg') is None:
        raise SetupError(
            'the messages of frame_ros are not built: `make setup`, then source env.bash'
        )


def run_episodes(
    options: DemoOptions,
    processes: Sequence[Process],
    directory: Path,
    earlier: Collection[Path] = (),
) -> list[EpisodeResult]:
    """Starts everything, shows it live until the session has ended, stops everything.

    earlier: bags that were in the folder before.

    Raises:
        ProcessError: a node died.
    """
    from frame_ros.cli.live_view import LiveView, closing_lines
    from frame_ros.cli.recorded import new_episodes

    view = LiveView(sys.stdout, options.episodes)
    began = time.monotonic()
    with Supervisor(
        processes,
        directory / 'logs',
        options.namespace,
        console=view.line,
    ) as supervisor:
        os.environ.update(supervisor.environment)
        view.line(
            f'starting {options.described}; '
            f'ROS_DOMAIN_ID={supervisor.domain_id}, logs in {supervisor.log_directory}'
        )
        results = _watch(supervisor, view, options)
    count = len(new_episodes(directory, earlier)) if options.record else options.episodes
    view.line('\n'.join(closing_lines(count, results, time.monotonic() - began, options.record)))
    return results


def _watch(supervisor: Supervisor, view: LiveView, options: DemoOptions) -> list[EpisodeResult]:
    from frame_ros.nodes.console.node import close_console, open_console

    console = open_console(supervisor.domain_id, options.namespace)
    results: list[EpisodeResult] = []

    def look() -> None:
        for result in console.look():
            results.append(result)
            view.result(result)

    def show() -> None:
        look()
        view.snapshot(console.snapshot)

    try:
        supervisor.wait(LOOK_PERIOD, show)
        deadline = time.monotonic() + LAST_SUMMARY
        while len(results) < options.episodes and time.monotonic() < deadline:
            time.sleep(LOOK_PERIOD)
            look()
    finally:
        close_console(console)
    return results


def bags_in(directory: Path) -> set[Path]:
    """Returns the bags in a folder; none if there is no such folder."""
    from frame_ros.bags.find_bags import find_bags

    try:
        return set(find_bags(directory))
    except BagError:
        return set()


def write_demo_report(directory: Path, earlier: Collection[Path] = ()) -> Path:
    """Writes <directory>/report.html over the bags in the folder and says where it is.

    earlier: bags that were there before the run; they are left out, and that is said.

    Raises:
        BagError: the run wrote no bag.
    """
    from frame_ros.cli.recorded import size_text
    from frame_ros.cli.report.command import print_doubts
    from frame_ros.cli.report.reading import checked, read_all
    from frame_ros.core.plain_text import counted
    from frame_ros.reports import write_report
    from frame_ros.reports.model.episode_check import EpisodeChecks

    bags = sorted(bags_in(directory) - set(earlier))
    if not bags:
        raise BagError(f'no bag was written to {directory}; see the logs in {directory / "logs"}')
    checks = EpisodeChecks()
    found = checked((episode for bag in bags for episode in read_all(bag)), checks)
    episodes = list(progress_bar(found, 'reading the bags', False, len(bags)))
    print_doubts(episodes, checks)
    path = write_report(
        episodes,
        directory / 'report.html',
        progress=lambda items: progress_bar(items, 'page', False, len(episodes)),
        checks=checks,
    )
    print(f'report: {path}  (open it in any browser: xdg-open {path})')
    if earlier:
        verb = 'is' if len(earlier) == 1 else 'are'
        print(
            f'        {counted(len(earlier), "bag")} of earlier runs in this folder {verb} not in '
            'the report'
        )
    commands = ', '.join(commands_on_bags(str(directory), str(bags[0])))
    print(
        f'bags:   {size_text(bags)}, in {directory}  ({commands}; frame-ros clean removes old ones)'
    )
    return path
