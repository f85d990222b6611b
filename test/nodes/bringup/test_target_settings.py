# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Parameters of the metrics node in the process tables: task, references, calibration, low-pass."""

from pathlib import Path

from frame_ros.bringup.arm_options import ArmOptions
from frame_ros.bringup.process_table import arm_processes, demo_processes
from frame_ros.bringup.run_options import DemoOptions


def by_name(processes):
    return {process.name: process for process in processes}


def test_the_demo_measures_progress_by_the_simulators_poses():
    metrics = by_name(demo_processes(DemoOptions()))['metrics']
    assert metrics.parameters['ot_task'] == 'put_in'
    for name in ('object_pose', 'goal_pose'):
        assert metrics.remappings[name] == f'ground_truth/{name}'
    assert 'references' not in metrics.parameters and 'low_pass_cutoff' not in metrics.parameters


def test_references_are_absolute_and_the_low_pass_is_passed_on():
    settings = ArmOptions(references=('runs/a', 'b'), reference_mean=True, low_pass_cutoff=5.0)
    metrics = by_name(arm_processes(settings))['metrics']
    assert metrics.parameters['references'] == [str(Path(p).resolve()) for p in ('runs/a', 'b')]
    assert metrics.parameters['reference_mean'] and metrics.parameters['low_pass_cutoff'] == 5.0


def test_a_calibration_file_is_absolute_and_reaches_the_metrics():
    for processes in (
        arm_processes(ArmOptions(calibration_file='c.json')),
        demo_processes(DemoOptions(calibration_file='c.json')),
    ):
        found = by_name(processes)['metrics'].parameters['calibration_file']
        assert found == str(Path('c.json').resolve())
    plain = by_name(arm_processes(ArmOptions()))['metrics']
    assert 'calibration_file' not in plain.parameters


def test_the_task_of_an_arm_reaches_the_metrics_and_the_recorder():
    plain = by_name(arm_processes(ArmOptions(robot='fr3')))['metrics']
    assert 'ot_task' not in plain.parameters
    settings = ArmOptions(
        robot='fr3',
        ot_task='put_on',
        object_topic='/cell/cup',
        goal_frame='saucer',
        grasp_source='effort',
        grasp_distance=0.04,
        gripper_margin=0.002,
    )
    processes = by_name(arm_processes(settings))
    metrics, recorder = processes['metrics'], processes['episode_recorder']
    assert metrics.parameters['ot_task'] == 'put_on'
    assert metrics.parameters['grasp_distance'] == 0.04
    assert metrics.parameters['goal_frame'] == 'saucer'
    kinematics = processes['kinematics'].parameters
    assert kinematics['grasp.source'] == 'effort' and kinematics['grasp.margin'] == 0.002
    assert kinematics['gripper_topic'] == 'franka_gripper/joint_states'
    assert metrics.remappings['object_pose'] == '/cell/cup'
    assert {'/cell/cup', 'franka_gripper/joint_states'} <= set(recorder.parameters['topics.also'])
