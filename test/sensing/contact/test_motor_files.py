# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Motor files: found in a checkout alone, generic ones, those of another arm."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from frame_ros.core.errors import SetupError
from frame_ros.core.shared_files import CHECKOUT
from frame_ros.scenes.simulation.noise.sensor_noise import JointTorqueNoiseOptions
from frame_ros.sensing.contact.joint_effort_sensor import motor_warnings
from frame_ros.sensing.contact.joints.detector import JointContactOptions
from frame_ros.sensing.contact.joints.motor_model import (
    THRESHOLDS,
    generic_motors,
    load_motors,
    save_motors,
    simulated_motors,
)


@pytest.mark.skipif(not (CHECKOUT / 'config' / 'motors').is_dir(), reason='not of a checkout')
def test_a_checkout_without_an_overlay_finds_its_motors(tmp_path):
    code = (
        'from frame_ros.sensing.contact.joints.motor_model import find_motors\n'
        "print(find_motors('so101'))\nprint(find_motors('fr3'))"
    )
    clean = {k: v for k, v in os.environ.items() if k != 'AMENT_PREFIX_PATH'}
    clean['PYTHONPATH'] = os.pathsep.join((str(CHECKOUT), os.environ.get('PYTHONPATH', '')))
    done = subprocess.run(
        [sys.executable, '-c', code], env=clean, cwd=tmp_path, capture_output=True, text=True,
        check=True,
    )  # fmt: skip
    wanted = [str(CHECKOUT / 'config' / 'motors' / f'{name}.yaml') for name in ('so101', 'fr3')]
    assert done.stdout.split() == wanted


def test_an_arm_without_a_simulation_is_to_be_identified():
    folder = Path(__file__).resolve().parents[3] / 'examples' / 'robots'
    with pytest.raises(
        SetupError, match='no motors of its simulation.*`frame-ros identify joints`'
    ):
        generic_motors(str(folder / 'ur5e' / 'ur5e.yaml'))


def test_generic_motors_have_wide_thresholds_and_say_so():
    for robot, more in (('so101', 0.35), ('fr3', 0.0)):
        own = simulated_motors(robot)
        generic = own.as_generic()
        for name in THRESHOLDS:
            added = more if name == 'base' else 0.0
            np.testing.assert_allclose(
                getattr(generic, f'threshold_{name}'),
                4.0 * getattr(own, f'threshold_{name}') + added,
            )
        (text,) = motor_warnings(generic, '')
        assert 'not identified' in text and 'frame-ros identify joints' in text
        assert motor_warnings(own, 'left') == ()


def test_a_file_of_another_arm_is_named(tmp_path):
    motors = replace(simulated_motors('so101'), arm='left', is_simulated=False)
    save_motors(motors, tmp_path / 'left.yaml')
    found = load_motors(tmp_path / 'left.yaml')
    assert found.arm == 'left'
    assert motor_warnings(found, 'left') == motor_warnings(found, '') == ()
    (text,) = motor_warnings(found, 'right')
    assert 'another arm' in text and "'left'" in text and "'right'" in text


def test_the_shipped_motors_of_the_fr3_hold_for_others_of_the_simulator():
    """Whose sensors are wrong by four waves that may add up, to either side."""
    motors, settings = simulated_motors('fr3'), JointContactOptions()
    identified = load_motors('fr3')
    assert identified.offset.any() and (motors.threshold_base >= identified.threshold_base).all()
    largest = 4.0 * JointTorqueNoiseOptions().error * np.sqrt(2.0 / 4.0)
    spare = settings.margin * motors.threshold_base - np.abs(motors.offset) - largest
    assert (spare > 0.05).all()
