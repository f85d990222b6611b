# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Steps of tasks by the paper's rule and by the published code's, and rates from step to step."""

import math

import attrs
import numpy as np
import pytest

from frame_ros.core.errors import ShapeError, ValueRangeError
from frame_ros.metrics import wilson_interval
from frame_ros.scenes.description.shapes import Shape
from frame_ros.scenes.generation.generator import scene_from
from frame_ros.scenes.generation.setting import setting
from frame_ros.scenes.simulation.scene_robot import SO101
from frame_ros.scenes.simulation.task import REST_SPEED, REST_TIME
from frame_ros.scenes.tasks.kinds import TASKS
from frame_ros.scenes.tasks.rates import transfer_rates
from frame_ros.scenes.tasks.rules import StepOutcomes, judge, steps_of
from frame_ros.scenes.tasks.states import EpisodeStates, ObjectTrack

COUNT, RATE = 60, 20.0  # frames, Hz
LEVEL = (0.0, 0.0, 0.0, 1.0)


def scene_of(task, confounders=1):
    return scene_from(setting(SO101, task), {'confounder_count': {'count': confounders}})


def states(scene, paths=None, grasped=(), touched=None, robot=None):
    """Everything at rest as the scene has it, but for paths: name -> (N, 3), and flags by frame."""
    tracks = {
        each.name: ObjectTrack(
            positions=np.tile((*each.position, each.height), (COUNT, 1)),
            orientations=np.tile(each.orientation, (COUNT, 1)),
        )
        for each in scene.objects
    }
    for name, path in (paths or {}).items():
        tracks[name] = attrs.evolve(tracks[name], positions=np.array(path, float))

    def flags(frames):
        found = np.zeros(COUNT, bool)
        found[list(frames)] = True
        return found

    held = flags(grasped)
    return EpisodeStates(
        times=np.arange(COUNT) / RATE, tracks=tracks, is_grasped=held,
        touches_robot=held if robot is None else flags(robot),
        touched={name: flags(frames) for name, frames in (touched or {'table': ()}).items()},
    )  # fmt: skip


def rising(scene, heights):
    start = np.array((*scene.target.position, scene.target.height))
    path = np.tile(start, (COUNT, 1))
    path[:, 2] += heights
    return path


def heights(*pieces):
    """Pieces of (frames, m), the last to the end."""
    found = np.concatenate([np.full(frames, height) for frames, height in pieces])
    return np.concatenate((found, np.full(COUNT - len(found), pieces[-1][1])))


PICK = scene_of('pick_up')


def picked(rise, grasped, rule, touched=None):
    found = judge(PICK, states(PICK, {'target': rising(PICK, rise)}, grasped, touched), rule)
    return [found.reached[step] for step in ('grasp', 'lift', 'success')]


@pytest.mark.parametrize('rule', ['paper', 'code'])
def test_a_lift_that_lasts_is_a_success(rule):
    assert picked(heights((10, 0.0), (10, 0.03)), range(5, COUNT), rule) == [True] * 3
    assert picked(heights((10, 0.0)), range(5, COUNT), rule, {'table': range(COUNT)}) == [
        True, False, False,
    ]  # fmt: skip
    assert picked(heights((10, 0.0)), (), rule, {'table': range(COUNT)}) == [False] * 3


def test_five_frames_in_a_row_are_needed_by_the_paper():
    for frames, is_success in ((4, False), (5, True)):
        rise = heights((10, 0.0), (frames, 0.021), (1, 0.0))
        assert picked(rise, range(5, COUNT), 'paper') == [True, True, is_success]
    rise = heights((10, 0.0), (4, 0.021), (1, 0.0), (4, 0.021), (1, 0.0))
    assert picked(rise, range(5, COUNT), 'paper')[2] is False
    assert picked(heights((10, 0.0), (10, 0.019)), range(5, COUNT), 'paper')[1] is False


