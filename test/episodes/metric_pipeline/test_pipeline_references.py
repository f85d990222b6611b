# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""ATE, RTE and the low-pass in the pipeline, against the batch formulas; and the settings."""

from dataclasses import replace

import numpy as np
import pytest
from attrs import evolve
from pipeline_runs import make_events
from target_runs import BEGIN, MS, PUT, STEP, STEPS, Run, column, episode, process, reasons_of

from frame_ros.core.errors import ValueRangeError
from frame_ros.core.options import changed
from frame_ros.core.time import SECOND
from frame_ros.episodes.metric_pipeline.options import PipelineOptions
from frame_ros.episodes.reference import Reference
from frame_ros.metrics import (
    absolute_trajectory_error,
    low_pass,
    optimal_trajectory_difference,
    path_length,
    relative_trajectory_error,
    resample,
    resample_at_arc_length,
)


def references(count, seed=5):
    random = np.random.default_rng(seed)
    found = []
    for i in range(count):
        stamps = np.cumsum(random.uniform(0.02, 0.05, 70))
        positions = np.cumsum(random.normal(0, 0.01, (70, 3)), axis=0)
        found.append(Reference.from_arrays(stamps, positions, f'demonstration {i}'))
    return tuple(found)


@pytest.mark.parametrize('match', ['time', 'arc_length'])
@pytest.mark.parametrize(('count', 'delta'), [(1, 1), (3, 1), (2, 4)])
def test_ate_and_rte_equal_the_batch_forms_at_every_step(match, count, delta):
    run, given = Run(), references(count)
    config = PipelineOptions(references=given, reference_match=match, rte_delta=delta)
    out, _ = process(episode(run.samples()), config)
    times = (run.stamps - MS - BEGIN) / SECOND
    ates, rtes = column(out, 'ate'), column(out, 'rte')
    nearest, nearest_in_step = column(out, 'ate_reference'), column(out, 'rte_reference')
    for n in (1, delta, delta + 1, 20, STEPS):
        tcp = run.tcp[:n]
        if match == 'time':
            brought = [
                resample(np.array(r.positions), np.array(r.stamps), times[:n]) for r in given
            ]
        else:
            lengths = np.array([0.0, *(float(path_length(run.tcp[: i + 1])) for i in range(1, n))])
            brought = [resample_at_arc_length(np.array(r.positions), lengths) for r in given]
        errors = [float(absolute_trajectory_error(tcp, b)) for b in brought]
        best = int(np.argmin(errors))
        assert ates[n - 1] == pytest.approx(min(errors), rel=1e-9) and nearest[n - 1] == best
        if n > delta:
            errors = [float(relative_trajectory_error(tcp, b, delta)) for b in brought]
            assert rtes[n - 1] == pytest.approx(min(errors), rel=1e-9)
            assert nearest_in_step[n - 1] == int(np.argmin(errors))
        else:
            assert np.isnan(rtes[n - 1]) and nearest_in_step[n - 1] == -1


def test_references_in_another_frame_are_not_compared_with():
    (given,) = references(1)
    config = PipelineOptions(references=(replace(given, frame='world'),), pose_frame='base')
    out, pipeline = process(episode(Run().samples()), config)
    assert np.isnan(column(out, 'ate')).all() and set(column(out, 'ate_reference')) == {-1}
    assert pipeline.data_quality()['reference.wrong_frame'] == 1
    reason = "the references are in 'world'; the TCP poses in 'base'"
    assert reasons_of(out)['ate'] == reasons_of(out)['rte'] == reason
    for same in (evolve(config, pose_frame='world'), evolve(config, pose_frame='')):
        assert np.isfinite(column(process(episode(Run().samples()), same)[0], 'ate')).all()


def test_outside_an_episode_there_is_no_reference():
    out, _ = process(Run().samples(), PipelineOptions(references=references(1)))
    quality = [s.values for s in out if s.kind == 'quality']
    assert np.isnan([v['ate'] for v in quality]).all()
    assert {v['ate_reference'] for v in quality} == {-1}


def test_without_a_pose_the_reason_of_the_errors_is_the_pose():
    samples = Run().samples(without=('pose',))
    out, _ = process(episode(samples), PipelineOptions(references=references(1)))
    reasons = reasons_of(out)
    assert reasons['ate'] == reasons['rte'] == 'no end-effector pose in this episode'
    (summary,) = [s for s in out if s.kind == 'summary']
    assert summary.values['quality']['ate_reference'] == -1


def test_an_episode_without_steps_has_no_reference_in_its_summary():
    out, _ = process(make_events(0.0, 1.0), PipelineOptions(references=references(1)))
    (summary,) = [s for s in out if s.kind == 'summary']
    assert summary.values['quality']['ate_reference'] == -1


