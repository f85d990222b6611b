# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""`frame-ros report BAG...`: recorded episodes as an HTML page or as JSON."""

from __future__ import annotations

import argparse
import sys
import webbrowser
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from frame_ros.bags.recording_options import RecordingOptions
from frame_ros.cli.arguments import any_path, given
from frame_ros.cli.progress import progress_bar
from frame_ros.cli.report.outputs import DEFAULT_OUTPUT, STANDARD_OUTPUT, check_outputs, pages
from frame_ros.core.errors import BagError, SetupError, ValueRangeError
from frame_ros.core.input_files import valid_text
from frame_ros.core.option_texts import add_options, from_arguments
from frame_ros.core.options import option, options
from frame_ros.core.output_files import make_folder, write_whole
from frame_ros.core.plain_text import counted, plain_json, plain_lines
from frame_ros.metrics.error_options import ErrorOptions

if TYPE_CHECKING:
    from frame_ros.episodes.episode import Episode
    from frame_ros.episodes.reference import Reference
    from frame_ros.reports.model.episode_check import EpisodeChecks
    from frame_ros.reports.model.options import ReportOptions

BAG_FAILED = 1


@options
class PageOptions:
    """The page."""

    title: str = option('', 'heading of the page')
    fingerprint: tuple[str, ...] = option(
        (),
        'axes on which policies are compared; none: of sr, pl, ps, cc, ate, rte, il, mu, cr, op, '
        'rf those that are known',
    )


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the arguments."""
    parser.add_argument(
        'bags',
        nargs='*',
        metavar='BAG',
        help='a bag (folder, .mcap or .db3 file), or a folder of bags, also nested',
        type=given,
    )
    parser.add_argument(
        '-o',
        '--output',
        type=any_path,
        metavar='FILE',
        help=f'the page to write (default: {DEFAULT_OUTPUT}); with --per-run a folder for pages',
    )
    parser.add_argument(
        '--per-run',
        action='store_true',
        help='one page for each folder that holds bags, written into it, instead of one of all',
    )
    parser.add_argument(
        '--json',
        nargs='?',
        const=STANDARD_OUTPUT,
        metavar='FILE.json',
        help='write JSON to a file ending in .json, else to standard output; no page unless -o',
    )
    add_options(parser, RecordingOptions, names={'topics': '--topic'})
    parser.add_argument(
        '--session',
        metavar='SESSION',
        type=given,
        help='a blinded session whose labels are open: episodes of its trials are shown with the '
        'policies that acted in them',
    )
    _add_comparison_arguments(parser)
    parser.add_argument('--open', action='store_true', help='open the page in a browser')
    parser.add_argument(
        '-q',
        '--quiet',
        action='store_true',
        help='no progress bar; problems of the bags only',
    )


def _add_comparison_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares what episodes are measured against, and policies compared by."""
    parser.add_argument(
        '--reference',
        action='append',
        default=[],
        metavar='BAG',
        help='a demonstration, or a folder of them, for ATE, RTE and DTW: its episodes that '
        'succeeded or have no recorded outcome; '
        'may be repeated (default: the references of the live metrics)',
        type=given,
    )
    parser.add_argument(
        '--reference-mean',
        action='store_true',
        help='measure against the mean of the references, not against the nearest',
    )
    add_options(parser, ErrorOptions)
    add_options(parser, PageOptions)


def run(args: argparse.Namespace) -> int:
    """Reads the episodes and writes page and JSON.

    Returns:
        0, or 1 if nothing could be computed of a bag: the others are written nevertheless; without
        others there is no page.

    Raises:
        BagError: no bag is given, or one is missing or not a bag; a reference has no success.
        SetupError: an output cannot be written, the labels of the session are closed, or no episode
            is of its trials.
        ValueRangeError: a role or a metric is unknown.
        RobotError: a URDF cannot be read.
    """
    from frame_ros.cli.report.complete_command import complete_commands
    from frame_ros.cli.report.reading import load_episodes, survey_all
    from frame_ros.reports.model.options import ReportOptions

    paths = bag_paths(args)
    if not paths:
        raise BagError('no bag is given; name at least one: frame-ros report BAG')
    shown = from_arguments(PageOptions, args)
    options = from_arguments(ReportOptions(axes=tuple(dict.fromkeys(shown.fingerprint))), args)
    of_recording = from_arguments(RecordingOptions, args)
    choice = of_recording.reading()
    if choice['robot']:
        from frame_ros.robots import load_robot

        load_robot(choice['robot'])
    labels = open_labels(args.session)
    surveys = survey_all(paths, args.quiet)
    check_outputs(args, [bag for _, found in surveys for bag in found.bags])
    references = given_references(args, **choice)
    mean_by = (options.match or 'time') if args.reference_mean else ''
    from frame_ros.episodes.foreign_bags.topic_uses import is_usable
    from frame_ros.reports import report_json
    from frame_ros.reports.model.episode_check import EpisodeChecks

    checks = EpisodeChecks()
    is_drawn = args.json is None or bool(args.output or args.open)
    kept = (checks, options, is_drawn)
    episodes = load_episodes(surveys, args.quiet, references, mean_by, *kept, labels, **choice)
    print_doubts(episodes, checks, args.quiet)
    usable = [episode for episode in episodes if is_usable(episode)]
    if usable and args.session is not None:
        print_labelled(usable, labels, args.session, args.quiet)
    print_uses(episodes, choice['namespace'])
    for line in complete_commands([*map(str, paths)], of_recording, episodes):
        print(plain_lines(f'for poses and steps: {line}'), file=sys.stderr)
    if args.json is not None:
        if usable or args.json == STANDARD_OUTPUT or not Path(args.json).exists():
            _write_json(report_json(episodes, options, checks), args.json)
        else:
            print(f'nothing to report: {args.json} stays as it was', file=sys.stderr)
    if usable and is_drawn:
        for page, group in pages(episodes, args.output, args.per_run):
            _write_page(page, group, args, shown.title, options, checks)
    elif not usable:
        print('nothing to report: no page was written', file=sys.stderr)
    return 0 if len(usable) == len(episodes) else BAG_FAILED


