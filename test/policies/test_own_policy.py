# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""A policy of the user's own: the one of the documentation, and what can be wrong with one."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / 'docs'))

from own_policy_page import save_policy

from frame_ros.cli import main
from frame_ros.core.errors import FrameRosError, PolicyError
from frame_ros.policies.base import Policy
from frame_ros.policies.execution.inference_check import check_own_chunk
from frame_ros.policies.own_policy import is_own_policy, with_absolute_file
from frame_ros.policies.protocol import Observation
from frame_ros.policies.registry import make_policy
from frame_ros.policies.trial import try_own_policy

JOINTS = ('a', 'wrist_roll')
MEMBERS = "    name = 'x'\n    checkpoint = ''\n    cameras = ()\n    poses = ()\n"
METHODS = '    def reset(self, seed=None): pass\n    def infer(self, observation): return None\n'
OFFERED = {'device': 'cpu', 'dt': 0.1, 'joint_limits': {}}


def observation(stamp: int = 1_000_000_000) -> Observation:
    return Observation(stamp, stamp, JOINTS, np.array([0.5, 0.1]))


def save(tmp_path: Path, text: str) -> str:
    (tmp_path / 'mine.py').write_text(text)
    return f'{tmp_path / "mine.py"}:Mine'


def test_the_policy_of_the_page_swings_about_where_the_arm_stood(tmp_path):
    policy = make_policy(f'{save_policy(tmp_path)}:Wave', OFFERED, amplitude=0.2, period=4.0)
    assert isinstance(policy, Policy) and policy.name == 'wave'
    policy.reset(3)
    first = policy.infer(observation())
    check_own_chunk(first)
    assert first.dt == 0.1  # offered, and its constructor has it
    steps = 0.2 * np.sin(2 * np.pi * np.arange(20) * 0.1 / 4.0)
    np.testing.assert_allclose(first.actions[:, 1], 0.1 + steps)
    np.testing.assert_array_equal(first.actions[:, 0], 0.5)
    later = policy.infer(observation(2_000_000_000))
    np.testing.assert_allclose(later.actions[0, 1], first.actions[10, 1])


def test_a_module_is_found_in_the_current_folder(tmp_path, monkeypatch):
    save_policy(tmp_path).rename(tmp_path / 'wave_module_of_mine.py')
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, 'path', [p for p in sys.path if p])
    assert make_policy('wave_module_of_mine:Wave').name == 'wave'
    try_own_policy('wave_module_of_mine:Wave', {'joint': 'gripper'})


def test_a_function_may_make_it_and_a_file_import_what_lies_beside_it(tmp_path):
    save_policy(tmp_path).rename(tmp_path / 'neighbour_of_mine.py')
    spec = save(
        tmp_path,
        'from neighbour_of_mine import Wave\ndef Mine(folder): return Wave(joint=folder)\n',
    )
    assert make_policy(spec, {'folder': 'a'}).joint == 'a'
    with pytest.raises(PolicyError, match='missing a required argument'):
        make_policy(spec)


