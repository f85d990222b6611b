# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Rows of given motion: trials that hold their positions, tables from results by hand, and a
LeRobot policy that is trained, acts, and is kept.
"""

from argparse import Namespace
from dataclasses import replace

import numpy as np
import pytest
from benchmark_parts import import_parts

pytest.importorskip('mujoco')

from frame_ros.evaluation.recorded_motion.motion import Motion
from frame_ros.evaluation.trials.campaign import Outcome


@pytest.fixture
def parts(monkeypatch):
    """The benchmark's modules."""
    act, rows = import_parts(monkeypatch, 'act_policy', 'given_motion_rows')
    return Namespace(act=act, rows=rows)


def frames(measured, count, truth=None, **values):
    """A result of so many frames, as `trial.run` gives it."""
    row = {
        'truth': truth, 'measured': measured, 'is_visible': True, 'is_partial': False,
        'unobserved': None, 'unavailable': '', 'is_touching': False, 'padding': 0.016,
        'is_corrected': False, **values,
    }  # fmt: skip
    return {name: [value] * count for name, value in row.items()}


def test_trials_hold_their_positions_and_tables_count_every_frame(parts, capsys):
    from parts.bars import Bars

    rows = parts.rows
    times = np.arange(100) / 50.0
    line = Motion('wave', times, times[:, None] * np.full(6, 0.5))
    given = rows.Given(rows.RECORDED_KIND, 'so101', 'recorded: x', (line,), ('x: 2 s.',))
    trials = list(rows.trials(given, 0.05))
    assert [trial.settings['scene'] for trial in trials] == ['empty'] * 3 + ['clutter'] * 3
    assert trials == list(rows.trials(given, 0.05))
    np.testing.assert_allclose(np.diff(trials[0].settings['positions'], axis=0), 0.05, atol=2e-6)
    assert trials[0].settings['source'].startswith('recorded: x, wave, from ')
    results = [frames(None, 10), frames(0.09, 10), frames(None, 10, is_touching=True),
               frames(0.15, 10, 0.15), frames(0.2, 10, 0.15), frames(0.151, 10, 0.15)]  # fmt: skip
    outcomes = [Outcome(*pair) for pair in zip(trials, results, strict=True)]
    bars = Bars(Namespace(short=False))
    text = '\n'.join(rows.lines(outcomes, [given], bars))
    assert '| so101 | recorded: x | 30 | 33.33 % (' in text
    assert f'| so101 | recorded: x{rows.CLEAR} | 20 | 50.00 % (' in text
    assert '| so101 | recorded: x: 1 to 3 primitives | 30 | 33.33 % (' in text
    assert 'fastest joint 0.50 rad/s in the median, at most 0.50; the arm stood in 0 %' in text
    assert 'in 10 of 60 frames it was within 10 mm of the table' in text and 'x: 2 s.' in text
    assert (
        'share of false distances below 100 mm: 0.3333, at most 0.001: MISSED'
        in capsys.readouterr().out
    )
    assert bars.exit_status() == 1


def test_chunks_end_with_their_episode(parts):
    at, is_pad = parts.act.chunks([3, 2], 3)
    assert at.tolist() == [[0, 1, 2], [1, 2, 2], [2, 2, 2], [3, 4, 4], [4, 4, 4]]
    assert is_pad.sum(axis=1).tolist() == [0, 1, 2, 1, 2]


def test_a_policy_of_lerobot_is_trained_acts_and_is_kept(parts, tmp_path):
    pytest.importorskip('lerobot')
    act = parts.act
    recipe = replace(act.SHORT, demonstrations=2, steps=2, length=5)
    assert act.policy_motion(tmp_path, recipe, is_kept=True).motions == ()
    given = act.policy_motion(tmp_path, recipe)
    (motion,) = given.motions
    assert motion.positions.shape == (5, 6) and motion.duration == pytest.approx(0.4)
    assert np.ptp(motion.positions, axis=0).max() > 1e-3
    assert 'it succeeds in 0 of 1 episodes' in given.remarks[0]
    kept = act.policy_motion(tmp_path, recipe, is_kept=True)
    np.testing.assert_array_equal(kept.motions[0].positions, motion.positions)
    from lerobot.policies.act.modeling_act import ACTPolicy

    checkpoint = tmp_path / act.KEPT / 'pretrained_model'
    assert ACTPolicy.from_pretrained(checkpoint).config.chunk_size == recipe.chunk
