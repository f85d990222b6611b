# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""`frame-ros open-loop BAG...`: predictions of a policy from recorded observations, against the
executed actions.
"""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from frame_ros.bags.recording_options import ObservationOptions
from frame_ros.cli.arguments import given
from frame_ros.cli.metrics import format_table
from frame_ros.cli.progress import progress_bar
from frame_ros.core.errors import BagError
from frame_ros.core.option_texts import add_options, from_arguments
from frame_ros.core.options import evolved, from_values, option, options
from frame_ros.core.plain_text import counted, plain
from frame_ros.policies.choices import OfflineChoices, offered_of
from frame_ros.policies.policy_names import ANY_POLICY
from frame_ros.robots.likely_units import RAD
from frame_ros.robots.profiles import DEFAULT_ROBOT

if TYPE_CHECKING:
    from frame_ros.episodes.episode import Episode
    from frame_ros.episodes.recorded.actions import RecordedActions
    from frame_ros.evaluation.action_errors import OpenLoopSummary
    from frame_ros.evaluation.open_loop import EpisodeErrors
    from frame_ros.policies.base import Policy
    from frame_ros.policies.protocol import Inference, Observation
    from frame_ros.robots import Robot

FORMAT = 'frame_ros open-loop 1'
MOST_STEPS = 12


@options
class OpenLoopOptions(OfflineChoices, ObservationOptions):
    """The policy, and the recordings."""

    robot: str = option('', 'name, profile or URDF file; none: as recorded, or so101')
    action_options: Mapping[str, Any] = option(
        {}, 'meaning of actions that are no joint positions, as in the policy node'
    )
    every: int = option(10, 'predict at every Nth action', at_least=1)
    instruction: str = option('', 'task of the policy; none: as recorded')
    seed: int = option(0, 'of policy and bootstrap', at_least=0)


NAMES = {
    'policy_options': '--option',
    'action_options': '--action-option',
    'topics': '--topic',
}
NOT_USED = ('samples', 'temperatures', 'action_rate', 'camera_names')


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the arguments."""
    parser.add_argument(
        'bags', nargs='+', metavar='BAG', help='a bag, or a folder of bags', type=given
    )
    source = parser.add_mutually_exclusive_group(required=True)
    source.add_argument('--policy', metavar='NAME', help=ANY_POLICY)
    source.add_argument(
        '--recorded',
        action='store_true',
        help='no policy: the chunks that were predicted when the bag was recorded',
    )
    add_options(parser, OpenLoopOptions, NOT_USED, NAMES)
    parser.add_argument('--json', action='store_true', help='print JSON instead of tables')
    parser.add_argument('-q', '--quiet', action='store_true', help='no progress bar')


def run(args: argparse.Namespace) -> int:
    """Evaluates, and prints tables or JSON.

    Raises:
        BagError: a bag is missing or lacks what is needed.
        PolicyError: the policy cannot be made, or predicts nothing comparable.
        ValueRangeError: an option that is not NAME=VALUE.
    """
    from frame_ros.episodes.copies import each_once
    from frame_ros.episodes.recorded.actions import read_raw
    from frame_ros.evaluation.action_errors import summarise_errors
    from frame_ros.robots import load_robot

    options = from_arguments(OpenLoopOptions, args)
    reading = options.reading()
    check_policy(args.policy, options)
    if options.joint_units == RAD:
        reading['robot'] = None  # as recorded
    is_given = bool(options.robot)
    episodes, copies = each_once([e for bag in args.bags for e in read_raw(bag, **reading)])
    options = evolved(options, robot=options.robot or _recorded_robot(episodes[0]))
    robot = load_robot(options.robot)
    progress = progress_bar(episodes, 'open loop', args.quiet, len(episodes))
    if args.recorded:
        name, results = 'recorded chunks', recorded_errors(robot, progress)
    else:
        policy = make_open_loop_policy(args.policy, options, robot, episodes[0])
        name, results = policy.name, policy_errors(policy, robot, progress, options)
    summary = summarise_errors(results, robot.joint_limits, options.seed)
    known = [problem for episode in episodes for problem in _problems(episode, is_given)]
    summary = replace(summary, notes=(*summary.notes, *known, *copies))
    if args.json:
        data = as_data(summary, name, options.checkpoint, None if args.recorded else options.every)
        print(json.dumps(data, indent=2, allow_nan=False))
    else:
        print(as_text(summary, name))
    return 0


def _problems(episode: Episode, has_robot: bool) -> list[str]:
    """Returns what is said of a recording, but that its robot was not opened where one is given."""
    from frame_ros.episodes.recorded.actions import problems_of_recording
    from frame_ros.episodes.recorded.robot import NOT_OPENED, not_opened_text

    unopened = not_opened_text(episode.attributes.get(NOT_OPENED, ''))
    found = problems_of_recording(episode)
    return [problem for problem in found if not (has_robot and problem.endswith(unopened))]


