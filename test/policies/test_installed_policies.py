# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""A policy that another installed package registers by an entry point."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / 'docs'))

from markdown_blocks import ROOT, blocks

from frame_ros.core.errors import FrameRosError, PolicyError
from frame_ros.policies import policy_names
from frame_ros.policies.policy_names import OURS, policies
from frame_ros.policies.registry import find_source, make_policy

COMMAND = ROOT / 'scripts/frame-ros'


@pytest.fixture(scope='module')
def environment(tmp_path_factory) -> dict[str, str]:
    """The variables of processes that find the package, as pip would have installed it."""
    folder = tmp_path_factory.mktemp('site')
    module, project = (block.text for block in blocks(ROOT / 'docs' / 'extend' / 'policy.md'))
    (folder / 'wave.py').write_text(module)
    place = re.search(r'wave = "(.*)"', project)[1]
    register(folder, 'wave', {'wave': place, 'hold': place})
    path = os.pathsep.join([str(folder), os.environ.get('PYTHONPATH', '')])
    return {**os.environ, 'PYTHONPATH': path}


def register(folder: Path, package: str, entries: dict[str, str]) -> None:
    """Writes what pip leaves of a package that registers policies."""
    about = folder / f'{package}-1.0.dist-info'
    about.mkdir()
    (about / 'METADATA').write_text(f'Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n')
    lines = ['[frame_ros.policies]', *(f'{name} = {place}' for name, place in entries.items())]
    (about / 'entry_points.txt').write_text('\n'.join(lines))


def run(environment: dict[str, str], *command: str, timeout: float = 60.0) -> tuple[int, str]:
    done = subprocess.run(
        [sys.executable, *command],
        env=environment, capture_output=True, text=True, timeout=timeout, check=False,
    )  # fmt: skip
    return done.returncode, done.stdout + done.stderr


def test_every_policy_of_ours_is_found():
    for name in OURS:
        assert find_source(name).takes
    assert set(policies()) >= OURS.keys()


def test_it_is_made_by_its_name_with_its_own_options(environment):
    code = (
        'from frame_ros.policies.registry import make_policy, find_source\n'
        "policy = make_policy('wave', {'dt': 0.1, 'device': 'cpu'}, joints='wrist_roll, gripper')\n"
        'print(policy.options.joints, policy.options.dt)\n'
        "print(make_policy('hold').name)\n"
    )
    code, text = run(environment, '-c', code)
    assert code == 0, text
    assert "('wrist_roll', 'gripper') 0.1" in text
    assert text.endswith('hold\n')  # a name of ours is ours


BROKEN = """
from frame_ros.policies.base import Policy
value = 3
class NoReset:
    name, checkpoint, cameras, poses = 'x', '', (), ()
    def infer(self, observation): return None
class NoCall(Policy):
    name, infer = 'x', 3
class NoName(Policy):
    def infer(self, observation): return None
class NoOptions(NoName):
    Options = int
class Fails(NoName):
    def __init__(self): self.x = [][0]
def hidden(): return NoCall()
"""
WRONG = {
    'lost': ('broken:Lost', "broken has no 'Lost'; its policies: NoName, NoOptions, Fails"),
    'absent': ('nosuchmodule:Wave', "there is no module 'nosuchmodule' where"),
    'library': ('library:Wave', 'importing library raised ModuleNotFoundError in library.py:2: No'),
    'failing': ('failing:Wave', 'importing failing raised ZeroDivisionError in failing.py:1: div'),
    'leaving': ('leaving:Wave', 'importing leaving raised SystemExit in leaving.py:1: 4'),
    'plain': ('broken:value', 'broken:value is a int; it must be the class of a policy'),
    'form': ('broken', 'an entry point must be of the form package.module:Class'),
    'reset': (
        'broken:NoReset',
        r'the class broken:NoReset has no reset\(\); a policy has the attr',
    ),
    'call': ('broken:NoCall', r'the class broken:NoCall has no infer\(\); a policy has the attrib'),
    'hidden': ('broken:hidden', r'the policy hidden has no infer\(\); a policy has the attributes'),
    'name': ('broken:NoName', 'the policy name has no name; a policy has the attributes name'),
    'options': ('broken:NoOptions', "Options of the policy options is <class 'int'>; it must be a"),
    'fails': (
        'broken:Fails',
        'making the policy fails raised IndexError in broken.py:14: list ind',
    ),
    'twice': (
        'broken:Fails',
        r"'twice' is registered by bad \(broken:Fails\) and by other \(x:Y\)",
    ),
}


