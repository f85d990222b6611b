# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""A tool that is taken for too heavy, or of the wrong sign, is named while its hand turns."""

import re

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from frame_ros.core.time import MILLISECOND
from frame_ros.sensing.contact.wrench.detector import WrenchContact
from frame_ros.sensing.contact.wrench.options import WrenchOptions
from frame_ros.sensing.contact.wrench.tool_model import Tool, ToolLoad
from frame_ros.sensing.contact.wrench.tool_motion import ToolMotion

TIP, STEP = (0.0, 0.0, 0.1), 5  # ms
TRUE = Tool(0.9, (0.0, 0.0, 0.05))


def warnings_of(tool, sign=1.0, up=lambda t: 0.0, seconds=20.0):
    """All that is said of a wrist that swings about two axes with the true tool.

    tool: as it is taken to be. sign: of the readings. up(t): N upwards in the world at the tip.
    """
    contact = WrenchContact(WrenchOptions(tip=TIP), tool, None)
    rng, load, said = np.random.default_rng(0), ToolLoad(TRUE), []
    for tick in range(int(seconds * 1000 / STEP)):
        t = tick * STEP / 1000
        phase = 1.2 * max(t - 2.0, 0.0)
        turned = Rotation.from_rotvec([0.7 * np.sin(phase), 0.4 * np.sin(0.7 * phase), 0.0])
        turned = turned.as_matrix()
        speed = 0.25 * abs(np.cos(phase)) if t > 2.0 else 0.0
        shake = 1.5 * np.sin(np.array([4.0, 5.0, 6.0]) * t) * (t > 2.0)
        motion = ToolMotion(turned, shake, np.zeros(3), np.zeros(3), t > 2.0, speed=speed)
        rows = turned.ravel().tolist()
        wrench = np.add(load.weight(load.gravity(rows)), load.inertial(rows, motion))
        force = turned.T @ [0.0, 0.0, up(t)]
        wrench += np.concatenate((force, np.cross(TIP, force)))
        wrench += rng.normal(size=6) * [0.05, 0.05, 0.05, 0.002, 0.002, 0.002]
        contact.update((tick + 1) * STEP * MILLISECOND, sign * wrench, motion)
        said += contact.warnings
    return said


def lighter(said):
    return [float(found[1]) for why in said if (found := re.search(r'seems (\d+) g lighter', why))]


def test_a_tool_whose_mass_is_too_large_is_named_with_its_weight():
    found = lighter(warnings_of(Tool(1.15, (0.0, 0.0, 0.05))))
    assert found[-1] == pytest.approx(250.0, abs=60.0)


def test_readings_of_the_wrong_sign_are_named():
    said = warnings_of(TRUE, sign=-1.0)
    assert any('wrong way round' in why and 'is_force_on_tool' in why for why in said)


def pushed_up(t):
    return 6.0 * ((t % 4.0) < 1.0) * (t > 3.0)


@pytest.mark.parametrize('up', [lambda t: 0.0, pushed_up])
def test_a_true_tool_is_none_whatever_pushes_it_for_a_while(up):
    said = warnings_of(TRUE, up=up)
    assert not lighter(said)
    assert not any('wrong way' in why for why in said)


def test_a_cable_from_above_may_be_what_pulls():
    said = warnings_of(TRUE, up=lambda t: 1.5 * (t > 1.0))
    assert lighter(said)
    assert all('cable from above' in why for why in said if 'lighter' in why)
