# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Converts bags into a LeRobotDataset: checked first, then written."""

from __future__ import annotations

import os
import shutil
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from frame_ros.bags.find_bags import each_once, find_bags
from frame_ros.bags.reader import Bag
from frame_ros.core.errors import BagError, ValueRangeError
from frame_ros.core.plain_text import counted
from frame_ros.core.turns import continuous_among, nearest_turn
from frame_ros.episodes.copies import copies_among, recording_key
from frame_ros.episodes.episode import Episode
from frame_ros.episodes.export.dataset_frames import (
    FrameRun,
    check_rate,
    frame_runs,
    input_rates,
    reachable_rate,
    repeated_inputs,
)
from frame_ros.episodes.export.dataset_options import NO_CAMERAS, DatasetOptions
from frame_ros.episodes.interventions import interventions_of
from frame_ros.episodes.observations import RecordedObservations
from frame_ros.episodes.reading import read_bag
from frame_ros.episodes.recorded.actions import (
    RecordedActions,
    actions_of,
    is_ended,
    problems_of_recording,
)
from frame_ros.episodes.recorded.units import joint_problems, unit_conflict
from frame_ros.episodes.reference_loading import is_successful
from frame_ros.robots.known_joints import robot_of_joints
from frame_ros.robots.likely_units import RAD

PARTIAL_SUFFIX = '.partial'
LEAST_FRAMES = 2


@dataclass
class ExportReport:
    """The result of an export.

    Attributes:
        episodes: of the data set; one recorded episode may give several.
        left_out: reason -> episodes or frames that were not written.
        repeated: input -> frames in which it is that of the frame before.
        problems: bags that were skipped, and why.
        notes: remarks on those that were written.
    """

    folder: Path
    fps: int = 0
    episodes: int = 0
    frames: int = 0
    cameras: dict[str, tuple[int, int]] = field(default_factory=dict)
    left_out: Counter[str] = field(default_factory=Counter)
    repeated: Counter[str] = field(default_factory=Counter)
    problems: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class _Plan:
    """A recorded episode to be written, by its place in its bag."""

    bag: Path
    place: int
    rates: dict[str, float]
    cameras: dict[str, tuple[int, int]]
    remarks: list[str]  # on its values, for the user
    identity: tuple[str, int] | None  # of the episode, as of `recording_key`
    completeness: tuple[bool, int]


def export_dataset(
    paths: Sequence[str | os.PathLike[str]],
    folder: str | os.PathLike[str],
    options: DatasetOptions,
    progress: Callable[[Sequence[_Plan]], Iterable[_Plan]] = iter,
) -> ExportReport:
    """Writes recorded episodes as a LeRobotDataset into a new folder, whole or not at all.

    Args:
        paths: bags, or folders of bags.
        progress: wraps the loop over episodes.

    Raises:
        BagError: a bag cannot be used (all that cannot are named), or nothing is left to write.
        ValueRangeError: the folder is there already, or an option is out of its range.
        MissingExtraError: LeRobot is not installed.
    """
    report = ExportReport(Path(folder))
    partial = report.folder.with_name(report.folder.name + PARTIAL_SUFFIX)
    for existing in (report.folder, partial):
        if os.path.lexists(existing):
            raise ValueRangeError(
                f'{existing} is there already; nothing is overwritten: name a new folder '
                '(--output DIR)'
            )
    plans = _plan(paths, options, report)
    if report.problems and not options.is_skipping_bad:
        raise BagError(
            f'nothing was written: {"; ".join(report.problems)}; bags that do not fit are left out '
            'with --skip-bad'
        )
    if not plans:
        why = '; '.join([*report.problems, *(f'{n} x {w}' for w, n in report.left_out.items())])
        raise BagError(
            f'nothing is left to write ({why or "no episode"}); --success-only and --skip-bad '
            'leave episodes out'
        )
    report.fps = options.fps or min(reachable_rate(plan.rates) for plan in plans)
    report.cameras = plans[0].cameras
    try:
        _write(plans, partial, options, report, progress)
        os.rename(partial, report.folder)
    except BaseException:
        shutil.rmtree(partial, ignore_errors=True)
        raise
    return report


def _plan(
    paths: Sequence[str | os.PathLike[str]], options: DatasetOptions, report: ExportReport
) -> list[_Plan]:
    """Returns the episodes to write; problems of others go to the report."""
    plans: list[_Plan] = []
    for path in each_once(bag for given in paths for bag in find_bags(os.fspath(given))):
        try:
            bag = Bag(path)
            for place, episode in enumerate(_read(bag, options)):
                if options.is_success_only and not is_successful(episode):
                    report.left_out['episodes that did not end in success'] += 1
                    continue
                plan = _plan_one(bag, place, episode, options)
                if plans:
                    _check_same(plan, plans[0])
                plans.append(plan)
                report.notes += problems_of_recording(episode)
                report.notes += (f'{bag.name}: {text}' for text in plan.remarks)
        except BagError as error:
            text = str(error)
            report.problems.append(text if str(path) in text else f'{path}: {text}')
    copies = copies_among((plan.identity, plan.completeness) for plan in plans)
    for place, kept in copies.items():
        report.notes.append(
            f'{plans[place].bag}: left out, a recording of the same episode as {plans[kept].bag}'
        )
    return [plan for place, plan in enumerate(plans) if place not in copies]


def _read(bag: Bag, options: DatasetOptions) -> list[Episode]:
    reading = options.reading()
    if options.joint_units == RAD:
        reading['robot'] = None  # as recorded
    return read_bag(bag, **reading)