@pytest.fixture
def broken_packages(tmp_path, monkeypatch):
    """Installs packages that register what cannot be used."""
    (tmp_path / 'broken.py').write_text(BROKEN)
    (tmp_path / 'library.py').write_text('\nimport nosuchlibrary\n')
    (tmp_path / 'failing.py').write_text('1 / 0\n')
    (tmp_path / 'leaving.py').write_text('raise SystemExit(4)\n')
    register(tmp_path, 'bad', {name: place for name, (place, _) in WRONG.items()})
    register(tmp_path, 'other', {'twice': 'x:Y'})
    monkeypatch.syspath_prepend(str(tmp_path))
    policy_names.installed.cache_clear()
    yield tmp_path
    policy_names.installed.cache_clear()
    for name in ('broken', 'library', 'failing', 'leaving'):
        sys.modules.pop(name, None)


@pytest.mark.parametrize('name', WRONG)
def test_what_is_wrong_with_a_registered_policy_names_its_package(broken_packages, name):
    place, message = WRONG[name]
    with pytest.raises(PolicyError, match=message) as caught:
        make_policy(name)
    if name not in ('hidden', 'name', 'options', 'fails'):
        assert f'bad ({place})' in str(caught.value) and repr(name) in str(caught.value)


def test_broken_packages_leave_the_other_policies_alone(broken_packages):
    assert set(policies()) == {*OURS, *WRONG}
    assert make_policy('hold').name == 'hold'
    with pytest.raises(FrameRosError, match='known: scripted, .*hold, .*lost, absent'):
        make_policy('magic')
    environment = {**os.environ, 'PYTHONPATH': f'{broken_packages}:{os.environ["PYTHONPATH"]}'}
    code, text = run(environment, str(COMMAND), 'demo', '--help')
    assert code == 0, text
    command = [str(COMMAND), 'demo', '--policy', 'failing', '--directory', str(broken_packages)]
    code, text = run(environment, *command)
    assert code == 2 and 'bad (failing:Wave): importing failing raised' in text, text
    assert 'Traceback' not in text


@pytest.mark.parametrize(
    ('option', 'expected'),
    [
        ('amplitud=0.2', "policy 'wave' does not take 'amplitud'; did you mean 'amplitude'?"),
        ('amplitude=-1', 'amplitude is -1; it must be above 0 rad'),
        ('amplitude=x', "amplitude is 'x'; it must be a number, above 0 rad"),
    ],
)
def test_its_options_are_checked_by_the_command(environment, tmp_path, option, expected):
    command = [str(COMMAND), 'demo', '--policy', 'wave', '--option', option]
    code, text = run(environment, *command, '--directory', str(tmp_path / 'run'))
    assert code == 2 and expected in text, text
    assert not (tmp_path / 'run').exists()


def test_it_runs_in_the_policy_node(environment):
    pytest.importorskip('rclpy')
    code = (
        'import rclpy\n'
        'from rclpy.parameter import Parameter\n'
        'from frame_ros.nodes.policy.node import PolicyNode\n'
        'rclpy.init()\n'
        "texts = ['amplitude=0.1', 'joints=gripper']\n"
        "given = {'policy': 'wave', 'policy_options': texts, 'autostart': True}\n"
        'node = PolicyNode(parameter_overrides=[Parameter(n, value=v) for n, v in given.items()])\n'
        'node.destroy_node()\n'
    )
    code, text = run(environment, '-c', code)
    assert code == 0 and 'swings gripper by 0.1 rad' in text, text
