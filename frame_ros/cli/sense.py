# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""`frame-ros sense BAG... --output DIR`: contacts of recordings after the fact, as the contact node
would have sensed them.

See docs/contact.md.
"""

from __future__ import annotations

import argparse
import shlex
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from frame_ros.bags.recording_options import RECEIVE, StampChoice
from frame_ros.cli.arguments import add_new_folder, any_path, given, input_file
from frame_ros.cli.progress import progress_bar
from frame_ros.cli.termination import ended_as_by_interrupt
from frame_ros.core.errors import FrameRosError, SetupError
from frame_ros.core.option_texts import add_options, from_arguments
from frame_ros.core.options import option, options
from frame_ros.core.plain_text import plain
from frame_ros.core.ros_names import NamespaceOptions

if TYPE_CHECKING:
    from frame_ros.bags.reader import Bag
    from frame_ros.core.topics import Topic
    from frame_ros.episodes.sensing.sense import NodeNames, Request, Sensed
    from frame_ros.nodes.contact.options import ContactOptions

NODE = 'contact'
NEVER = 1
MOST_REASONS = 3


@options
class SenseOptions(NamespaceOptions, StampChoice):
    """Reading of a recording."""

    namespace: str | None = option(None, "the robot's namespace; none: that with most topics")
    robot: str = option(
        '',
        'name, profile or URDF; none: that of the parameters, else of the recording, else the '
        'known robot with such joints',
    )
    topics: Mapping[str, str] = option(
        {},
        'role=topic, of what has another name than usual: joint_states, action, wrench, '
        'robot_wrench, robot_flags, grasp, event',
    )


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the arguments."""
    parser.add_argument(
        'bags', nargs='+', metavar='BAG', type=any_path, help='a bag, or a folder of bags'
    )
    add_new_folder(
        parser,
        ": the recording's messages, with contact, contact_events and external_wrench; of several "
        'bags, or a folder of them, the folder below which each has one of its name',
    )
    add_options(parser, SenseOptions, names={'topics': '--topic'})
    parser.add_argument(
        '--params-file',
        type=input_file,
        metavar='FILE',
        help='parameters of the contact node, as ROS 2 takes them (default: none)',
    )
    parser.add_argument(
        '--parameter',
        action='append',
        default=[],
        type=given,
        metavar='NAME=VALUE',
        help='a parameter of the contact node, such as wrench.force_on=2.0, above those of '
        '--params-file; may be repeated',
    )
    parser.add_argument(
        '--replace',
        action='store_true',
        help='leave out the contacts that the recording has, in favour of those sensed now',
    )
    parser.add_argument('-q', '--quiet', action='store_true', help='no progress bar, no summary')


def run(args: argparse.Namespace) -> int:
    """Writes the bags and prints what was sensed.

    Returns:
        0, or 1 if contact was not known at any time of a recording, or one of several could not be
        used, for the reason printed: the others are written nevertheless.

    Raises:
        FrameRosError: the only recording, the robot or a parameter cannot be used; the folder
            exists; a path is not a bag.
    """
    from frame_ros.bags.find_bags import find_bags

    with ended_as_by_interrupt():
        if len(args.bags) == 1 and find_bags(args.bags[0]) == args.bags:
            return int(_sense_one(args, args.bags[0], args.output))
        return int(_sense_all(args))


def _sense_all(args: argparse.Namespace) -> bool:
    """Senses several recordings; returns whether one could not be used or gave nothing."""
    from frame_ros.bags.find_bags import each_once
    from frame_ros.cli.report.reading import survey_all

    surveys = survey_all(args.bags, args.quiet)
    bags = each_once(bag for _, found in surveys for bag in found.bags)
    is_incomplete, said = False, set[str]()
    for bag, folder in zip(bags, folders_below(args.output, bags), strict=True):
        try:
            is_incomplete |= _sense_one(args, bag, folder)
        except (FrameRosError, OSError) as error:
            text = str(error)
            if text not in said:  # a parameter may be wrong for all
                print(plain(text if str(bag) in text else f'{bag}: {text}'), file=sys.stderr)
            said.add(text)
            is_incomplete = True
    return is_incomplete


def folders_below(output: Path, bags: Sequence[Path]) -> list[Path]:
    """Returns a folder for each bag, of its name; further ones of a name have a number."""
    used: Counter[str] = Counter()
    found = []
    for bag in bags:
        name = bag.name if bag.is_dir() else bag.stem
        used[name] += 1
        found.append(output / (name if used[name] == 1 else f'{name}_{used[name]}'))
    return found


def _sense_one(args: argparse.Namespace, path: Path, folder: Path) -> bool:
    """Senses one recording; returns whether contact was not known at any time of it."""
    from frame_ros.bags.reader import Bag
    from frame_ros.episodes.sensing.sense import sense_bag

    bag = Bag(path)
    found = sense_bag(
        bag,
        folder,
        request_of(args, bag),
        lambda messages, count: progress_bar(messages, bag.name, args.quiet, count),
    )
    is_never = found.tally.states == found.tally.unavailable.total()
    if not args.quiet or is_never:
        _print_summary(found, _report_command(found, from_arguments(SenseOptions, args)))
    return is_never