def _recorded_robot(episode: Episode) -> str:
    """Returns the robot that was recorded with an episode, or so101 if none was.

    Raises:
        BagError: the recording names a description that is not opened.
    """
    from frame_ros.episodes.recorded.robot import NOT_OPENED, not_opened_text

    if named := episode.attributes.get(NOT_OPENED):
        raise BagError(not_opened_text(named))
    return str(episode.attributes.get('robot') or DEFAULT_ROBOT)


def check_policy(policy: str, options: OpenLoopOptions) -> None:
    """Checks the policy and its options before the bags are read.

    policy: '' for none.

    Raises:
        FrameRosError: it cannot be made, or an option is unknown or out of range.
    """
    from frame_ros.policies import registry
    from frame_ros.policies.execution.action_options import ActionSpaceOptions
    from frame_ros.robots import load_robot

    from_values(ActionSpaceOptions, options.action_options)
    if policy:
        offered: dict[str, Any] = {'folder': options.checkpoint} if options.checkpoint else {}
        if options.robot:
            offered['robot'] = options.robot
            offered['robot_joint_names'] = tuple(load_robot(options.robot).joint_limits)
        required = dict.fromkeys(offered.keys() & {'folder'}, 'a checkpoint')
        registry.check_policy(policy, offered, required, options.policy_options, is_tried=False)


def make_open_loop_policy(
    policy: str, options: OpenLoopOptions, robot: Robot, episode: Episode
) -> Policy:
    """Makes the policy. Chunks of a policy without a rate of its own have that of the episode's
    actions.
    """
    from frame_ros.episodes.recorded.actions import actions_of
    from frame_ros.policies.registry import make_policy
    from frame_ros.policies.replay import action_times

    own = options.policy_options
    if policy == 'replay':
        topics = _topics_in(options.checkpoint, options.reading()['topics'])
        chosen = {
            'namespace': options.namespace,
            'topics': topics,
            'stamps': options.stamps,
            'action_joints': options.action_joints if 'action' in topics else (),
        }
        own = {'start': 'at_once', **chosen, **own}
    _, period = action_times(actions_of(episode).stamps)
    if math.isfinite(period):
        options = evolved(options, action_rate=1.0 / period)
    return make_policy(policy, offered_of(options, robot), **own)


def _topics_in(checkpoint: str, topics: Mapping[str, str]) -> dict[str, str]:
    """Returns those of the named topics that bags of a checkpoint have."""
    from frame_ros.bags.find_bags import find_bags
    from frame_ros.bags.reader import Bag

    if not topics:
        return {}
    found = {name for bag in find_bags(Path(checkpoint).expanduser()) for name in Bag(bag).topics}
    return {role: topic for role, topic in topics.items() if topic in found}


def policy_errors(
    policy: Policy, robot: Robot, episodes: Iterable[Episode], options: OpenLoopOptions
) -> list[EpisodeErrors]:
    """Returns the errors of a policy in each episode."""
    from frame_ros.episodes.observations import RecordedObservations
    from frame_ros.evaluation.open_loop import compare, predict
    from frame_ros.policies.execution.action_check import ACTION_SPACE, UNITS
    from frame_ros.policies.execution.action_spaces import ActionConverter

    converter = ActionConverter(robot, **options.action_options)

    def convert(found: Inference, seen: Observation) -> Inference:
        # Joints of a robot that is not known are compared by their names.
        is_plain = found.action_space == ACTION_SPACE and set(found.action_units) <= set(UNITS)
        if is_plain and not options.action_options:
            return found
        return converter.to_joint_positions(found, seen)

    task = options.instruction or None
    results = []
    for episode in episodes:
        actions = _actions_of(episode, robot)
        observations = RecordedObservations(
            episode, policy.cameras, policy.poses, options.max_age, task
        )
        converter.reset()
        predictions, left_out = predict(
            policy, actions, observations, options.every, options.seed, convert
        )
        results.append(compare(predictions, actions, left_out))
    return results


def _actions_of(episode: Episode, robot: Robot) -> RecordedActions:
    """Returns the actions of an episode, of joints as the robot has them."""
    from frame_ros.episodes.recorded.actions import actions_of

    found = actions_of(episode)
    return replace(found, continuous=robot.continuous or found.continuous)


