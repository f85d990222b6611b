# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Precision and recall of the detector of releases and drops, on telemetry not made for it.

Servo: an emulated STS3215 closes on elastic things of many widths, with backlash, a late and lossy
bus, and targets of policies and of hands. Scene: the simulated pick and place of the SO-101 and the
FR3, in which the truth is the cube in the bin. Each miss and each false one is printed.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from parts.bars import Bars, parse
from parts.gripper_worlds import WORLDS, record

from frame_ros.core.events import EventType
from frame_ros.core.time import SECOND
from frame_ros.episodes.episode import Episode
from frame_ros.evaluation.operations.candidates import Candidate, Verdict
from frame_ros.evaluation.operations.detection import Detection, detect
from frame_ros.evaluation.operations.detector_options import DetectorOptions
from frame_ros.policies.scripted.pick_place import ScriptedOptions, ScriptedPickPlace
from frame_ros.scenes.rollout import Rollouts

Rollout = tuple[str, list[tuple[float, str]], Episode]  # name, truth, episode
TOLERANCE = 1.0  # s
REST = 0.6  # s, from the release to the cube at rest in the bin, about
# m, of a circle around the bin's inside and half a cube more.
BIN_RADII = {'so101': 0.082, 'fr3': 0.143}
# Worlds in which the detector can be right: neither thin things nor such as a hand squeezes softly.
JUDGED = ('rigid, policy', 'rigid, slow ramps', 'rigid, leader arm', 'soft', 'backlash 0.05 rad',
          'late and lossy bus')  # fmt: skip


@dataclass
class Tally:
    """Counts over episodes of one kind.

    Attributes:
        true: items by their true end, 'success' or 'failure'.
        found: candidates with such a verdict, right or not.
        right: those that are right.
        agreeing: episodes with as many successes found as there were, and nothing undecided.
    """

    true: dict[str, int]
    found: dict[str, int]
    right: dict[str, int]
    episodes: int = 0
    agreeing: int = 0
    undecided: int = 0

    @classmethod
    def empty(cls) -> Tally:
        """Returns the tally of no episode."""
        return cls(*({'success': 0, 'failure': 0} for _ in range(3)))

    def recall(self, kind: str) -> float:
        """Share of the true ones that were found."""
        return self.right[kind] / self.true[kind] if self.true[kind] else float('nan')

    def precision(self, kind: str) -> float:
        """Share of those found that are true."""
        return self.right[kind] / self.found[kind] if self.found[kind] else float('nan')

    def add(self, name: str, truth: Sequence[tuple[float, str]], candidates: Sequence[Candidate],
            is_shown: bool) -> None:  # fmt: skip
        """Matches candidates with the truth of one episode, the nearest in time first."""
        left = list(truth)
        for kind in ('success', 'failure'):
            self.true[kind] += sum(end == kind for _, end in truth)
        for each in candidates:
            if each.verdict.value not in self.found:
                continue
            kind = each.verdict.value
            self.found[kind] += 1
            near = [t for t in left if t[1] == kind and abs(t[0] - each.time) <= TOLERANCE]
            if near:
                self.right[kind] += 1
                left.remove(min(near, key=lambda t: abs(t[0] - each.time)))
            elif is_shown:
                print(f'  {name}: false {kind} at {each.time:.2f} s: {each.reason}')
        unknown = sum(each.verdict is Verdict.UNKNOWN for each in candidates)
        found = sum(each.verdict is Verdict.SUCCESS for each in candidates)
        self.episodes += 1
        self.undecided += unknown
        self.agreeing += not unknown and found == sum(end == 'success' for _, end in truth)
        for moment, kind in left if is_shown else ():
            print(f'  {name}: missed {kind} at {moment:.2f} s')