def _plan_one(bag: Bag, place: int, episode: Episode, options: DatasetOptions) -> _Plan:
    is_unchanged = options.joint_units == RAD
    if is_unchanged and (conflict := unit_conflict(episode.streams, options.known_robot)):
        raise BagError(f'{bag.path}: {conflict}')
    actions, observations = _opened(bag, episode, options)
    if not observations.instruction:
        raise BagError(f'{bag.path}: no instruction was recorded; give it with --task TEXT')
    rates = input_rates(actions, observations)
    if not options.fps:
        reachable_rate(rates)  # refuses this bag where there is none
    elif not options.is_repeating:
        check_rate(rates, options.fps)
    for name in ('joint_commands', 'joint_states'):
        table = actions.names if name == 'joint_commands' else observations.joints.names
        if missing := [joint for joint in options.joint_names if joint not in table]:
            way = 'choose with --joints A,B,..., or another robot with --robot NAME'
            if len(missing) == len(options.joint_names):  # of these there is nothing to choose
                way = f'give the robot: --robot {robot_of_joints(table) or "NAME or FILE.urdf"}'
            raise BagError(
                f'{bag.path}: {name} lack {", ".join(missing)}; they have {", ".join(table)}; {way}'
            )
    sizes = {name: camera.size for name, camera in observations.cameras.items()}
    remarks = joint_problems(episode.streams, options.known_robot) if is_unchanged else []
    for name, camera in observations.cameras.items():
        remarks += (
            f'{name}: {counted(n, "image")} {why} left out' for why, n in camera.left_out.items()
        )
    return _Plan(
        bag.path, place, rates, sizes, list(map(str, remarks)), *recording_key(episode)
    )  # fmt: skip


def _check_same(plan: _Plan, first: _Plan) -> None:
    if plan.cameras != first.cameras:
        raise BagError(
            f'{plan.bag}: its cameras are {_sizes(plan)}; those of {first.bag.name} are '
            f'{_sizes(first)}: one data set has the same cameras in all episodes; '
            'choose those that all have with --cameras A,B,...'
        )


def _sizes(plan: _Plan) -> str:
    return ', '.join(f'{name} {w}x{h}' for name, (w, h) in plan.cameras.items()) or 'none'


def _opened(
    bag: Bag, episode: Episode, options: DatasetOptions
) -> tuple[RecordedActions, RecordedObservations]:
    cameras = () if options.cameras == (NO_CAMERAS,) else options.cameras or None
    observations = RecordedObservations(
        episode, cameras, options.poses, options.max_age, options.task or None, bag
    )
    if cameras is None and not observations.cameras:
        raise BagError(
            f'{bag.path}: no images were recorded; --cameras none writes a data set without'
        )
    return actions_of(episode), observations


def _write(
    plans: Sequence[_Plan],
    folder: Path,
    options: DatasetOptions,
    report: ExportReport,
    progress: Callable[[Sequence[_Plan]], Iterable[_Plan]],
) -> None:
    from frame_ros.episodes.export.demonstrations import FLAGS, DemonstrationDataset

    dataset = DemonstrationDataset(
        folder,
        options.joint_names,
        options.known_robot.grippers,
        report.fps,
        options.poses,
        report.cameras,
        Path(options.robot).stem,
        options.units,
        options.repo_id or f'local/{report.folder.name}',
        '' if options.has_images else options.codec,
        tuple(FLAGS) if options.has_flags else (),
    )
    for plan in progress(plans):
        bag = Bag(plan.bag)
        episode = _read(bag, options)[plan.place]
        actions, observations = _opened(bag, episode, options)
        segments = interventions_of(episode).segments
        runs, left_out = frame_runs(
            actions, observations, segments, report.fps, options.keep, options.max_age
        )
        report.left_out.update({f'frames: {why}': count for why, count in left_out.items()})
        for run in runs:
            if len(run) < LEAST_FRAMES:
                report.left_out[f'frames: in a run of fewer than {LEAST_FRAMES}'] += len(run)
                continue
            turning = options.known_robot.continuous
            _write_run(dataset, run, actions, observations, episode, turning)
            report.repeated.update(repeated_inputs(run, observations))
            report.episodes, report.frames = report.episodes + 1, report.frames + len(run)
        report.notes += (
            f'{bag.name}: {name}: damaged images: {len(camera.damaged)}; frames have the one before'
            for name, camera in observations.cameras.items()
            if camera.damaged
        )
    if not report.episodes:
        raise BagError(f'no frame is left to write: {dict(report.left_out)}')
    dataset.close()


def _write_run(
    dataset: object,
    run: FrameRun,
    actions: RecordedActions,
    observations: RecordedObservations,
    episode: Episode,
    continuous: Collection[str],
) -> None:
    """Writes frames; actions of the joints that turn without end (`continuous`) at the turn nearest
    where these are observed.
    """
    from frame_ros.episodes.export.demonstrations import DemonstrationDataset

    assert isinstance(dataset, DemonstrationDataset)
    names = tuple(name for name in actions.names if name in observations.joints.names)
    taken = [actions.names.index(name) for name in names]
    order = [observations.joints.names.index(name) for name in names]
    turning = continuous_among(names, continuous)
    for i, stamp in enumerate(run.observed.tolist()):
        seen = observations.at(stamp)
        seen = replace(
            seen, joint_names=names, joint_positions=seen.joint_positions[np.array(order)]
        )
        is_last = run.is_end and i == len(run) - 1 and is_ended(episode)
        is_done = is_last and is_successful(episode)
        dataset.add(
            seen,
            nearest_turn(run.actions[i][taken], seen.joint_positions, turning),
            {
                'next.reward': float(is_done),
                'next.done': is_last,
                'next.success': is_done,
                'intervention': bool(run.is_person[i]),
                'complementary_info.is_intervention': float(run.is_person[i]),
            },
        )
    dataset.save_episode()
