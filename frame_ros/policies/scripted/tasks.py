# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""A policy that does the four tasks in simulated scenes, with weaknesses that can be planted."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from frame_ros.core.errors import PolicyError
from frame_ros.core.options import option, options
from frame_ros.policies.known_scene import KnownObject, KnownScene
from frame_ros.policies.protocol import Inference, Observation
from frame_ros.policies.scripted.grasps import (
    LOWEST,
    Grasp,
    Grasping,
    level_radius,
    vertical_extent,
)
from frame_ros.policies.scripted.pick_place import Plan, ScriptedOptions, ScriptedPickPlace, pose_in
from frame_ros.policies.scripted.reaching import solve_reach
from frame_ros.robots.motion import rotation_of

Array = NDArray[np.float64]
WEAKNESSES = {
    'sector': 'a target in a sector of the table, seen from the robot, is missed',
    'colour': 'of a confounder with the colour of the target, that one is taken',
    'heavy': 'a heavy object is let go as soon as it is lifted',
}
# rad from the middle of where targets stand, where the sector of that weakness begins and ends.
SECTOR = (-0.45, -0.2)
SECTOR_MISS = 0.05  # m
HEAVY = 0.09  # kg
CLEAR = 0.02  # m, between what is carried and what it passes over
NEAR_GAP = 0.025  # m, between the circles of target and receptacle of move_near
PLACED = 0.003  # m, above what it is put on, where an object is let go
FINGERS = 0.03  # m, room of the fingers next to where an object is put
HELD = 0.015  # m, by which an object that is held is higher after the lift
SLIP_HEIGHT = 0.01  # m, of the lift after which a heavy object is let go
_DIRECTIONS = 24
_REACHED = 0.01  # m


@options
class ScriptedTasksOptions(ScriptedOptions):
    """Options of the scripted policy of scenes."""

    weaknesses: tuple[str, ...] = option((), f'planted weaknesses: {", ".join(WEAKNESSES)}, or all')