def request_of(args: argparse.Namespace, bag: Bag) -> Request:
    """Returns what the arguments ask for, of a bag.

    Raises:
        SetupError: the file of parameters, or a parameter, cannot be used.
    """
    from frame_ros.episodes.sensing.inputs import robot_of_bag
    from frame_ros.episodes.sensing.sense import Request

    choice = from_arguments(SenseOptions, args)
    topics = {role: '/' + topic.strip('/') for role, topic in choice.topics.items()}
    namespace = robot_of_bag(bag, choice.namespace, topics)
    values = _parameters(args.params_file, args.parameter, namespace)
    if choice.robot:
        values['robot'] = choice.robot
    settings = _settings(values)
    return Request(
        settings=settings,
        given=set(values),
        poll_period=settings.inputs.poll_period,
        names=node_names(settings),
        namespace=namespace,
        topics=topics,
        is_by_receipt=choice.stamps == RECEIVE,
        is_replacing=args.replace,
    )


def _settings(values: dict[str, Any]) -> ContactOptions:
    from frame_ros.core.options import from_values
    from frame_ros.nodes.contact.options import ContactOptions

    return from_values(ContactOptions, values)


def _parameters(file: Path | None, texts: list[str], namespace: str) -> dict[str, Any]:
    """Returns name -> value of the contact node's parameters that a user gives."""
    from frame_ros.bringup.declared_nodes import EVERY_NODE, from_parameter, parameters_of
    from frame_ros.bringup.parameter_files import given_parameters
    from frame_ros.bringup.run_options import RunOptions
    from frame_ros.core.name_values import parse_pairs
    from frame_ros.core.option_texts import parse
    from frame_ros.core.options import check_names

    values: dict[str, Any] = {}
    if file is not None:
        of_file = given_parameters(RunOptions(params_file=str(file), namespace=namespace), NODE)
        values = {n: from_parameter(v) for n, v in of_file.items() if not EVERY_NODE.fullmatch(n)}
        if not values:
            full = '/'.join([namespace, NODE]) if namespace else NODE
            raise SetupError(f'{file} has no parameters of the node {full}')
    declared = parameters_of(NODE)
    pairs = parse_pairs('--parameter', texts)
    check_names(pairs, declared, f'parameter of the node {NODE}')
    return values | {name: parse(declared[name], text) for name, text in pairs.items()}


def node_names(settings: ContactOptions) -> NodeNames:
    """Returns the names of the contact node's topics."""
    from frame_ros.episodes.sensing.sense import NodeNames
    from frame_ros.nodes.contact import topics
    from frame_ros.nodes.runtime.topics import FRANKA_TIP_WRENCH, FRANKA_WRENCH

    def of_arm(*declared: Topic) -> tuple[str, ...]:
        prefix = settings.robot_contact.topics
        return tuple(topic.of(broadcaster=prefix).name for topic in declared)

    return NodeNames(
        inputs={
            'joint_states': (topics.JOINT_STATES.name,),
            'action': (topics.JOINT_COMMANDS.name,),
            'wrench': (settings.wrench.topic,),
            'robot_wrench': of_arm(FRANKA_WRENCH),
            'robot_flags': of_arm(topics.FRANKA_STATE, topics.FRANKA_CONTACT),
            'grasp': (topics.GRASP.name,),
            'event': (topics.EPISODE_EVENTS.name,),
        },
        state=topics.STATE.name,
        events=topics.EVENTS.name,
        wrench=topics.EXTERNAL_WRENCH.name,
        others=of_arm(FRANKA_WRENCH, FRANKA_TIP_WRENCH),
    )


def _report_command(found: Sensed, choice: SenseOptions) -> str:
    """Returns the command of a report that reads the new bag as the recording was read."""
    from frame_ros.episodes.sensing.inputs import OF_REPORT

    words = ['frame-ros', 'report', str(found.folder)]
    if found.unnamed_robot:
        words += ['--robot', found.unnamed_robot]
    if choice.namespace is not None:
        words += ['--namespace', choice.namespace]
    if choice.stamps == RECEIVE:
        words += ['--stamps', RECEIVE]
    for role, topic in choice.topics.items():
        words += ['--topic', f'{role}={topic}'] if role in OF_REPORT else []
    return shlex.join(words)


def _print_summary(found: Sensed, report: str) -> None:
    from frame_ros.core.plain_text import counted

    tally = found.tally
    read = ', '.join(f'{role} {topic}' for role, topic in found.topics.items())
    lines = [
        f'{found.robot}: contact by {", ".join(found.sources)}, of {read}',
        f'{found.folder}: {counted(tally.contacts, "contact")} in {counted(tally.states, "state")}',
    ]
    reasons = tally.unavailable.most_common(MOST_REASONS)
    lines += [
        f'the contact node would say: {line}'
        for line in found.lines
        if not any(_of_source(line) in reason for reason, _ in reasons)
    ]
    lines += [*found.unused, *(f'recording: {problem}' for problem in found.problems)]
    for reason, count in reasons:
        lines.append(f'not known in {100.0 * count / tally.states:.1f} % of the states: {reason}')
    if found.is_tared is False:
        lines.append(
            "the sensor's bias was never found: contact is not known before a tare succeeds, for "
            'which the arm must stand, free of contact, for wrench.tare_window; where the '
            'recording has no such time: --parameter tare.at_start=false, with '
            'wrench.expected_bias if known'
        )
    lines.append(f'report on it: {report}')
    for line in lines:
        print(plain(line), file=sys.stderr)


def _of_source(line: str) -> str:
    """Returns why a source is unavailable, as a state says it, of a line of the contact node."""
    source, is_of, why = line.partition(' is unavailable: ')
    return f'{source}: {why}' if is_of else line
