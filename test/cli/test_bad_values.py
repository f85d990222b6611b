# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Every option of every command with values that it cannot have: no traceback, a status of 1 or 2,
a line that names the option or the value, and nothing started or overwritten.
"""

from __future__ import annotations

import argparse
import builtins
import re
from functools import partial

import pytest
from robot_bags import robot_bag

from frame_ros.cli import COMMANDS, build_parser, main
from frame_ros.core.options import Option

# In values and base arguments: {bag} a readable bag, {file} a file that is none, {folder} an empty
# folder, {new} a path beside it.
NOWHERE = '/nowhere/at/all'
UNWRITABLE = '/proc/self/fdinfo/x'
BAG = ('', NOWHERE, '{folder}', '{file}')
INPUT = ('', NOWHERE, '{folder}')
OUTPUT = ('', '{folder}', f'{NOWHERE}/x', '{file}/x', UNWRITABLE)
OUTPUT_FOLDER = ('', '{file}', '{file}/x', UNWRITABLE)
COUNT = ('x', '-1', '1.5', '', 'nan')
POSITIVE = ('x', '-1', '0', '', 'nan', 'inf')
SHARE = ('x', '-1', '', 'nan', 'inf')
CHOICE = ('nosuch', '')
PAIRS = ('', 'x', '=1')
MAPPING = (*PAIRS, 'nosuch=1')
ROBOT = ('nosuch', '', '{folder}', '{file}')
POLICY = ('nosuch', '', 'x.py', f'{NOWHERE}/x.py:C', 'nosuchmodule:C', '{folder}', '{file}')
CHECKPOINT = ('', NOWHERE, '{folder}', '{file}')
NAME = ('a b', '1a', 'a//b', 'a-b')
JOINTS = ('', 'a,a', ' ')
FREE = ()  # any text can be meant

LEROBOT = ['--policy', 'lerobot']
BASE = {
    'demo': ['--directory', '{new}'],
    'report': ['{bag}', '-o', '{new}'],
    'clean': ['{folder}', '--yes'],
    'video': ['{bag}'],
    'open-loop': ['{bag}'],
    'dataset': ['{bag}'],
    'serve': ['--port', '0'],
    'simulate-so101': ['--calibration-dir', '{new}'],
    'capsules': ['so101', '--out', '{new}'],
    'sequential': ['{pairs}'],
    'session': ['new', '{new}', '--policies', '{policies}', '--cells', 'cube'],
    'rephrase': ['pick up the cube', '--file', '{new}'],
    'identify': ['joints', '--bag', '{bag}', '--output', '{new}'],
    'sense': ['{bag}'],
    'outline': ['{bag}', '--params-file', '{parameters}', '--out', '{new}'],
    'scenes': ['generate', '--count', '1', '--output', '{new}.json'],
    'calibrate': ['{bag}', '--output', '{new}'],
    'correlate': ['{labels}', '{bag}', '-o', '{new}'],
    'null-check': ['--generated'],
    'operations': ['{bag}', '--review', '{new}'],
    'compare': ['{outcomes}', '-o', '{new}'],
}
# What an option needs beside its value to be looked at.
BESIDE = {
    ('demo', '--checkpoint'): LEROBOT,
    ('demo', '--monitor-parameters'): ['--monitor'],
    ('open-loop', '--checkpoint'): LEROBOT,
    ('serve', '--checkpoint'): LEROBOT,
    ('serve', '--observation-key'): ['--preset', 'openpi'],
    ('rephrase', '--model'): ['--url', 'http://127.0.0.1:9/v1'],
    ('rephrase', '--url'): ['--model', 'm'],
    ('rephrase', '--timeout'): ['--url', 'http://127.0.0.1:9/v1', '--model', 'm'],
    ('identify', '--sensor-link'): ['tool'],
    ('identify', '--poses'): ['tool'],
    ('identify', '--mount-xyz'): ['tool'],
    ('identify', '--mount-rpy'): ['tool'],
    ('identify', '--most-residual'): ['tool'],
    ('capsules', '--only'): ['--visual'],
    ('capsules', '--place'): ['--visual'],
}
NEEDED = {'open-loop': ['--policy', 'hold'], 'serve': ['--policy', 'hold']}
NEEDED |= {'dataset': ['--output', '{new}'], 'sense': ['--output', '{new}']}
# Of options whose declaration does not say it all; those of ranges and choices are added below.
BAD: dict[str, dict[str, tuple[str, ...]]] = {
    'demo': {
        '--robot': CHOICE,
        '--policy': POLICY,
        '--checkpoint': CHECKPOINT,
        '--option': (*PAIRS, 'wheels=4'),
        '--instruction': FREE,
        '--quality': ('x', '2', '-1', 'nan', '0.5;1'),
        '--directory': OUTPUT_FOLDER,
        '--namespace': NAME,
        '--reference': BAG,
        '--params-file': INPUT[1:],
        '--rephrasings-file': INPUT[1:],
        '--gate-parameters': MAPPING,
        '--contact-parameters': MAPPING,
        '--proximity-parameters': MAPPING,
        '--monitor-parameters': MAPPING,
        '--scene-overlay-parameters': MAPPING,
        '--scenes-file': INPUT,
        '--scene': FREE,  # a name or a number, looked for in the file
        '--calibration-file': INPUT,
        '--frame-prefix': ('left',),
    },
    'report': {
        'BAG': BAG,
        '--output': OUTPUT,
        '--json': tuple(f'{path}/x.json' for path in ('{file}', NOWHERE, UNWRITABLE)),
        '--namespace': NAME,
        '--topic': (*PAIRS, 'nosuch=/x'),
        '--action-joints': JOINTS,
        '--robot': ROBOT,
        '--joint-calibration': INPUT,
        '--reference': BAG,
        '--fingerprint': ('nosuch', 'pl,nosuch'),
        '--session': ('', NOWHERE, '{folder}', '{file}'),
        '--title': FREE,
    },
    'clean': {'DIR': INPUT[:2], '--older-than': ('', 'x', '-1d', 'nand')},
    'video': {'BAG': BAG, '--output': OUTPUT, '--topic': ('nosuch', '')},
    'open-loop': {
        'BAG': BAG,
        '--policy': POLICY,
        '--checkpoint': CHECKPOINT,
        '--option': (*PAIRS, 'wheels=4'),
        '--action-option': (*PAIRS, 'wheels=4'),
        '--instruction': FREE,
        '--robot': ROBOT,
        '--device': ('',),
        '--namespace': NAME,
        '--topic': (*PAIRS, 'nosuch=/x'),
        '--action-joints': JOINTS,
        '--joint-calibration': INPUT,
    },
    'sense': {
        'BAG': BAG,
        '--output': ('', '{folder}', '{file}', '{file}/x', UNWRITABLE),
        '--namespace': NAME,
        '--topic': (*PAIRS, 'nosuch=/x', 'wrench=/nosuch'),
        '--robot': ROBOT,
        '--params-file': (*INPUT, '{file}', '{labels}'),
        '--parameter': (*PAIRS, 'nosuch=1', 'wrench.force_on=-1', 'sources=[nosuch]'),
    },
    'dataset': {
        'BAG': BAG,
        '--output': ('', '{folder}', '{file}', '{file}/x', UNWRITABLE),
        '--repo-id': FREE,
        '--robot': ROBOT,
        '--joints': ('nosuch', ','),
        '--cameras': ('nosuch',),
        '--poses': ('nosuch',),
        '--task': FREE,
        '--codec': CHOICE,
        '--namespace': NAME,
        '--topic': (*PAIRS, 'nosuch=/x'),
        '--action-joints': JOINTS,
        '--joint-calibration': INPUT,
    },
    'serve': {
        '--policy': POLICY,
        '--checkpoint': CHECKPOINT,
        '--option': (*PAIRS, 'wheels=4'),
        '--robot': ROBOT,
        '--joint-names': ('nosuch', ','),
        '--device': ('',),
        '--camera': PAIRS,
        '--temperatures': ('x', '-1', 'nan', '0'),
        '--host': ('', 'no.such.host.invalid', '999.1.1.1'),
        '--api-key-file': (*INPUT, '{empty}'),
        '--observation-key': (*PAIRS, 'a=nosuch'),
    },
    'simulate-so101': {
        '--link': ('', '{folder}', '{file}', '{file}/x', UNWRITABLE),
        '--calibration-dir': OUTPUT_FOLDER,
        '--id': ('', 'a/b', '..'),
    },
    'capsules': {
        'URDF': ROBOT,
        '--out': OUTPUT,
        '--link': (*PAIRS, 'nosuch=2', 'gripper_link=0', 'gripper_link=-1'),
        '--place': (*PAIRS, 'a=b 0 0 0', 'a=b 0 0 0 0 0 nan', 'a=b 162 0 0 0 0 0',
                    'a=nosuch 0 0 0 0 0 0'),
        '--only': ('', 'nosuch'),
        '--source': FREE,
        '--package-folder': ('', NOWHERE, '{file}'),
    },
    'sequential': {
        'OUTCOMES': (*INPUT, '{file}'),
        '--most': ('0', '5', '301'),
        '--first': ('nosuch',),
        '--second': ('nosuch',),
        '--state': OUTPUT,
        '--output': OUTPUT,
    },
    'session': {
        'what': CHOICE,
        'SESSION': ('', '{file}', NOWHERE, '{folder}'),
        'OUTCOME': ('', 'nosuch'),
        '--policies': (*INPUT, '{file}', '{labels}'),
        '--cells': ('', ',', 'cube,cube'),
        '--instruction': (*PAIRS, 'nosuch=take it'),
        '--robot': ROBOT[:3],
        # Of serve, mark and open, and refused elsewhere; tried in test_session_command.py.
        '--host': ('', '127.0.0.1'),
        '--api-key-file': INPUT,
        '--trial': FREE,
        '--why': ('',),
        '--output': OUTPUT,
    },
    'rephrase': {
        'INSTRUCTION': ('', '  '),
        '--file': ('', '{folder}', '{file}/x', UNWRITABLE),
        '--url': ('', 'nosuch', 'ftp://x', 'http://'),
        '--model': ('',),
        '--text': INPUT,
        '--reviewer': ('',),
        '--key-variable': ('', 'a b'),
    },
    'identify': {
        'what': CHOICE,
        '--robot': ROBOT,
        '--output': ('', '{folder}', '{file}/x', UNWRITABLE),
        '--bag': BAG,
        '--joint-topic': ('nosuch',),
        '--joints': ('nosuch', ','),
        '--effort-scale': ('0',),
        '--payload': ('', 'x', 'nosuch,1,0,0,0', 'gripper_link,-1,0,0,0', 'gripper_link,nan,0,0,0'),
        '--namespace': NAME,
        '--sensor-link': ('nosuch', ''),
        '--wrench-topic': FREE,
        '--mount-xyz': ('x', '', '1,2', '0,0,nan', '0,0,50'),
        '--mount-rpy': ('x', '', '1,2', '0,0,nan', '0,0,45'),
        '--arm': FREE,
    },
    'outline': {
        'BAG': BAG,
        '--params-file': (*INPUT, '{file}', '{labels}'),
        '--out': OUTPUT,
        '--camera': ('nosuch',),
        '--namespace': FREE,  # of the node; a file of parameters may be of another
        '--joint-topic': ('nosuch',),
    },
    'scenes': {
        'what': CHOICE,
        'FILE': BAG,
        '--output': (*OUTPUT, '{new}.txt'),
        '--models': FREE,
        '--robot': ROBOT,
        '--operators': ('nosuch', '', ','),
        '--fixed': (*MAPPING, 'confounder_count.count=9', 'light_intensity.nosuch=1'),
        # Of run, and refused elsewhere.
        '--policy': POLICY,
        '--label': FREE,
        '--checkpoint': CHECKPOINT,
        '--option': PAIRS,
        '--device': ('',),
        '--camera-names': PAIRS,
        '--title': FREE,
        '--metrics': FREE,  # of report alone, which checks it
        '--mutations': ('0',),
        '--instructions': INPUT,
        '--photo': PAIRS,
        '--camera-info': INPUT,
        '--extrinsics': PAIRS,
        '--only': FREE,  # of cards alone, which looks for it in the file
        '--area': ('x', ''),
        '--meshes': (NOWHERE, '{file}'),
        '--towards': FREE,  # of breaking alone, which looks for it in the file
    },
    'metrics': {'ID': ('nosuch', '')},
    'calibrate': {
        'BAG': BAG,
        '--output': OUTPUT,
        '--report': OUTPUT_FOLDER,
        '--namespace': NAME,
        '--topic': (*PAIRS, 'nosuch=/x'),
        '--action-joints': JOINTS,
        '--robot': ROBOT,
        '--joint-calibration': INPUT,
        '--alpha': ('x', '', '0', '1', 'nan'),
        '--per-hour': ('x', '0', '-1', 'nan'),
        '--together': ('nosuch',),
        '--title': FREE,
    },
    'compare': {
        'PATH': ('', NOWHERE, '{folder}', '{file}', '{labels}'),
        '--output': (*OUTPUT, '{outcomes}'),
        '--zones': ('nosuch', '{folder}', '{file}'),
        '--reviewed': ('nosuch', '{folder}', '{file}'),
        '--cache-folder': FREE,
        '--policies': ('nosuch',),
        '--objects': ('nosuch',),
        '--tasks': ('nosuch',),
        '--since': ('x', '2026', '2026-13-01'),
        '--until': ('x', '2026', '2026-13-01'),
        '--success-times': ('x', '-1', '0', 'nan', '30,inf'),
        '--human': ('nosuch',),
        '--may-differ': ('nosuch', 'object'),
        '--baseline': ('nosuch',),
        '--candidate': ('nosuch',),
        '--title': FREE,
    },
    'correlate': {
        'LABELS': (*INPUT, '{file}'),
        'BAG': BAG,
        '--output': OUTPUT,
        '--namespace': NAME,
        '--topic': (*PAIRS, 'nosuch=/x'),
        '--action-joints': JOINTS,
        '--robot': ROBOT,
        '--joint-calibration': INPUT,
        '--metrics': ('nosuch', 'ti,nosuch'),
        '--title': FREE,
    },
    'plan': {
        'OUTCOMES': BAG,
        '--output': OUTPUT,
        '--discordance': ('0.01',),
        '--power': ('0.01',),
        '--thresholds': (*POSITIVE, '10,x'),
        '--episodes': (*COUNT, '1'),
    },
    'null-check': {
        'OUTCOMES': BAG,
        '--strata': ('', 'tote'),
    },
    'operations': {
        'BAG': BAG,
        '--zones': (*INPUT, '{file}', '{labels}'),
        '--review': OUTPUT,
        '--reviewed': (*INPUT, '{file}', '{labels}'),
        '--namespace': NAME,
        '--topic': (*PAIRS, 'nosuch=/x'),
        '--action-joints': JOINTS,
        '--robot': ROBOT,
        '--joint-calibration': INPUT,
        '--outcomes': OUTPUT,
        '--labels': CHOICE,
        '--joint': FREE,
    },
}  # fmt: skip
for command in COMMANDS:
    BAD.setdefault(command, {})['--file-limits'] = POSITIVE


def takers(command: str) -> dict[str, argparse.Action]:
    """The options with a value, and the positional arguments, of a command."""
    (commands,) = (
        a for a in build_parser(command)._actions if isinstance(a, argparse._SubParsersAction)
    )
    actions = [a for a in commands.choices[command]._actions if a.nargs != 0]
    return {
        (a.option_strings[-1] if a.option_strings else str(a.metavar or a.dest)): a for a in actions
    }


def by_declaration(action: argparse.Action) -> tuple[str, ...]:
    """Values that the declared range or choices of an option exclude; empty where they say too
    little: of texts, lists and pairs, and of arguments that are not declared as options.
    """
    declared = action.type.args[0] if isinstance(action.type, partial) else None
    if not isinstance(declared, Option) or declared.is_list or declared.is_mapping:
        return ()
    if declared.choices:
        return CHOICE
    if declared.item not in (int, float):
        return ()
    more = '1.5' if declared.item is int else 'inf' if declared.is_finite else 'nan'
    ends = [end for end in (declared.above, declared.below) if end is not None]
    ends += [least - 1 for least in (declared.at_least,) if least is not None]
    ends += [most + 1 for most in (declared.at_most,) if most is not None]
    outside = [f'{end:g}' for end in ends if end not in declared.besides]
    return tuple(dict.fromkeys(['x', '', 'nan', more, *outside]))


TAKERS = {command: takers(command) for command in COMMANDS}
for command, actions in TAKERS.items():
    for name, action in actions.items():
        if values := by_declaration(action):
            BAD[command][name] = (*values, *BAD[command].get(name, ()))
CASES = [
    (command, option, value)
    for command, options in BAD.items()
    for option, values in options.items()
    for value in values
]


@pytest.mark.parametrize('command', COMMANDS)
def test_every_option_is_tried(command):
    assert set(BAD[command]) == set(TAKERS[command])


@pytest.fixture(scope='module')
def bag(tmp_path_factory):
    return robot_bag(tmp_path_factory.mktemp('bags') / 'bag', (), {'robot': 'so101'}, count=30)


@pytest.fixture()
def places(tmp_path, bag):
    (tmp_path / 'folder').mkdir()
    (tmp_path / 'file').write_text('neither a bag nor anything else\n')
    (tmp_path / 'empty').touch()
    (tmp_path / 'pairs').write_text('act,pi0\n1,0\n')
    names = {name: str(tmp_path / name) for name in ('folder', 'file', 'empty', 'pairs', 'new')}
    labels = tmp_path / 'labels.csv'
    labels.write_text('episode,label\ne1,high\n')
    outcomes = tmp_path / 'outcomes.csv'
    outcomes.write_text('policy,success\nact,true\nact,false\npi0,true\n')
    parameters = tmp_path / 'parameters.yaml'
    parameters.write_text(
        'proximity: {ros__parameters: {robot: so101, extrinsics: [front=base_link 1 0 0 0 0 0]}}\n'
    )
    policies = tmp_path / 'policies.yaml'
    policies.write_text('{act: {url: "ws://127.0.0.1:9"}, pi0: {url: "ws://127.0.0.1:9"}}\n')
    made = {'policies': policies, 'labels': labels, 'outcomes': outcomes, 'parameters': parameters}
    return {**names, 'bag': str(bag), **{name: str(path) for name, path in made.items()}}


@pytest.fixture()
def nothing_starts(monkeypatch):
    """Whatever comes behind the checks is a failure of the test."""

    def start(*_, **__):
        pytest.fail('it was started')

    monkeypatch.setattr('frame_ros.cli.demo.run_episodes', start)
    monkeypatch.setattr('frame_ros.policies.remote.server.PolicyServer.run', start)
    monkeypatch.setattr('frame_ros.cli.feetech._loop', start)
    monkeypatch.setattr('frame_ros.policies.rephrasing.proposals.propose', start)
    monkeypatch.setattr(builtins, 'input', start)


def arguments(command: str, option: str, value: str) -> list[str]:
    """A command line in which this value alone is wrong."""
    beside = BESIDE.get((command, option), [])
    given = [*BASE.get(command, ()), *beside]
    if option == 'BAG' and command == 'correlate':
        return [command, given[0], value, *given[2:]]
    if not option.startswith('-'):
        return [command, value, *given[1:], *NEEDED.get(command, [])]
    if beside == ['tool']:
        given = ['tool', *BASE[command][1:]]
    if option not in NEEDED.get(command, []) and '--policy' not in beside:
        given += NEEDED.get(command, [])
    return [command, *given, f'{option}={value}']


@pytest.mark.parametrize(('command', 'option', 'value'), CASES)
def test_a_value_that_cannot_be(
    command, option, value, places, nothing_starts, capsys, tmp_path, monkeypatch
):
    if (command, option) == ('dataset', '--codec'):
        pytest.importorskip('lerobot')  # which knows the codecs
    monkeypatch.chdir(tmp_path / 'folder')
    value = value.format(**places)
    try:
        code = main([text.format(**places) for text in arguments(command, option, value)])
    except SystemExit as stop:
        code = stop.code
    said = capsys.readouterr().err.strip().splitlines()
    assert code in (1, 2) and said, (code, said)
    assert 'Traceback' not in ''.join(said)
    assert not (tmp_path / 'new').exists()
    if option.startswith('-'):
        told = ' '.join(said[-3:]).replace('-', '_')
        parts = [part for part in re.split('[,=:]', value.replace('-', '_')) if part.strip()]
        words = [option.lstrip('-').replace('-', '_'), *parts]
        assert any(word in told for word in words), told


@pytest.mark.parametrize(
    'command', [['demo', '--quality'], ['serve', '--policy', 'hold', '--temperatures']]
)
def test_an_empty_list_of_numbers_names_its_argument(command, capsys):
    assert main([*command, '']) == 2
    assert capsys.readouterr().err == f'frame-ros: {command[-1]} is empty\n'


def test_the_help_of_an_age_calls_its_value_an_age():
    assert (
        '--older-than AGE'
        in build_parser('clean')._subparsers._group_actions[0].choices['clean'].format_help()
    )