def test_no_displacement_spans_a_gap():
    run, given = Run(), references(1)
    shift = [
        (name, stamp + (SECOND if stamp > BEGIN + SECOND else 0), value)
        for name, stamp, value in run.samples()
    ]
    out, _ = process(episode(shift, 4.0), PipelineOptions(references=given))
    stamps = run.stamps - MS + np.where(run.stamps - MS > BEGIN + SECOND, SECOND, 0)
    at = int(np.argmax(np.diff(stamps) > SECOND)) + 1
    brought = resample(
        np.array(given[0].positions), np.array(given[0].stamps), (stamps - BEGIN) / SECOND
    )
    moved = np.linalg.norm(np.diff(run.tcp - brought, axis=0), axis=1)
    assert column(out, 'rte')[-1] == pytest.approx(np.delete(moved, at - 1).mean(), rel=1e-9)


def test_a_clock_set_anew_within_an_episode_ends_the_comparison():
    run = Run()
    samples = run.samples()
    back = [(n, s - 6 * SECOND, v) for n, s, v in Run(3).samples() if n == 'pose']
    config = PipelineOptions(references=references(1), hold=0.0)
    out, pipeline = process(episode(samples[:150] + back[:20]), config)
    assert pipeline.data_quality()['pose.reset'] == 1
    assert not [s for s in out if s.kind == 'quality' and s.values['ate_reference'] > 0]


def test_the_low_pass_is_that_of_the_batch_form_and_its_cutoff_is_told():
    run = Run()
    out, _ = process(episode(run.samples()), evolve(PUT, low_pass_cutoff=4.0))
    smooth = np.asarray(low_pass(run.tcp, STEP / SECOND, 4.0))
    assert column(out, 'pl')[-1] == pytest.approx(float(path_length(smooth)), rel=1e-9)
    # Distances are of the poses as they are.
    expected = optimal_trajectory_difference(run.tcp, run.object, run.goal, run.grasped)
    np.testing.assert_allclose(column(out, 'ot_step'), expected, rtol=1e-9)
    assert set(column(out, 'low_pass_cutoff')) == {4.0}
    raw, _ = process(episode(run.samples()), PUT)
    assert column(out, 'ti')[-1] < 0.5 * column(raw, 'ti')[-1]


def test_an_episode_is_its_own_reference_whatever_the_low_pass():
    run = Run()
    times = (run.stamps - MS - BEGIN) / SECOND
    own = (Reference.from_arrays(times, run.tcp, 'itself'),)
    out, _ = process(episode(run.samples()), PipelineOptions(references=own, low_pass_cutoff=2.0))
    assert column(out, 'ate')[-1] < 1e-9 and column(out, 'rte')[-1] < 1e-9


def test_the_low_pass_starts_anew_at_a_gap():
    run = Run()
    run.tcp[31:] += 5.0
    gap = [
        (name, stamp + (SECOND if stamp > BEGIN + 32 * STEP - 5 * MS else 0), value)
        for name, stamp, value in run.samples()
    ]
    out, _ = process(episode(gap, 4.0), PipelineOptions(low_pass_cutoff=4.0))
    parts = [
        np.asarray(low_pass(part, STEP / SECOND, 4.0)) for part in (run.tcp[:31], run.tcp[31:])
    ]
    expected = sum(float(path_length(part)) for part in parts)
    assert column(out, 'pl')[-1] == pytest.approx(expected, rel=1e-9)


# -- settings --------------------------------------------------------------------------


def test_all_settings_survive_json_exactly():
    config = evolve(
        changed(PUT, {'low_pass_cutoff': 3.3, 'ot_task': 'move'}), references=references(2)
    )
    assert PipelineOptions.from_json(config.to_json()) == config


@pytest.mark.parametrize(
    ('text', 'message'),
    [
        ('{"ot_task": "juggle"}', "ot_task is 'juggle'; it must be empty, pick, move"),
        ('{"ot_task": 3}', 'ot_task is 3; it must be empty, pick'),
        ('{"rte_delta": 0}', 'must be at least 1'),
        ('{"rte_delta": 1.5}', 'must be a whole number, at least 1'),
        ('{"low_pass_cutoff": -1}', 'must be at least 0 Hz'),
        ('{"references": [{"stamps": [0], "positions": []}]}', 'origin'),
        ('{"references": [{}]}', 'not stamps, positions and origin'),
        ('{"references": [3]}', 'references of the pipeline settings cannot be'),
        ('{"references": [{"stamps": [0], "positions": [], "origin": "x"}]}', '1 stamps and 0'),
        ('{"references": [{"stamps": [1, 0], "positions": [[0,0,0],[0,0,0]], "origin": "x"}]}',
         'do not increase'),
        ('{"references": [{"stamps": [0], "positions": [[0,0]], "origin": "x"}]}', 'reference'),
        ('{"reference_match": "arc_length", "references": '
         '[{"stamps": [0, 1], "positions": [[0,0,0],[0,0,0]], "origin": "still"}]}',
         'trajectories with a length'),
    ],
)  # fmt: skip
def test_settings_of_targets_and_references_are_checked(text, message):
    with pytest.raises(ValueRangeError, match=message):
        PipelineOptions.from_json(text)