def _write_page(
    target: Path,
    episodes: list[Episode],
    args: argparse.Namespace,
    title: str,
    options: ReportOptions,
    checks: EpisodeChecks,
) -> None:
    from frame_ros.episodes.copies import copies_among, recording_key
    from frame_ros.reports import write_report
    from frame_ros.reports.model.episode_check import has_data

    found = [episode for episode in episodes if has_data(episode)]
    count = len(found) - len(copies_among(map(recording_key, found)))
    if args.per_run:
        make_folder(target.parent, '--output')
    page = write_report(
        episodes,
        target,
        title=title,
        progress=lambda items: progress_bar(items, 'page', args.quiet, count),
        options=options,
        checks=checks,
    )
    if not args.quiet:
        bags = counted(len({episode.path for episode in episodes}), 'bag')
        print(f'{counted(count, "episode")}: {page.resolve()} (of {bags})', file=sys.stderr)
    if args.open:
        webbrowser.open(page.resolve().as_uri())


def open_labels(session: str | None) -> dict[str, dict[str, str]]:
    """Returns the labels of a session's trials; none without a session.

    Raises:
        SetupError: it is no session, or its labels are closed.
    """
    if session is None:
        return {}
    from frame_ros.evaluation.sessions.folder import SessionFolder
    from frame_ros.evaluation.sessions.labels import open_labels_of

    return open_labels_of(SessionFolder(session))


def print_labelled(
    episodes: Sequence[Episode],
    labels: Mapping[str, Mapping[str, str]],
    session: str,
    is_quiet: bool,
) -> None:
    """Prints how many episodes are of a session's trials to standard error; when quiet, only if
    some are not.

    Raises:
        SetupError: none is.
    """
    from frame_ros.episodes.copies import each_once

    once, _ = each_once(episodes)
    count = sum(episode.attributes.get('trial') in labels for episode in once)
    if count == 0:
        raise SetupError(
            f'of {counted(len(once), "episode")} none is of a trial of the session {session}: '
            'their STARTs name the trial as the policy in the session in which they were recorded'
        )
    if not is_quiet or count < len(once):
        print(
            f'{count:,} of {len(once):,} episodes are of trials of the session {session}',
            file=sys.stderr,
        )


def bag_paths(args: argparse.Namespace) -> list[Path]:
    """Returns the bags to read. A path after --json that does not end in .json is a bag, because
    the file is optional.
    """
    bags = [Path(bag) for bag in args.bags]
    if args.json not in (None, STANDARD_OUTPUT) and not args.json.endswith('.json'):
        bags.insert(0, Path(args.json))
        args.json = STANDARD_OUTPUT
    return bags


def given_references(args: argparse.Namespace, **choice: Any) -> list[Reference] | None:
    """Returns the given references; None if there are none.

    Raises:
        BagError: a bag is missing, cannot be read or has no successful episode.
        ValueRangeError: --reference-mean without references.
    """
    if not args.reference:
        if args.reference_mean:
            raise ValueRangeError('--reference-mean needs references: --reference BAG')
        return None
    from frame_ros.episodes.reference_loading import load_references

    return load_references(args.reference, with_unknown=True, **choice)


def print_doubts(
    episodes: Sequence[Episode], checks: EpisodeChecks, is_quiet: bool = False
) -> None:
    """Prints the reasons for doubting the numbers of each bag to standard error, a line each, and
    the number of further remarks.
    """
    from frame_ros.reports.model.episode_check import doubtful_lines

    for line in doubtful_lines(progress_bar(episodes, 'checking', is_quiet, len(episodes)), checks):
        print(plain_lines(line), file=sys.stderr)


def print_uses(episodes: Sequence[Episode], namespace: str | None) -> None:
    """Prints the possible uses of the topics of each bag of which nothing could be computed to
    standard error.
    """
    from frame_ros.episodes.foreign_bags.topic_uses import is_usable, use_lines

    usable = {episode.path for episode in episodes if is_usable(episode)}
    for path, episode in {e.path: e for e in episodes if e.path not in usable}.items():
        bag = episode.open_bag()
        if bag is not None and bag.topics:
            uses = '\n'.join(use_lines(episode, bag, namespace))
            print(plain_lines(f'{path.name}: {uses}'), file=sys.stderr)


def _write_json(text: str, target: str) -> None:
    text = plain_json(valid_text(text))  # file names may be any bytes
    if target == STANDARD_OUTPUT:
        print(text)
        return
    write_whole(Path(target), text + '\n', 'the JSON')