class ScriptedTasks(ScriptedPickPlace):
    """Picks up, moves near, puts on, puts in, in a simulated scene whose objects it knows.

    Motions are those of `ScriptedPickPlace`, with grasps and heights for the shapes at hand. What
    is carried passes above all that stands, if the arm reaches so high.

    weaknesses: names of WEAKNESSES, for the evaluation of a search that is to find them.
    """

    Options = ScriptedTasksOptions
    name = 'scripted_tasks'
    needs_scene = True

    def __init__(self, options: ScriptedTasksOptions | None = None) -> None:
        """Raises RobotError: as of ScriptedPickPlace. PolicyError: there is no such weakness."""
        options = options or ScriptedTasksOptions()
        chosen = tuple(WEAKNESSES) if 'all' in options.weaknesses else options.weaknesses
        if unknown := [each for each in chosen if each not in WEAKNESSES]:
            raise PolicyError(
                f'there is no weakness {unknown[0]!r}; there are {", ".join(WEAKNESSES)}, or all'
            )
        self._weaknesses = frozenset(chosen)
        self._scene: KnownScene | None = None
        self._poses: Mapping[str, Array] = {}
        super().__init__(options)
        self._grasping = Grasping(self._arm, self._robot)
        assert self._robot.profile.simulation is not None
        ends = self._robot.profile.simulation.table.object_azimuths
        self._bin_wall = self._robot.profile.simulation.table.bin_wall
        self._middle = (ends[0] + ends[1]) / 2

    def know(self, scene: KnownScene) -> None:
        """Takes the task and the objects of the next episode."""
        self._scene = scene

    def infer(self, observation: Observation) -> Inference:
        """Returns the next `horizon` joint positions, the first for now.

        Raises:
            PolicyError: the scene is not known, or a joint or a pose is missing or not finite.
        """
        scene = self._known()
        self._poses = {each.name: pose_in(observation, each.name) for each in scene.objects}
        taken = self._taken()
        poses = {**observation.poses, 'object': self._poses[taken.name]}
        return super().infer(replace(observation, poses=poses))

    def _known(self) -> KnownScene:
        if self._scene is None:
            raise PolicyError(
                f'the policy {self.name} acts in simulated scenes only, whose objects it must know'
            )
        return self._scene

    def _taken(self) -> KnownObject:
        """The object that is taken."""
        scene = self._known()
        if 'colour' in self._weaknesses:
            for each in scene.objects:
                if each.role == 'confounder' and each.colour == scene.target.colour:
                    return each
        return scene.target

    def _pick(self, plan: Plan, goal: Array) -> Iterator[None]:
        arm, target, taken = self._arm, plan.target, self._taken()
        grasp = self._grasping.of(taken, target)
        at = target[:3] * (1, 1, 0) + self._miss(plan) + self._sector_miss(target)
        high = grasp.top + arm.above - self._grasping.cube
        above = self._reach(plan, at, high, grasp.rotation, grasp.before)
        self._joint_move(plan, above, grasp.opened, 1.5)
        plan.approach_end = plan.steps
        yield
        down = (high, grasp.height)
        self._line_move(plan, at, down, grasp.rotation, grasp.before, 1.0)
        yield
        self._grip(plan, arm.closed, arm.closing_time)
        yield
        lifted, low = self._carry_height(at, grasp), grasp.height
        if 'heavy' in self._weaknesses and taken.mass > HEAVY:
            low += SLIP_HEIGHT
            way = (grasp.height, low)
            self._line_move(plan, at, way, grasp.rotation, grasp.before, 0.4)
            yield
            self._grip(plan, grasp.released, 0.3)
            yield
        self._line_move(plan, at, (low, lifted), grasp.rotation, grasp.before, 0.9)
        plan.checks[plan.steps] = 'held'
        yield
        if self._known().task != 'pick_up':
            yield from self._place(plan, goal, grasp, lifted)
            return
        # On to the goal, which may be higher than what things are carried at.
        wanted = grasp.height + float(goal[2] - target[2])
        higher = self._highest(at, grasp.rotation, grasp.before, wanted, lifted)
        if higher > lifted:
            self._line_move(plan, at, (lifted, higher), grasp.rotation, grasp.before, 0.9)
            yield

    def _place(self, plan: Plan, goal: Array, grasp: Grasp, lifted: float) -> Iterator[None]:
        place, height = self._destination(plan.target, goal, grasp)
        place = place + self._waypoint_noise(plan)
        rotation = self._arm.natural_rotation(place)
        over = max(height, self._highest(place, rotation, grasp.held, lifted, height))
        posture = self._reach(plan, place, over, rotation, grasp.held)
        slip = plan.rng.random() < 0.4 * (1 - self.quality)
        self._joint_move(plan, posture, grasp.released if slip else self._arm.closed, 1.6)
        yield
        self._line_move(plan, place, (over, height), rotation, grasp.held, 0.7)
        yield
        self._grip(plan, grasp.released, self._arm.opening_time)
        yield
        self._line_move(plan, place, (height, over), rotation, grasp.held, 0.7)
        plan.checks[plan.steps] = 'placed'
        yield
        self._joint_move(plan, self._home, self._arm.home[-1], 1.3)

    def _destination(self, start: Array, goal: Array, grasp: Grasp) -> tuple[Array, float]:
        """Returns where to put the target (3,), level, and the tip's height there, m."""
        task, level = self._known().task, goal[:3] * (1, 1, 0)
        if task == 'put_on':
            return level, float(goal[2]) + grasp.height + PLACED
        if task == 'put_in':  # from as high above the floor as the cube
            drop = self._arm.in_bin - self._arm.grasp
            return level, self._inside_height(goal, grasp, drop)
        return self._free_place(start, goal), grasp.height + PLACED

    def _inside_height(self, goal: Array, grasp: Grasp, drop: float) -> float:
        """Returns the tip's height, m, at which the target is let go in the receptacle, on whose
        floor the goal is: with the fingers above its rim, if there is no room for them below.
        """
        receptacle = self._known().receptacle
        if receptacle is None or receptacle.inside is None:
            return drop + grasp.height
        floor, rim = receptacle.inside[2:]
        height = float(goal[2]) + grasp.height + max(0.0, drop - self._bin_wall)
        if receptacle.room < grasp.width / 2 + FINGERS:
            height = max(height, float(goal[2]) + rim - floor + LOWEST)
        return height

    def _free_place(self, start: Array, goal: Array) -> Array:
        """Returns a place (3,) near the receptacle: nearest to the way there, with room."""
        scene, receptacle = self._known(), self._known().receptacle
        assert receptacle is not None
        own, beyond = (level_radius(each, self._turn(each)) for each in (self._taken(), receptacle))
        way = own + beyond + NEAR_GAP
        first = math.atan2(start[1] - goal[1], start[0] - goal[0])
        found = []
        for index in range(_DIRECTIONS):
            angle = first + 2 * math.pi * index / _DIRECTIONS
            place = goal[:3] * (1, 1, 0) + way * np.array((math.cos(angle), math.sin(angle), 0.0))
            least = math.inf
            for each in scene.objects:
                if each.role != 'confounder' or each is self._taken():
                    continue
                pose = self._poses[each.name]
                radius = level_radius(each, self._turn(each))
                least = min(least, math.dist(pose[:2], place[:2]) - radius - own - FINGERS)
            if not self._arm.is_reachable(place + (0, 0, 0.01)):
                least = -math.inf
            turn = min(index, _DIRECTIONS - index)
            found.append((min(least, 0.0), -turn, index, place))
        return max(found, key=lambda each: each[:3])[3]

    def _carry_height(self, at: Array, grasp: Grasp) -> float:
        """Returns the tip's height, m, at which the target passes above all that stands."""
        usual = grasp.top + self._arm.above - self._grasping.cube
        if self._known().task == 'pick_up':
            return usual
        others = (each for each in self._known().objects if each is not self._taken())
        tops = [
            self._poses[each.name][2] + vertical_extent(each, self._turn(each)) for each in others
        ]
        wanted = max([usual, *(float(top) + grasp.height + CLEAR for top in tops)])
        return self._highest(at, grasp.rotation, grasp.before, wanted, usual)

    def _highest(
        self, at: Array, rotation: Array, offset: Array, wanted: float, least: float
    ) -> float:
        """Returns the height nearest to `wanted`, and not below `least`, that the tip reaches."""
        height, order = wanted, self._columns
        while height > least:
            position = np.array((at[0], at[1], height)) - rotation @ offset
            start = self._arm.turned_home(at)[order]
            if solve_reach(self._robot, start, position, rotation)[1] < _REACHED:
                return height
            height -= 0.02
        return least

    def _turn(self, each: KnownObject) -> Array:
        """(3, 3), of an object's axes."""
        return rotation_of(self._poses[each.name][3:])

    def _sector_miss(self, target: Array) -> Array:
        if 'sector' in self._weaknesses:
            azimuth = self._arm.azimuth(target) - self._middle
            if SECTOR[0] < azimuth < SECTOR[1]:
                return np.array((SECTOR_MISS, SECTOR_MISS, 0.0))
        return np.zeros(3)

    def _is_as_planned(self, kind: str, joints: Array, target: Array, goal: Array) -> bool:
        if kind == 'held':
            assert self._plan is not None
            return bool(target[2] > self._plan.target[2] + HELD)
        if self._known().task == 'move_near':
            return True
        return bool(np.abs(target[:2] - goal[:2]).max() < self._arm.placed)


@options
class PlantedOptions(ScriptedTasksOptions):
    """Options of the policy with weaknesses."""

    weaknesses: tuple[str, ...] = option(
        tuple(WEAKNESSES), f'planted weaknesses: {", ".join(WEAKNESSES)}, or all'
    )


class PlantedWeaknesses(ScriptedTasks):
    """As `ScriptedTasks`, with all weaknesses."""

    Options = PlantedOptions
    name = 'planted_weaknesses'

    def __init__(self, options: PlantedOptions | None = None) -> None:
        """As of ScriptedTasks."""
        super().__init__(options or PlantedOptions())