def recorded_errors(robot: Robot, episodes: Iterable[Episode]) -> list[EpisodeErrors]:
    """Returns the errors of the chunks that were recorded in each episode."""
    from frame_ros.episodes.recorded.chunks import recorded_chunks
    from frame_ros.evaluation.open_loop import Prediction, compare

    results = []
    for episode in episodes:
        chunks, left_out = recorded_chunks(episode)
        predictions = [
            Prediction(c.start, c.actions, c.dt, c.names, c.units, c.action_space) for c in chunks
        ]
        results.append(compare(predictions, _actions_of(episode, robot), left_out))
    return results


def as_data(
    summary: OpenLoopSummary, policy: str, checkpoint: str, every: int | None
) -> dict[str, Any]:
    """Returns the summary as plain JSON types, with null for missing values."""
    data = {
        'format': FORMAT,
        'policy': policy,
        'checkpoint': checkpoint,
        'every': every,
        'units': {'mse': 'rad^2', 'share': 'of the joint range', 'joints': 'rad', 'time': 's'},
        'amse': asdict(summary.amse),
        'namse': asdict(summary.namse),
        'amse_share': asdict(summary.amse_share),
        'spread': list(summary.spread),
        'chunks': summary.chunks,
        'compared_steps': summary.rows,
        'joints': [asdict(joint) for joint in summary.joints],
        'steps': [asdict(step) for step in summary.steps],
        'left_out': dict(summary.left_out),
        'notes': list(summary.notes),
        'episodes': [_episode_data(episode) for episode in summary.episodes],
    }
    safe: dict[str, Any] = _without_nan(data)
    return safe


def _episode_data(episode: EpisodeErrors) -> dict[str, Any]:
    return {
        'episode_id': episode.episode_id,
        'bag': str(episode.path),
        'mse': episode.mse,
        'chunks': episode.chunks,
        'compared_steps': len(episode.step),
        'left_out': dict(episode.left_out),
    }


def _without_nan(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_nan(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_without_nan(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def as_text(summary: OpenLoopSummary, policy: str) -> str:
    """Returns the summary as tables for a terminal."""
    count = len(summary.episodes)
    parts = [
        f'{plain(policy)}: {counted(count, "episode")}, {counted(summary.chunks, "chunk")}, '
        f'{counted(summary.rows, "step")} compared with executed actions (rad; "range": '
        'over the range of each joint)',
        format_table([('error', 'value', '95 % interval', 'meaning'), *_totals(summary)]),
        format_table([('episode', 'mse (rad²)', 'chunks', 'steps'), *_episode_rows(summary)]),
        format_table([('joint', 'RMS (rad)', 'RMS (range)', 'mean abs.', 'largest', 'bias'),
                      *_joint_rows(summary)]),
        format_table([('step', 'after (s)', 'mse (rad²)', 'mse (range²)', 'chunks'),
                      *_step_rows(summary)]),
    ]  # fmt: skip
    more = [f'left out: {number:,} × {reason}' for reason, number in summary.left_out.items()]
    more += [f'note: {note}' for note in summary.notes]
    return '\n\n'.join([*parts, *map(plain, more)])


def _totals(summary: OpenLoopSummary) -> list[tuple[str, ...]]:
    rows: list[tuple[str, ...]] = []
    for name, found, unit, meaning in (
        ('amse', summary.amse, ' rad²', 'squared error summed over joints; mean of the episodes'),
        ('amse (range)', summary.amse_share, '', 'the same, every joint over its range'),
        ('namse', summary.namse, '', 'amse over the variance of the executed actions'),
    ):
        interval = f'{_number(found.lower)} to {_number(found.upper)}'
        is_known = math.isfinite(found.lower)
        rows.append((name, _number(found.value) + unit, interval if is_known else '-', meaning))
    return rows


def _episode_rows(summary: OpenLoopSummary) -> list[tuple[str, ...]]:
    return [
        (e.episode_id or Path(e.path).name, _number(e.mse), f'{e.chunks}', f'{len(e.step)}')
        for e in summary.episodes
    ]


def _joint_rows(summary: OpenLoopSummary) -> list[tuple[str, ...]]:
    return [
        (j.name, *map(_number, (j.root_mean_square, j.share, j.mean_absolute, j.largest, j.bias)))
        for j in summary.joints
    ]


def _step_rows(summary: OpenLoopSummary) -> list[tuple[str, ...]]:
    """Returns rows of at most MOST_STEPS steps of the chunk, with the first and the last."""
    steps = summary.steps
    places = {round(i * (len(steps) - 1) / (MOST_STEPS - 1)) for i in range(MOST_STEPS)}
    return [
        (f'{s.step}', f'{s.time:.3f}', _number(s.mse), _number(s.share), f'{s.count}')
        for s in (steps[i] for i in sorted(places))
    ]


def _number(value: float) -> str:
    return f'{value:.4g}' if math.isfinite(value) else '-'
