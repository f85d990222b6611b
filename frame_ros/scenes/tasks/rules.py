# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Steps of a task and when each is reached: by VLATest's paper, and by its published code.

Paper: Wang et al., VLATest, FSE 2025, section 4.3. Code: github.com/ma-labo/VLATest, commit
704b368, ManiSkill2_real2sim/mani_skill2_real2sim/envs/custom_scenes/*_customizable.py, evaluate().
"""

from __future__ import annotations

from collections.abc import Callable

import attrs
import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from frame_ros.core.errors import ValueRangeError
from frame_ros.scenes.description.scene import Scene, SceneObject
from frame_ros.scenes.description.shapes import MESH, Shape, corner_points, surface_points
from frame_ros.scenes.simulation.task import REST_SPEED, REST_TIME
from frame_ros.scenes.tasks.kinds import TASKS
from frame_ros.scenes.tasks.states import EpisodeStates, ObjectTrack, in_frame_of, start_extents

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]

# Of the paper, section 4.3; m and frames.
LIFT, FRAMES, NEAR = 0.02, 5, 0.05
# Of the code; m.
CODE_LIFT, CODE_MOVE = 0.01, 0.03
CODE_KNOCKED, CODE_OFF_TABLE, CODE_CLOSEST = 0.02, 0.15, 0.01
CODE_ON_XY = 0.003
CODE_ON_Z = {'put_on': 0.02, 'put_in': 0.06}
RULES = {
    'paper': "the paper's, section 4.3; a step once reached stays reached",
    'code': "the published code's; success is that of the last frame, as its runner reports it",
}


OWN_RULE = 'world'  # of results: the rule of the simulated world, where it has one


@attrs.frozen
class StepOutcomes:
    """The steps that an episode has reached.

    Attributes:
        task: its kind.
        rule: 'paper', 'code' or OWN_RULE.
        reached: step -> whether it was; empty if the episode cannot be judged.
        times: step -> s at which it was first reached; NaN: never.
        problem: why the episode cannot be judged; '': it can.
    """

    task: str
    rule: str
    reached: dict[str, bool]
    times: dict[str, float]
    problem: str = ''


def judge(scene: Scene, states: EpisodeStates, rule: str = 'paper') -> StepOutcomes:
    """Judges the steps of an episode.

    Args:
        scene: for the task, and the shapes of target and receptacle.
        states: of every object of the scene.
        rule: one of RULES.

    Raises:
        ValueRangeError: the rule is not known, or states and scene do not fit.
    """
    if rule not in RULES:
        raise ValueRangeError(f'the rule is {rule!r}; it must be one of {", ".join(RULES)}')
    states.check_names(scene)
    kind = scene.task.kind
    if problem := states.problem:
        return StepOutcomes(kind, rule, {}, {}, problem)
    flags = dict(zip(TASKS[kind].steps, steps_of(scene, states, rule), strict=True))
    reached = {step: bool(found.any()) for step, found in flags.items()}
    if rule == 'code':
        reached['success'] = bool(flags['success'][-1])
    times = {
        step: float(states.times[flags[step].argmax()]) if flags[step].any() else float('nan')
        for step in flags
    }
    return StepOutcomes(kind, rule, reached, times)


def is_success(scene: Scene, states: EpisodeStates) -> bool:
    """Returns whether the last step was reached by the paper's rule, in less time than `judge`."""
    return not states.problem and bool(_successes(scene, states, 'paper').any())


def steps_of(scene: Scene, states: EpisodeStates, rule: str) -> tuple[Flags, Flags, Flags]:
    """Returns per step of the task (N,) whether each frame meets it."""
    if scene.task.kind == 'pick_up':
        later = _picked if rule == 'paper' else _picked_by_code
        return (states.is_grasped, *later(scene, states))
    moved = moved_correct(scene, states)
    return states.is_grasped, moved, _successes(scene, states, rule)


def _successes(scene: Scene, states: EpisodeStates, rule: str) -> Flags:
    """(N,) whether each frame meets the last step."""
    kind = scene.task.kind
    if kind == 'pick_up':
        return steps_of(scene, states, rule)[-1]
    success: Callable[[Scene, EpisodeStates], Flags] = {
        'paper': {'move_near': _near, 'put_on': _on, 'put_in': _in}[kind],
        'code': _near_by_code if kind == 'move_near' else _on_by_code,
    }[rule]
    return success(scene, states)


def moved_correct(scene: Scene, states: EpisodeStates) -> Flags:
    """The step 'move': the target has moved level by more than CODE_MOVE, and further than any
    other object. The paper gives no figure, so this is the code's for both rules.
    """
    ways = {
        name: np.linalg.norm(track.positions[:, :2] - track.positions[0, :2], axis=1)
        for name, track in states.tracks.items()
    }
    own = ways.pop(scene.task.target)
    return np.asarray((own > CODE_MOVE) & np.all([own > way for way in ways.values()], axis=0))


def _picked(scene: Scene, states: EpisodeStates) -> tuple[Flags, Flags]:
    """Lift: grasped, and LIFT above where it was. Success: so for FRAMES frames in a row."""
    lifted = states.is_grasped & (_rise(scene, states) >= LIFT)
    return lifted, _in_a_row(lifted, FRAMES)


def _picked_by_code(scene: Scene, states: EpisodeStates) -> tuple[Flags, Flags]:
    """Lift: held up, touching only the robot, CODE_LIFT above where it was, and while the grasp
    lasts. Success: that, or FRAMES frames in all, not in a row, that are LIFT above.
    """
    rise = _rise(scene, states)
    is_free = ~np.any([*states.touched.values(), np.zeros(len(rise), bool)], axis=0)
    lifted, is_lifted = np.zeros(len(rise), bool), False
    for i, grasped in enumerate(states.is_grasped):
        is_lifted = bool((is_lifted and grasped) or (is_free[i] and rise[i] > CODE_LIFT))
        lifted[i] = is_lifted
    significant = np.cumsum(lifted & (rise > LIFT)) >= FRAMES
    return lifted, lifted | significant


def _near(scene: Scene, states: EpisodeStates) -> Flags:
    """The target is within NEAR of the receptacle: between the circles about them, as in the code.

    The paper says 'within 0.05 meters of the target object'; between the middles of two cans of
    66 mm that could never be.
    """
    return _circle_gap(scene, states) <= NEAR


def _near_by_code(scene: Scene, states: EpisodeStates) -> Flags:
    """Near, moved and nearer to the receptacle than to any other object, and nothing knocked over
    or off the table.
    """
    target = states.tracks[scene.task.target]
    own = str(scene.task.receptacle)
    away = {
        name: np.linalg.norm(track.positions[:, :2] - target.positions[:, :2], axis=1)
        for name, track in states.tracks.items()
        if name != scene.task.target
    }
    closest = np.all([away[own] < way + CODE_CLOSEST for way in away.values()], axis=0)
    keeps = np.ones(len(states.times), bool)
    for name, track in states.tracks.items():
        most = CODE_KNOCKED if scene.object(name).role == 'confounder' else CODE_OFF_TABLE
        keeps &= track.positions[:, 2] - track.positions[0, 2] > -most
    gap = _circle_gap(scene, states)
    return np.asarray(keeps & moved_correct(scene, states) & (gap < NEAR) & closest)


def _on(scene: Scene, states: EpisodeStates) -> Flags:
    """The target rests on top: let go, touching the receptacle and nothing else, its middle above
    it, for REST_TIME slower than REST_SPEED.

    The paper says 'placed stably on top', without figures: these are the simulator's own.
    """
    rests = _at_rest(scene, states, True)
    if not rests.any():  # whether it is over it costs more
        return rests
    target, receptacle = _target(scene, states), _receptacle(scene, states)
    local = np.abs(in_frame_of(receptacle[1], target[1].positions))
    half = receptacle[0].half_edges
    is_over = (local[:, :2] <= half[:2]).all(axis=1)
    is_above = target[1].positions[:, 2] > receptacle[1].positions[:, 2]
    return _at_rest(scene, states, is_over & is_above)


def _in(scene: Scene, states: EpisodeStates) -> Flags:
    """The target rests completely inside: let go, touching no other object, all of it between the
    walls and below the rim, for REST_TIME slower than REST_SPEED.
    """
    (shape, track), (tray, place) = _target(scene, states), _receptacle(scene, states)
    inside = tray.cavity
    if inside is None:
        raise ValueRangeError(f'the receptacle is a {tray.kind}, which has no inside')
    rests = _at_rest(scene, states, True)
    if not rests.any():  # whether it is inside costs more
        return rests
    if shape.kind in ('box', 'tray', MESH):
        points = corner_points(shape)
    else:
        points = surface_points(shape)[0]
    turns = Rotation.from_quat(place.orientations).inv() * Rotation.from_quat(track.orientations)
    corners = turns.as_matrix() @ points.T  # (N, 3, P), about the middle of the target
    middles = in_frame_of(place, track.positions)
    reach = (inside.normals @ corners[:, :2]).max(axis=2)
    is_between = (middles[:, :2] @ inside.normals.T + reach <= inside.offsets).all(axis=1)
    is_below = middles[:, 2] + corners[:, 2].max(axis=1) <= inside.rim
    return _at_rest(scene, states, is_between & is_below)


def _on_by_code(scene: Scene, states: EpisodeStates) -> Flags:
    """The target's middle is over the box about the receptacle at the start, above its middle and
    no more than CODE_ON_Z above where it would stand. So without a rule on contacts, for put_on as
    for put_in, as the customizable scenes have it. The receptacle of their put_in is a plane at the
    bottom of a basket; the inside floor of a tray stands for it.
    """
    target, (shape, track) = _target(scene, states), _receptacle(scene, states)
    half, own = start_extents(shape, track), start_extents(*target)
    places = track.positions
    inside = shape.cavity
    if inside is not None and (shape.kind == 'tray' or scene.task.kind == 'put_in'):
        flat = Shape('box', tuple((2 * inside.half_edges).tolist()))
        half = start_extents(flat, track) * (1.0, 1.0, 0.0)
        floor = Rotation.from_quat(track.orientations).apply((*inside.centre, 0.0))
        places = places + floor + (0.0, 0.0, inside.floor)
    offset = target[1].positions - places
    is_over = np.linalg.norm(offset[:, :2], axis=1) <= np.linalg.norm(half[:2]) + CODE_ON_XY
    above = offset[:, 2] - half[2] - own[2]
    return np.asarray(is_over & (offset[:, 2] > 0) & (above <= CODE_ON_Z[scene.task.kind]))


def _at_rest(scene: Scene, states: EpisodeStates, holds: Flags | bool) -> Flags:
    """Frames by which a condition has held for REST_TIME, with the target still and let go."""
    track = states.tracks[scene.task.target]
    receptacle = str(scene.task.receptacle)
    steps = np.linalg.norm(np.diff(track.positions, axis=0), axis=1) / np.diff(states.times)
    is_still = np.concatenate(([False], steps <= REST_SPEED))
    others = [flags for name, flags in states.touched.items() if name != receptacle]
    is_alone = ~np.any([*others, states.touches_robot, states.is_grasped], axis=0)
    if receptacle in states.touched:
        is_alone &= states.touched[receptacle]
    found, since = np.zeros(len(states.times), bool), np.nan
    for i, good in enumerate(holds & is_still & is_alone):
        since = (states.times[i] if np.isnan(since) else since) if good else np.nan
        found[i] = good and states.times[i] - since >= REST_TIME
    return found


def _rise(scene: Scene, states: EpisodeStates) -> Array:
    heights = states.tracks[scene.task.target].positions[:, 2]
    return np.asarray(heights - heights[0])


def start_gap(scene: Scene) -> float:
    """Returns the gap, m, of the step 'near' where a scene puts target and receptacle.

    Both rules measure so; the shapes and heights of both must be known.
    """
    assert scene.receptacle is not None
    target, receptacle = map(_at_start, (scene.target, scene.receptacle))
    return float(_gap(target, receptacle)[0])


def _at_start(each: SceneObject) -> tuple[Shape, ObjectTrack]:
    assert each.shape is not None and each.height is not None
    place, turn = np.array([[*each.position, each.height]]), np.array([each.orientation])
    return each.shape, ObjectTrack(positions=place, orientations=turn)


def _circle_gap(scene: Scene, states: EpisodeStates) -> Array:
    return _gap(_target(scene, states), _receptacle(scene, states))


def _gap(target: tuple[Shape, ObjectTrack], receptacle: tuple[Shape, ObjectTrack]) -> Array:
    """(N,) m between the circles about the boxes of target and receptacle at the start."""
    radii = [float(np.linalg.norm(start_extents(*each)[:2])) for each in (target, receptacle)]
    offset = target[1].positions[:, :2] - receptacle[1].positions[:, :2]
    return np.asarray(np.linalg.norm(offset, axis=1) - sum(radii))


def _target(scene: Scene, states: EpisodeStates) -> tuple[Shape, ObjectTrack]:
    assert scene.target.shape is not None
    return scene.target.shape, states.tracks[scene.task.target]


def _receptacle(scene: Scene, states: EpisodeStates) -> tuple[Shape, ObjectTrack]:
    assert scene.receptacle is not None and scene.receptacle.shape is not None
    return scene.receptacle.shape, states.tracks[scene.receptacle.name]


def _in_a_row(flags: Flags, count: int) -> Flags:
    """Frames that end a run of at least so many."""
    found, run = np.zeros(len(flags), bool), 0
    for i, flag in enumerate(flags):
        run = run + 1 if flag else 0
        found[i] = run >= count
    return found
