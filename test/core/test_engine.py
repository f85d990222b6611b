# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""MuJoCo's warnings are logged, and leave no file."""

import logging

import pytest

pytest.importorskip('mujoco')

from frame_ros.core.engine import load_mujoco


def test_a_warning_of_the_physics_is_logged_and_writes_no_file(tmp_path, monkeypatch, caplog):
    monkeypatch.chdir(tmp_path)
    mj = load_mujoco()
    ball = '<body><freejoint/><geom size="0.1"/></body>'
    model = mj.MjModel.from_xml_string(f'<mujoco><worldbody>{ball}</worldbody></mujoco>')
    data = mj.MjData(model)
    data.qvel[0] = float('nan')
    with caplog.at_level(logging.WARNING):
        mj.mj_step(model, data)
    assert 'unstable' in caplog.text
    assert data.warning[mj.mjtWarning.mjWARN_BADQVEL].number == 1
    assert not list(tmp_path.iterdir())