def test_the_code_counts_frames_that_are_not_in_a_row_and_wants_the_last_one():
    table = {'table': [*range(10), *range(14, 20), *range(24, COUNT)]}
    rise = heights((10, 0.0), (4, 0.03), (6, 0.0), (4, 0.03), (1, 0.0))
    held = [*range(5, 14), *range(20, 24)]
    assert picked(rise, held, 'code', table) == [True, True, True]  # 8 frames in all
    once = heights((10, 0.0), (4, 0.03), (1, 0.0))
    table = {'table': [*range(10), *range(14, COUNT)]}
    assert picked(once, range(5, 14), 'code', table) == [True, True, False]


def test_the_code_wants_the_object_free_of_all_but_the_robot():
    rise = heights((10, 0.0), (10, 0.015))
    assert picked(rise, range(5, COUNT), 'code', {'confounder_0': range(COUNT)})[1] is False
    assert picked(rise, range(5, COUNT), 'code', {'confounder_0': ()}) == [True] * 3
    assert picked(rise, range(5, COUNT), 'paper')[1] is False  # 15 mm are less than 20 mm


NEAR = scene_of('move_near')


def moving_to(scene, place, height=None, frames=30):
    start = np.array((*scene.target.position, scene.target.height))
    end = np.array((*place, scene.target.height if height is None else height))
    share = np.minimum(np.arange(COUNT) / frames, 1.0)[:, None]
    return start + share * (end - start)


def near_receptacle(scene, gap):
    """The target's place, so far from the receptacle's circle, on the line from its own start."""
    a, b = np.array(scene.target.position), np.array(scene.receptacle.position)
    radii = math.hypot(0.015, 0.015) + math.hypot(0.017, 0.017)  # of the cube's and the can's box
    return b + (a - b) / np.linalg.norm(a - b) * (radii + gap)


@pytest.mark.parametrize('rule', ['paper', 'code'])
@pytest.mark.parametrize(('gap', 'is_near'), [(0.049, True), (0.051, False)])
def test_near_is_within_5_cm_between_the_circles(rule, gap, is_near):
    path = moving_to(NEAR, near_receptacle(NEAR, gap))
    found = judge(NEAR, states(NEAR, {'target': path}, range(5, 40)), rule)
    assert found.reached == {'grasp': True, 'move': True, 'success': is_near}


def test_the_code_fails_what_knocked_a_confounder_over_and_the_paper_does_not():
    path = moving_to(NEAR, near_receptacle(NEAR, 0.02))
    other = NEAR.object('confounder_0')
    fallen = np.tile((*other.position, other.height), (COUNT, 1))
    fallen[20:, 2] -= 0.021
    found = [
        judge(NEAR, states(NEAR, {'target': path, 'confounder_0': fallen}), rule).reached['success']
        for rule in ('paper', 'code')
    ]
    assert found == [True, False]


def test_the_code_wants_the_receptacle_to_be_the_nearest_object():
    place = near_receptacle(NEAR, 0.04)
    path = moving_to(NEAR, place)
    away = float(np.linalg.norm(place - NEAR.receptacle.position))
    other = NEAR.object('confounder_0')
    for distance, is_success in ((away - 0.009, True), (away - 0.011, False)):
        stands = np.tile((*(place + (0.0, distance)), other.height), (COUNT, 1))
        both = states(NEAR, {'target': path, 'confounder_0': stands})
        assert judge(NEAR, both, 'code').reached['success'] == is_success
        assert judge(NEAR, both, 'paper').reached['success']


def test_moving_the_wrong_object_further_is_no_move():
    short = moving_to(NEAR, np.array(NEAR.target.position) + (0.04, 0.0))
    other = NEAR.object('confounder_0')
    far = np.tile((*other.position, other.height), (COUNT, 1))
    assert judge(NEAR, states(NEAR, {'target': short})).reached['move']
    far[1:, 0] -= 0.05
    both = states(NEAR, {'target': short, 'confounder_0': far})
    assert not judge(NEAR, both).reached['move']


