# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Agreement with evo's commands, run as a user runs them on TUM files, where evo is installed."""

import json
import os
import re
import shutil
import subprocess
import zipfile

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from frame_ros import metrics

RNG = np.random.default_rng(7)
COUNT = 60
TIMES = np.arange(COUNT) * 0.1
PATH = RNG.normal(size=(COUNT, 3)).cumsum(axis=0)
# Turned, scaled and moved, so that every alignment gives another error.
REFERENCE = 1.3 * PATH @ np.array([[0, -1, 0], [1, 0, 0], [0, 0, 1]]) + RNG.normal(size=(COUNT, 3))
# Orientations that wander, those of the reference elsewhere.
TURNS, REFERENCE_TURNS = (
    Rotation.from_rotvec(0.3 * RNG.normal(size=(COUNT, 3)).cumsum(axis=0)).as_quat()
    for _ in range(2)
)


@pytest.fixture(scope='module')
def evo(tmp_path_factory):
    """Runs a command of evo in a folder that holds both trajectories; returns what it printed."""
    if shutil.which('evo_ape') is None:
        pytest.skip('evo is not installed')
    folder = tmp_path_factory.mktemp('evo')
    # All orientations are the same: evo compares displacements in the frame of the first pose of
    # each pair, FRAME eq. 10 in the common one.
    still = np.tile([0.0, 0.0, 0.0, 1.0], (COUNT, 1))
    for name, path, turned in (
        ('path.tum', PATH, still),
        ('reference.tum', REFERENCE, still),
        ('turning_path.tum', PATH, TURNS),
        ('turning_reference.tum', REFERENCE, REFERENCE_TURNS),
    ):
        np.savetxt(folder / name, np.column_stack([TIMES, path, turned]), fmt='%.17g')

    def run(command, *arguments):
        # evo writes its settings to the home folder.
        environment = {**os.environ, 'HOME': str(folder), 'MPLBACKEND': 'agg'}
        ran = subprocess.run(
            [command, 'tum', *arguments], cwd=folder, env=environment, text=True, timeout=120,
            stdout=subprocess.PIPE, check=True,
        )  # fmt: skip
        return ran.stdout, folder

    return run


def mean_of(evo, command, *arguments, prefix=''):
    name = '-'.join((prefix, command, *arguments)).replace('-', '') + '.zip'
    files = (f'{prefix}reference.tum', f'{prefix}path.tum')
    _, folder = evo(command, *files, *arguments, '--save_results', name, '--no_warnings')
    with zipfile.ZipFile(folder / name) as results:
        return json.loads(results.read('stats.json'))['mean']


@pytest.mark.parametrize(
    ('align', 'arguments'), [('none', ()), ('se3', ('--align',)), ('sim3', ('-a', '-s'))]
)
def test_absolute_trajectory_error(evo, align, arguments):
    wanted = mean_of(evo, 'evo_ape', *arguments)
    found = metrics.absolute_trajectory_error(PATH, REFERENCE, align)
    assert found == pytest.approx(wanted, rel=1e-9)


@pytest.mark.parametrize('delta', [1, 10])
def test_relative_trajectory_error(evo, delta):
    arguments = ('--delta', str(delta), '--delta_unit', 'f', '--all_pairs')
    wanted = mean_of(evo, 'evo_rpe', *arguments)
    found = metrics.relative_trajectory_error(PATH, REFERENCE, delta)
    assert found == pytest.approx(wanted, rel=1e-9)


@pytest.mark.parametrize('delta', [1, 10])
@pytest.mark.parametrize(
    ('align', 'arguments'), [('none', ()), ('se3', ('--align',)), ('sim3', ('-a', '-s'))]
)
def test_relative_trajectory_error_of_turning_poses(evo, delta, align, arguments):
    arguments = ('--delta', str(delta), '--delta_unit', 'f', '--all_pairs', *arguments)
    wanted = mean_of(evo, 'evo_rpe', *arguments, prefix='turning_')
    turns = {'orientations': TURNS, 'reference_orientations': REFERENCE_TURNS}
    found = metrics.relative_trajectory_error(PATH, REFERENCE, delta, align, variant='evo', **turns)
    assert found == pytest.approx(wanted, rel=1e-9)
    paper = metrics.relative_trajectory_error(PATH, REFERENCE, delta, align)
    assert abs(paper - wanted) > 0.05 * wanted
    if align == 'none':
        stream = metrics.RelativeTrajectoryError(delta, 'evo')
        for sample in zip(PATH, REFERENCE, TURNS, REFERENCE_TURNS):
            stream.update(*sample)
        assert stream.value == pytest.approx(wanted, rel=1e-9)


def test_path_length(evo):
    printed, _ = evo('evo_traj', 'path.tum', '--full_check')
    (wanted,) = re.findall(r'path length \(m\)\s+([0-9.]+)', printed)
    assert metrics.path_length(PATH) == pytest.approx(float(wanted), rel=1e-9)