def test_what_is_an_own_policy_and_what_a_started_process_is_told(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert is_own_policy('a.b:C') and is_own_policy('x/y.py:C')
    assert not any(map(is_own_policy, ('hold', 'ws://host:8000', ':C', 'a.py', 'a.py:', 'a:1')))
    assert with_absolute_file('x.py:C') == f'{tmp_path}/x.py:C'
    assert with_absolute_file('a.b:C') == 'a.b:C'


WRONG = {
    'no file': (None, "there is no file '.*mine.py'"),
    'no class': ('class Other:\n' + MEMBERS + METHODS, "has no 'Mine'; its policies: Other"),
    'no policy': ('x = 1\n', "has no 'Mine'; it defines no policy: a policy has the attributes"),
    'a value': ('Mine = 3\n', 'is a int; it must be the class of a policy'),
    'no methods': ('class Mine:\n' + MEMBERS, r'has no reset and no infer\(\); a policy has'),
    'syntax': ('class Mine:\n  def\n', 'importing mine.py raised SyntaxError in mine.py:2'),
    'at import': ('x = 1\n1 / 0\n', 'raised ZeroDivisionError in mine.py:2: division by zero'),
    'no library': ('\nimport nosuchlibrary\n', 'ModuleNotFoundError in mine.py:2: No module named'),
    'it exits': ('import sys\nsys.exit(4)\n', 'raised SystemExit in mine.py:2: 4'),
    'options': ('class Mine:\n' + MEMBERS + METHODS, "does not take 'wheels'; it takes: none"),
}


@pytest.mark.parametrize('name', WRONG)
def test_what_is_wrong_is_said_when_it_is_made_and_when_it_is_tried(tmp_path, name):
    text, message = WRONG[name]
    spec = save(tmp_path, text) if text is not None else f'{tmp_path}/mine.py:Mine'
    with pytest.raises(PolicyError, match=message):
        make_policy(spec, OFFERED, wheels=4)
    with pytest.raises(PolicyError, match=message):
        try_own_policy(spec, {'wheels': 4})


@pytest.mark.parametrize(
    ('text', 'message'),
    [
        ('class Mine:\n' + METHODS, 'has no name and no checkpoint and no cameras and no poses'),
        (
            'class Mine:\n' + MEMBERS.replace('cameras = ()', "cameras = 'front'") + METHODS,
            "cameras of the policy .* is 'front'; it must be names",
        ),
        (
            'class Mine:\n' + MEMBERS.replace('poses = ()', 'poses = None') + METHODS,
            'poses of the policy .* is None; it must be names',
        ),
        (
            'class Mine:\n' + MEMBERS.replace("checkpoint = ''", 'checkpoint = None') + METHODS,
            'checkpoint of the policy .* is None; it must be a text',
        ),
        (
            'class Mine:\n' + MEMBERS + METHODS + "    notes = 'careful'\n",
            'notes of the policy .* must be a list of texts',
        ),
        (
            'class Mine:\n' + MEMBERS + METHODS + "    fingerprint = {'weights': 5}\n",
            'fingerprint of the policy .* must be a map from texts to texts',
        ),
        (
            'class Mine:\n' + MEMBERS + METHODS + '    n_action_steps = None\n',
            'n_action_steps of the policy .* is None; it must be 0 or a number',
        ),
        (
            'class Mine:\n'
            + MEMBERS
            + METHODS.replace('seed=None', '').replace('self, ', 'self', 1),
            r'reset\(\) of the policy .* cannot be called with one argument: too many',
        ),
        (
            'class Mine:\n' + MEMBERS + METHODS + '    def __init__(self): self.x = 1 / 0\n',
            'making the policy .* raised ZeroDivisionError in mine.py:8',
        ),
    ],
)
def test_what_is_wrong_with_the_object_is_said_when_it_is_made(tmp_path, text, message):
    with pytest.raises(PolicyError, match=message):
        make_policy(save(tmp_path, text))


def test_names_that_are_none(tmp_path):
    with pytest.raises(PolicyError, match='does not name a class; it must be wave.py:CLASS'):
        make_policy('wave.py')
    with pytest.raises(PolicyError, match="there is no module 'nosuchmodule'.*FILE.py:CLASS"):
        make_policy('nosuchmodule.part:Wave')
    with pytest.raises(PolicyError, match='your own as module:Class or file.py:Class'):
        make_policy('magic')


def test_a_checkpoint_must_be_taken(tmp_path):
    spec = f'{save_policy(tmp_path)}:Wave'
    with pytest.raises(FrameRosError, match='does not take a checkpoint; it takes: joint'):
        try_own_policy(spec, {}, required={'folder': 'a checkpoint'})


def test_what_a_policy_prints_is_no_answer(tmp_path):
    spec = save(tmp_path, "print('hello')\nclass Mine:\n" + MEMBERS + METHODS)
    try_own_policy(spec, {})
    with pytest.raises(PolicyError) as caught:
        try_own_policy(spec, {'wheels': 4})
    assert 'hello' not in str(caught.value)


@pytest.mark.parametrize(
    ('returned', 'message'),
    [
        (None, 'infer returned None; it must return an Inference'),
        (np.zeros(6), r'infer returned a ndarray of shape \(6,\)'),
    ],
)
def test_what_is_no_inference_is_refused(returned, message):
    with pytest.raises(PolicyError, match=message):
        check_own_chunk(returned)


MADE = {'joint_limits': {'a': (-1.0, 1.0)}, 'dt': 0.1, 'robot_joint_names': ('a',)}


@pytest.mark.parametrize(
    ('body', 'message'),
    [
        ('self.x = 1 / 0', r'making the policy .* raised ZeroDivisionError in mine.py:9'),
        ("open('weights.bin')", 'raised FileNotFoundError in mine.py:9'),
        (r"import os; os.write(2, b'\xff\n'); os._exit(7)", 'ended with exit code 7'),
        ("raise ValueError('9 weights, 8 expected')", 'ValueError in mine.py:9: 9 weights, 8 exp'),
        ('import os; os._exit(7)', 'making the policy .* ended with exit code 7'),
        ('del Mine.name', 'has no name'),
    ],
)
def test_a_constructor_that_fails_is_found_by_the_trial(tmp_path, body, message):
    text = 'class Mine:\n' + MEMBERS + METHODS
    text += f'    def __init__(self, size=1):\n        {body}\n'
    spec = save(tmp_path, text)
    try_own_policy(spec, {'size': 2})  # where it is not made
    with pytest.raises(PolicyError, match=message):
        try_own_policy(spec, {'size': 2}, offered=MADE)


def test_a_trial_makes_it_as_the_node_does_and_closes_it(tmp_path):
    text = 'import json\nclass Mine:\n' + MEMBERS + METHODS
    text += (
        '    def __init__(self, joint_limits, dt, size=1):\n'
        '        self.said = repr((joint_limits, dt, size))\n'
        f'    def close(self): open({str(tmp_path / "closed")!r}, "w").write(self.said)\n'
    )
    try_own_policy(save(tmp_path, text), {'size': 'big'}, offered=MADE)
    assert (tmp_path / 'closed').read_text() == "({'a': (-1.0, 1.0)}, 0.1, 'big')"


def test_a_trial_ends_also_where_a_thread_of_the_policy_does_not(tmp_path):
    late = tmp_path / 'late'
    text = 'import pathlib, threading, time\nclass Mine:\n' + MEMBERS + METHODS
    text += (
        '    def __init__(self):\n        threading.Thread(target=self.run).start()\n'
        f'    def run(self):\n        time.sleep(60)\n        pathlib.Path({str(late)!r}).touch()\n'
    )
    try_own_policy(save(tmp_path, text), {}, offered=MADE)
    assert not late.exists(), 'it was waited for'


def test_a_demo_does_not_start_with_a_policy_that_cannot_be_made(tmp_path, capsys):
    text = 'class Mine:\n' + MEMBERS + METHODS + '    def __init__(self): self.x = [][0]\n'
    command = ['demo', '--policy', save(tmp_path, text), '--directory', str(tmp_path / 'run')]
    assert main(command) == 2
    assert 'raised IndexError in mine.py:8: list index out of range' in capsys.readouterr().err
    assert not (tmp_path / 'run').exists()


def test_what_derives_from_nothing_of_ours_has_the_defaults_of_the_base(tmp_path):
    text = 'class Mine:\n' + MEMBERS + METHODS + '    samples = 4\n    notes = ["from a test"]\n'
    policy = make_policy(save(tmp_path, text))
    assert isinstance(policy, Policy) and (policy.name, policy.samples) == ('x', 4)
    assert not policy.needs_history and policy.n_action_steps == 0 and not policy.facts
    assert policy.notes == ['from a test']
    policy.samples = 8
    policy.warm_up()
    policy.close()
    assert policy.samples == 8


def test_a_class_that_derives_from_the_base_needs_what_only_it_can_say(tmp_path):
    head = 'from frame_ros.policies.base import Policy\nclass Mine(Policy):\n'
    with pytest.raises(PolicyError, match=r'has no infer\(\)'):
        make_policy(save(tmp_path, head + "    name = 'x'\n"))
    with pytest.raises(PolicyError, match='has no name; '):
        (tmp_path / 'other').mkdir()
        make_policy(save(tmp_path / 'other', head + METHODS))