def test_success_of_the_code_is_that_of_the_last_frame_and_of_the_paper_lasts():
    path = moving_to(NEAR, near_receptacle(NEAR, 0.02))
    path[50:] = path[0]
    found = [judge(NEAR, states(NEAR, {'target': path}), rule) for rule in ('paper', 'code')]
    assert [each.reached['success'] for each in found] == [True, False]
    assert 0 < found[0].times['success'] <= 30 / RATE


ON, INTO = scene_of('put_on'), scene_of('put_in')
REST_FRAMES = math.ceil(REST_TIME * RATE)


def put(scene, height, offset=(0.0, 0.0), grasped=range(5, 35), touched=None, rule='paper'):
    place = np.array(scene.receptacle.position) + offset
    default = {'receptacle': range(30, COUNT), 'table': ()}
    path = moving_to(scene, place, height)
    return judge(scene, states(scene, {'target': path}, grasped, touched or default), rule).reached


ON_TOP = 2 * ON.receptacle.height + ON.target.height


def test_on_top_is_at_rest_on_the_receptacle_and_let_go():
    assert put(ON, ON_TOP)['success']
    assert not put(ON, ON_TOP, grasped=range(5, COUNT))['success']
    assert not put(ON, ON_TOP, offset=(0.05, 0.0))['success']
    assert not put(ON, ON_TOP, touched={'receptacle': ()})['success']
    both = {'receptacle': range(30, COUNT), 'table': range(30, COUNT)}
    assert not put(ON, ON_TOP, touched=both)['success']


def test_what_still_moves_or_has_just_come_to_rest_is_not_put_yet():
    place = ON.receptacle.position
    path = moving_to(ON, place, ON_TOP)
    flags = {'receptacle': range(30, COUNT)}
    found = steps_of(ON, states(ON, {'target': path}, (), flags), 'paper')[2]
    first = int(found.argmax())
    assert found[first] and 31 + REST_FRAMES - 1 <= first <= 31 + REST_FRAMES + 1
    creeping = path.copy()
    creeping[30:, 0] += np.arange(COUNT - 30) * 1.2 * REST_SPEED / RATE
    assert not judge(ON, states(ON, {'target': creeping}, (), flags)).reached['success']


def test_the_code_needs_neither_rest_nor_letting_go():
    assert put(ON, ON_TOP, grasped=range(5, COUNT), rule='code')['success']
    assert put(ON, ON_TOP + 0.019, rule='code')['success']
    assert not put(ON, ON_TOP + 0.021, rule='code')['success']
    half = np.hypot(*(ON.receptacle.shape.half_edges[:2]))
    assert put(ON, ON_TOP, offset=(half + 0.002, 0.0), rule='code')['success']
    assert not put(ON, ON_TOP, offset=(half + 0.004, 0.0), rule='code')['success']


IN_BIN = INTO.receptacle.shape.size[3] + INTO.target.height


def test_inside_is_completely_inside():
    assert put(INTO, IN_BIN)['success']
    room = INTO.receptacle.shape.inner_half_edges[0] - 0.015
    assert put(INTO, IN_BIN, offset=(0.0, room - 0.001))['success']
    assert not put(INTO, IN_BIN, offset=(0.0, room + 0.001))['success']
    rim = 2 * INTO.receptacle.height
    assert put(INTO, rim - 0.0151)['success']
    assert not put(INTO, rim - 0.0149)['success']
    assert not put(INTO, IN_BIN, grasped=range(5, COUNT))['success']


def test_inside_turns_with_the_bin():
    eighth = math.pi / 8  # half of the turn
    turned = attrs.evolve(
        INTO.receptacle, orientation=(0.0, 0.0, math.sin(eighth), math.cos(eighth))
    )
    scene = attrs.evolve(INTO, objects=(INTO.target, turned, *INTO.confounders))
    room = scene.receptacle.shape.inner_half_edges[0] - 0.0155
    assert put(scene, IN_BIN)['success']
    assert put(INTO, IN_BIN, offset=(room, room))['success']  # in the corner
    assert not put(scene, IN_BIN, offset=(room, room))['success']  # a side is there now