def main() -> int:
    """Prints the tables; 1 if a bar is not met."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--episodes', type=int, default=40, help='of each servo world')
    parser.add_argument('--rollouts', type=int, default=12, help='of each robot and quality')
    parser.add_argument('--first', type=int, default=1000, help='seed of the first episode')
    parser.add_argument('--misses', action='store_true', help='print each miss and false one')
    args = parse(parser, episodes=2, rollouts=1)
    bars, begun = Bars(args), time.perf_counter()
    print(f'{"":28} episodes  items  recall prec.  drops  recall prec.  undecided  count agrees')
    sums = Tally.empty()
    for world in WORLDS:
        tally = Tally.empty()
        for seed in range(args.first, args.first + args.episodes):
            made = record(world, seed)
            found = detect(made.episode).candidates
            for each in (tally, sums) if world.name in JUDGED else (tally,):
                shown = args.misses and each is tally
                each.add(made.episode.episode_id, made.truth, found, shown)
        show(world.name, tally)
    scenes = Tally.empty()
    for robot, radius in BIN_RADII.items():
        default, tally = Tally.empty(), Tally.empty()
        options = DetectorOptions(goal_radius=radius)
        for name, truth, episode in rollouts(robot, args.first, args.rollouts):
            default.add(name, truth, successes(detect(episode)), args.misses)
            for each in (tally, scenes):
                each.add(name, truth, successes(detect(episode, (), options)), False)
        chained = Tally.empty()
        for name, truth, episode in chains(robot, args.first + 500, args.rollouts):
            chained.add(name, truth, successes(detect(episode, (), options)), args.misses)
        show(f'{robot}, scene, default zone', default)
        show(f'{robot}, scene, its bin', tally)
        show(f'{robot}, 3 scenes in one', chained)
    bars.at_least('servo, successes: recall', sums.recall('success'), 0.95)
    bars.at_least('servo, successes: precision', sums.precision('success'), 0.98)
    bars.at_least('servo, drops: recall', sums.recall('failure'), 0.9)
    bars.at_least('servo, drops: precision', sums.precision('failure'), 0.9)
    bars.at_least('scene, successes: recall', scenes.recall('success'), 0.9)
    bars.at_least('scene, successes: precision', scenes.precision('success'), 0.95)
    print(f'{time.perf_counter() - begun:.0f} s')
    return bars.exit_status()


def show(name: str, tally: Tally) -> None:
    """Prints the row of one kind."""
    cells = [
        f'{tally.true[kind]:6d}  {tally.recall(kind):6.3f} {tally.precision(kind):5.3f}'
        for kind in ('success', 'failure')
    ]
    agrees = f'{tally.agreeing}/{tally.episodes}'
    print(f'{name:28} {tally.episodes:8d} {" ".join(cells)}  {tally.undecided:9d}  {agrees:>12}')


def successes(detection: Detection) -> list[Candidate]:
    """Returns what the truth of a scene can judge."""
    return [each for each in detection.candidates if each.verdict is not Verdict.FAILURE]


def rollouts(robot: str, first: int, count: int) -> Iterator[Rollout]:
    """Yields name, truth and episode of scripted rollouts. The truth knows no drop: the cube may be
    collected until the end.
    """
    simulated = Rollouts(robot=robot, timeout=20.0)
    for quality in (1.0, 0.5, 0.2):
        policy = ScriptedPickPlace(ScriptedOptions(quality=quality, robot=robot))
        for seed in range(first, first + count):
            episode = simulated.run(policy, seed)
            begin = episode.events[0].stamp
            done = [e.stamp for e in episode.events if e.type is EventType.SUCCESS]
            truth = [((stamp - begin) / SECOND - REST, 'success') for stamp in done]
            yield f'{robot} {quality:g} {seed}', truth, episode
    simulated.close()


def chains(robot: str, first: int, count: int) -> Iterator[Rollout]:
    """Yields name, truth and episode of three rollouts of one quality, joined to one episode."""
    rows = list(rollouts(robot, first, 3 * count))
    for begin in range(0, len(rows) - 2, 3):
        part = rows[begin : begin + 3]
        offset, truth = 0, []
        for _, own, episode in part:
            truth += [(moment + offset / SECOND, kind) for moment, kind in own]
            shift(episode, offset)
            offset += episode.events[-1].stamp - episode.events[0].stamp + SECOND // 10
        yield part[0][0], truth, joined([episode for _, _, episode in part])


def shift(episode: Episode, offset: int) -> None:
    """Moves an episode in time, ns."""
    episode.events = [replace(each, stamp=each.stamp + offset) for each in episode.events]
    for role, stream in episode.streams.items():
        moved = replace(stream, stamps=stream.stamps + offset, received=stream.received + offset)
        episode.streams[role] = moved


def joined(episodes: Sequence[Episode]) -> Episode:
    """Returns one episode of several that follow each other, with what the detector reads."""
    streams = {}
    for role in ('action', 'joint_states', 'pose', 'goal'):
        parts = [each.streams[role] for each in episodes]
        streams[role] = replace(
            parts[0],
            stamps=np.concatenate([part.stamps for part in parts]),
            received=np.concatenate([part.received for part in parts]),
            values={
                name: np.concatenate([part.values[name] for part in parts])
                for name in parts[0].values
            },
        )
    events = [episodes[0].events[0], episodes[-1].events[-1]]
    return replace(episodes[0], events=events, streams=streams)


if __name__ == '__main__':
    sys.exit(main())