def test_the_codes_put_in_is_its_put_on_with_6_cm_above_the_floor_of_the_bin():
    floor = INTO.receptacle.shape.size[3]
    standing = floor + INTO.target.height
    for height, is_in in ((0.0, True), (0.059, True), (0.061, False)):
        assert put(INTO, standing + height, rule='code')['success'] == is_in
    assert not put(INTO, floor - 0.001, rule='code')['success']
    half = np.hypot(*INTO.receptacle.shape.inner_half_edges[:2])
    assert put(INTO, standing, offset=(half + 0.002, 0.0), rule='code')['success']
    assert not put(INTO, standing, offset=(half + 0.004, 0.0), rule='code')['success']


def test_an_episode_that_diverged_is_invalid_and_no_failure():
    path = rising(PICK, heights((10, 0.0)))
    path[20:] = np.nan
    found = judge(PICK, states(PICK, {'target': path}))
    assert found.reached == {} and 'target is not known at 1 s' in found.problem
    good = judge(PICK, states(PICK, {'target': rising(PICK, heights((5, 0.0), (9, 0.03)))},
                              range(COUNT)))  # fmt: skip
    rates = transfer_rates([good, found])
    assert [step.episodes for step in rates.steps] == [1, 1, 1]
    assert len(rates.invalid) == 1


def test_states_that_do_not_fit_are_refused():
    with pytest.raises(ValueRangeError, match='must be one of paper, code'):
        judge(PICK, states(PICK), 'theirs')
    with pytest.raises(ValueRangeError, match='there are tracks of'):
        judge(scene_of('pick_up', 2), states(PICK))
    good = states(PICK)
    with pytest.raises(ShapeError, match='is_grasped has the shape'):
        attrs.evolve(good, is_grasped=np.zeros(3, bool))
    with pytest.raises(ValueRangeError, match='must increase'):
        attrs.evolve(good, times=np.zeros(COUNT))
    objects = tuple(attrs.evolve(o, shape=None) for o in PICK.objects)
    blank = attrs.evolve(PICK, objects=objects, unknown={'objects.*.shape': 'why'})
    with pytest.raises(ValueRangeError, match='shape of target is not known'):
        judge(blank, good)
    box = attrs.evolve(INTO.receptacle, shape=Shape('box', (0.1, 0.1, 0.1)))
    with pytest.raises(ValueRangeError, match='which has no inside'):
        put(attrs.evolve(INTO, objects=(INTO.target, box, *INTO.confounders)), 0.03)


def outcome(*reached):
    steps = TASKS['pick_up'].steps
    return StepOutcomes('pick_up', 'paper', dict(zip(steps, reached, strict=True)), {})


def test_transfer_is_of_those_that_reached_the_step_before():
    counted = [outcome(True, True, True)] * 2 + [outcome(True, True, False)] * 3
    counted += [outcome(True, False, False)] * 5 + [outcome(False, False, False)] * 9
    counted += [outcome(False, True, False)]
    grasp, lift, success = transfer_rates(counted).steps
    assert (grasp.reached, grasp.before, grasp.transfer) == (10, 20, 0.5)
    assert (lift.reached, lift.before, lift.carried, lift.without_before) == (6, 10, 5, 1)
    assert (lift.rate, lift.transfer) == (0.3, 0.5)
    assert success.transfer == pytest.approx(2 / 6) and success.rate == 0.1
    assert lift.transfer_interval == wilson_interval(5, 10)
    assert success.interval == wilson_interval(2, 20)


def test_no_episode_at_a_step_gives_no_rate():
    _, lift, _ = transfer_rates([outcome(False, False, False)]).steps
    assert lift.rate == 0.0 and math.isnan(lift.transfer)
    assert all(map(math.isnan, lift.transfer_interval))
    with pytest.raises(ValueRangeError, match='of no episode'):
        transfer_rates([])
    other = attrs.evolve(outcome(True, True, True), rule='code')
    with pytest.raises(ValueRangeError, match='pick_up by code, pick_up by paper'):
        transfer_rates([outcome(True, True, True), other])
