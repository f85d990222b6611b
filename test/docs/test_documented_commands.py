# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Every command line of README and documentation, run with stand-ins for ports, hosts, checkpoints
and bags. A command for which there is no way to run it fails.

What moves an arm or runs for ever is run up to there: arguments, files and settings are checked by
the code that the command itself uses.
"""

from __future__ import annotations

import ast
import builtins
import io
import json
import re
import subprocess
import sys
from collections.abc import Callable
from configparser import ConfigParser
from pathlib import Path
from typing import Any

import pytest
import yaml
from patience import PATIENCE

HERE = Path(__file__).resolve().parent
for room in ('docs', 'episodes', 'policies'):
    sys.path.insert(0, str(HERE.parent / room))

from bag_making import episode_messages, write_bag  # noqa: E402
from documented_commands import Command, documented_commands  # noqa: E402
from markdown_blocks import ROOT  # noqa: E402
from outcome_bags import outcome_bag  # noqa: E402
from own_policy_page import save_policy  # noqa: E402
from robot_bags import robot_bag  # noqa: E402

from frame_ros.bringup.arm_options import ArmOptions  # noqa: E402
from frame_ros.bringup.process_table import (  # noqa: E402
    arm_processes,
    demo_processes,
)
from frame_ros.bringup.run_checks import check_run  # noqa: E402
from frame_ros.bringup.run_options import DemoOptions  # noqa: E402
from frame_ros.cli import build_parser, main  # noqa: E402
from frame_ros.confidence.calibration_file import CalibrationFile  # noqa: E402
from frame_ros.confidence.calibration_parts import HorizonThresholds  # noqa: E402
from frame_ros.core.option_texts import from_texts  # noqa: E402
from frame_ros.core.options import flat, walk  # noqa: E402
from frame_ros.evaluation.scene_trials.folder import FORMAT  # noqa: E402
from frame_ros.evaluation.scene_trials.result import TrialResult  # noqa: E402
from frame_ros.evaluation.sessions.folder import SessionFolder  # noqa: E402
from frame_ros.evaluation.sessions.opening import open_session  # noqa: E402
from frame_ros.evaluation.sessions.plan import SessionOptions  # noqa: E402
from frame_ros.evaluation.sessions.running import SessionRun, mark  # noqa: E402
from frame_ros.scenes.description.files import write_scenes  # noqa: E402
from frame_ros.scenes.generation.generator import generate  # noqa: E402

COMMANDS = list(documented_commands())
# What a page writes -> what stands in for it, in the folder that the fixture `place` makes.
STAND_INS = {
    r'<folder of a LeRobot checkpoint>|/models/act\w*|path/to/checkpoint'
    r'|(?<=checkpoint )outputs/act|(?<==)act/'
    r'|runs/act/training/checkpoints/last/pretrained_model': 'checkpoint',
    r'--checkpoint DIR': '--checkpoint checkpoint',
    r'BAG(\.\.\.)?(?= |$)': 'runs/episode_0007',
    r'DEMONSTRATION|/data/demonstrations': 'demonstrations',
    r'--output DIR|data/cubes': '--output new',
    r'--output --output': '--output',
    r'URDF': 'so101',
    r'((?<=calibration-file )|\$PWD/)runs/calibration\.json': 'calibration.json',
    r'--params-file FILE': '--params-file proximity.yaml',
    r'FILE': 'capsules.yaml',
    r'sequential (OUTCOMES|study)\.csv': 'sequential pairs.csv',
    r'compare study\.csv': 'compare spreadsheet.csv',
    r'report DIR': 'report runs/episode_0007',
    r'report runs/ --session study': 'report blinded --session opened',
    r'LABELS': 'labels',
    r'PATH(\.\.\.)?(?= |$)': 'spreadsheet.csv',
    r'(compare|plan) (DIR|runs/)(?= |$)': r'\1 spreadsheet.csv',
    r'(act|pi0)=outputs/eval/\w+/eval_info\.json': r'\1=\1_eval.json',
    r'\bexamples/robots/': f'{ROOT}/examples/robots/',
    r'metrics ID': 'metrics pl',
    r'--policy NAME': '--policy hold',
    r'\[DIR\]': 'runs',
    r'/tmp/(arm|leader)\b': r'./\1',
    r'port:=\.\.\.': 'port:=/dev/ttyACM0',
    r' --device cuda:0': '',
    r'scenes report( runs/\w+)+': 'scenes report campaign',
    r' --open\b': '',
}
LAUNCH = {
    'demo.launch.py': (DemoOptions, demo_processes),
    'arm.launch.py': (ArmOptions, arm_processes),
    'so101.launch.py': (ArmOptions, arm_processes),
    'franka.launch.py': (ArmOptions, arm_processes),
}
# Commands of others, with nothing of ours in them but names; their own projects test them.
OTHERS = (
    'sudo apt', 'sudo udevadm', 'sudo usermod', 'udevadm', 'echo', 'ssh', 'hf', 'lerobot-',
    'tensorboard', 'rosdep', 'colcon', 'cd', 'git', 'source', 'touch', 'eval',
    'python3 -m venv', 'python3.12 -m venv', 'python -m lerobot', 'python -m rosetta',
    'ros2 bag', 'ros2 node', 'ros2 topic list', 'ros2 param', 'ros2 lifecycle',
    'ros2 run --params-file', 'rviz2 -d',
)  # fmt: skip


def open_study(folder: Path, bags: Path) -> None:
    """A blinded session of one trial per policy whose labels are open, and its bags."""
    policies = {name: {'url': 'ws://127.0.0.1:9'} for name in 'ab'}
    session = SessionFolder.make(folder, policies, SessionOptions(cells=('cube',), episodes=1))
    run = SessionRun(session, lambda text: None)
    for _ in policies:
        trial = run.begin('').id
        outcome_bag(bags / trial, policy=trial)
        mark(session, trial, 'success', '', 'operator')
    open_session(session)


@pytest.fixture(scope='module')
def place(tmp_path_factory) -> Path:
    """A folder with all that the commands of the pages read."""
    folder = tmp_path_factory.mktemp('place')
    save_policy(folder)
    robot_bag(folder / 'runs' / 'episode_0007', (), {'robot': 'so101'}, count=30)
    write_bag(folder / 'demonstrations' / 'one', episode_messages())
    human = {'count': 30, 'episode_id': 'human'}
    robot_bag(folder / 'runs' / 'human', (), {'robot': 'so101'}, **human)
    open_study(folder / 'opened', folder / 'blinded')
    (folder / 'policies.yaml').write_text('{a: {url: "ws://h:1"}, b: {url: "ws://h:2"}}')
    motors = yaml.safe_load((ROOT / 'config' / 'motors' / 'so101.yaml').read_text())
    (folder / 'motors.yaml').write_text(yaml.safe_dump({**motors, 'is_simulated': False}))
    tool = {'tool': {'mass': 0.7, 'centre_of_mass': [0.0, 0.0, 0.03]}}
    for name in ('hand.yaml', 'tool.yaml'):
        (folder / name).write_text(yaml.safe_dump(tool))
    (folder / 'proximity.yaml').write_text('proximity:\n  ros__parameters: {robot: so101}\n')
    (folder / 'mine.yaml').write_text('metrics:\n  ros__parameters: {hold: 0.1}\n')
    (folder / 'zones.yaml').write_text('bin: {kind: target, box: [0.1, 0.2, 0.3, 0.4]}\n')
    (folder / 'review.csv').write_text(
        'bag,episode,time,verdict,reviewed\nhuman,human,1.0,success,\n'
    )
    (folder / 'pairs.csv').write_text('new,old\n1,0\n1,1\n')
    (folder / 'labels.csv').write_text('episode,label\nhuman,high\nepisode_0007,low\n')
    calibration(folder / 'calibration.json')
    CalibrationFile().save(folder / 'so101.json')
    (folder / 'spreadsheet.csv').write_text(
        'policy,success,seed\n'
        + ''.join(f'{p},{p < "b"},{s}\n' for p in ('act', 'pi0') for s in range(6))
    )
    for name in ('act', 'pi0'):
        per_episode = [{'episode_ix': i, 'success': name == 'act', 'seed': i} for i in range(6)]
        (folder / f'{name}_eval.json').write_text(json.dumps({'per_episode': per_episode}))
    pose = {'init_xy': [-0.2, 0.1], 'orientation': [1, 0, 0, 0]}
    (folder / 't-grasp_n-100_o-1_s-1068405065.json').write_text(
        json.dumps({'0': {'model_id': 'orange', 'obj_init_options': pose}, 'seed': 1, 'num': 1})
    )
    drawn = generate('pick_up', 'so101', 1).scenes
    write_scenes(folder / 'scenes.yaml', drawn)
    (folder / 'campaign').mkdir()
    write_scenes(folder / 'campaign' / 'scenes.json', drawn)
    steps = dict.fromkeys(('paper', 'code'), {'grasp': True, 'lift': True, 'success': True})
    trial = TrialResult(scene=drawn[0].name, policy='hold', steps=steps)
    settings = {'format': FORMAT, 'policy': 'hold'}
    (folder / 'campaign' / 'campaign.json').write_text(json.dumps(settings))
    (folder / 'campaign' / 'results.jsonl').write_text(f'{trial.line()}\n')
    (folder / 'ideas.txt').write_text('grasp the cube\n')
    (folder / 'library' / 'brick').mkdir(parents=True)
    corners = '\n'.join(f'v 0.0{x} 0.0{y} 0.0{z}' for x in '04' for y in '03' for z in '02')
    sides = '124 143 568 587 126 165 348 387 137 175 248 286'
    (folder / 'library' / 'brick' / 'visual.obj').write_text(f'{corners}\n' + ''.join(
        f'f {" ".join(side)}\n' for side in sides.split()))  # fmt: skip
    return folder


def calibration(path: Path) -> None:
    thresholds = HorizonThresholds(quantile=0.1, thresholds=[0.5], episodes=20)
    of_scores = dict.fromkeys(('confidence', 'ev_step'), thresholds)
    CalibrationFile(horizon_thresholds=of_scores, expected_duration=10.0).save(path)


@pytest.fixture(scope='module')
def checkpoint(place) -> Path:
    pytest.importorskip('lerobot')
    from checkpoints import make_act_checkpoint

    return make_act_checkpoint(place / 'checkpoint', cameras=('front',), image_size=(12, 16))


@pytest.fixture()
def stand_ins(place, request, monkeypatch, tmp_path) -> Path:
    """The folder in which a command runs; nothing that it starts runs for ever."""
    monkeypatch.chdir(place)
    monkeypatch.setattr('frame_ros.policies.remote.server.PolicyServer.run', lambda self: None)
    monkeypatch.setattr(builtins, 'input', lambda question='': _no_more())
    monkeypatch.setattr(sys, 'stdin', io.StringIO('quit\n'))
    return place


def _no_more() -> str:
    raise EOFError


def replaced(text: str) -> str:
    for pattern, standing in STAND_INS.items():
        text = re.sub(pattern, standing, text)
    return text


# frame-ros

# Alone in a sentence they are the name of the command: they need more to run.
NAMES = (
    'compare',
    'sequential',
    'serve',
    'report',
    'rephrase',
    'video',
    'open-loop',
    'dataset',
    'correlate',
    'calibrate',
    'operations',
    'outline',
    'sense',
    'capsules',
    'scenes',
    'session',
)

PARSED = 'identify', 'calibrate', 'null-check', 'outline', 'sense'
# Of a blinded session, which need one that runs.
OF_SESSION = 'serve', 'mark', 'status', 'open'


def run_ours(words: list[str], folder: Path) -> None:
    command, arguments = words[1], words[2:]
    is_of_session = command == 'session' and bool({*arguments[:1]} & {*OF_SESSION})
    if '--help' in arguments or command == '--help':
        with pytest.raises(SystemExit) as stop:
            main(words[1:])
        assert stop.value.code == 0
    elif not arguments and command in NAMES:
        build_parser(command)
    elif command == 'demo':
        assert main([command, *arguments, *{'--dry-run'} - set(arguments)]) == 0
    # An arm that moves, many episodes or trials, a model that answers, fits of minutes.
    elif is_of_session or command in PARSED or {'--url', '--visual'} & {*arguments}:
        build_parser(command).parse_args([command, *arguments])
    elif command == 'simulate-so101':
        done = subprocess.run(
            [sys.executable, ROOT / 'scripts' / 'frame-ros', *words[1:]],
            input='quit\n', text=True, capture_output=True, check=False, timeout=PATIENCE,
        )  # fmt: skip
        assert done.returncode == 0 and 'drive it:' in done.stdout, done.stderr
    elif command == 'rephrase':
        assert main([command, *arguments]) == 1  # nobody types anything: nothing is written
    elif command == 'compare':  # the verdict is the status
        assert main([command, *arguments]) not in (1, 2)
    elif command == 'sequential':
        assert main([command, *arguments]) == 14  # two pairs are too few
    elif command == 'clean':
        assert main([command, *arguments, '--dry-run']) == 0
    else:
        if command == 'dataset':
            pytest.importorskip('lerobot')
        # Images of 16 x 12 pixels are too small for the codec of videos.
        extra = {'serve': ['--port', '0'], 'dataset': ['--images', '-q']}.get(command, [])
        output = folder / 'new'
        assert main([command, *arguments, *extra]) == 0
        if '--output' in arguments and output.is_dir():
            output.rename(folder / f'written-{len(list(folder.iterdir()))}')


# ros2


def run_launch(words: list[str], folder: Path) -> None:
    """The arguments make the settings, the settings the table, and the table passes the checks."""
    if len(words) < 4 or '--show-args' in words:
        assert len(words) < 4 or words[3] in LAUNCH
        return
    kind, table = LAUNCH[words[3]]
    preset = {'robot': 'fr3'} if words[3].startswith('franka') else {}
    given = preset | dict(word.split(':=', 1) for word in words[4:])
    processes = table(from_texts(kind, given))
    check_run([process for process in processes if process.package == 'frame_ros'])


def run_node(words: list[str], folder: Path) -> None:
    """The node exists, and has every parameter, of the type of its default."""
    name = words[3] if words[0] == 'ros2' else words[2].rpartition('.')[2]
    assert (ROOT / 'frame_ros' / 'nodes' / name / '__main__.py').is_file()
    check_parameters(words, defaults_of(name))


def run_parameters(words: list[str], folder: Path) -> None:
    """Parameters without their node: one node has all of them, of the type of its default."""
    nodes = (path.parent.name for path in (ROOT / 'frame_ros' / 'nodes').glob('*/__main__.py'))
    faults = []
    for node in nodes:
        try:
            return check_parameters(words, defaults_of(node))
        except AssertionError as error:
            faults.append(f'{node}: {error}'.splitlines()[0])
    pytest.fail(f'no node takes them: {", ".join(faults)}')


def run_argument(words: list[str], folder: Path) -> None:
    """Arguments of a launch file, with values that it takes; else parameters of a node."""
    given = dict(word.split(':=', 1) for word in words if ':=' in word)
    for kind in (ArmOptions, DemoOptions):
        if {*given} <= {option.name for option in walk(kind)}:
            # Robots and policies of one's own are not there.
            known = {n: v for n, v in given.items() if n not in ('robot', 'policy', 'tip')}
            preset = {'robot': 'fr3'} if known.keys() & {'host', 'output'} else {}
            from_texts(kind, preset | {n: v for n, v in known.items() if '<' not in v})
            return
    run_parameters([part for word in given for part in ('-p', f'{word}:={given[word]}')], folder)


def defaults_of(node: str) -> dict[str, Any]:
    """The parameters of a node, with their defaults, as its file has them."""
    text = (ROOT / 'config' / f'{node}.yaml').read_text()
    return flat(yaml.safe_load(text)['/**']['ros__parameters'])


def check_parameters(words: list[str], known: dict[str, Any]) -> None:
    for option, given in zip(words, words[1:], strict=False):
        if option == '-p':
            parameter, value = given.split(':=', 1)
            assert parameter in known, parameter
            if '<' in value:
                continue
            default, found = known[parameter], yaml.safe_load(value)
            assert isinstance(found, type(default)) or isinstance(default, float), parameter
            if isinstance(default, str) and parameter in ('cameras',):
                assert yaml.safe_load(found)


def run_service(words: list[str], folder: Path) -> None:
    pytest.importorskip('rclpy')
    package, _, kind = words[4].split('/')
    module = __import__(f'{package}.srv', fromlist=[kind])
    fill(getattr(module, kind).Request(), words[5:])


def run_pub(words: list[str], folder: Path) -> None:
    pytest.importorskip('rclpy')
    place = next(i for i, word in enumerate(words) if '/msg/' in word)
    package, _, kind = words[place].split('/')
    fill(getattr(__import__(f'{package}.msg', fromlist=[kind]), kind)(), words[place + 1 :])


def fill(message: Any, texts: list[str]) -> None:
    """Sets the fields that a YAML text names; a wrong name or type is an error of the message."""
    for name, value in (yaml.safe_load(texts[0]) if texts else {}).items():
        setattr(message, name, value)


def run_echo(words: list[str], folder: Path) -> None:
    """The topic is one that our sources name."""
    topic = words[3].lstrip('/')
    sources = (ROOT / 'frame_ros' / 'nodes').rglob('*.py')
    assert any(f"'{topic}'" in path.read_text() for path in sources), topic


# the rest


def run_make(words: list[str], folder: Path) -> None:
    targets = [word for word in words[1:] if '=' not in word]
    rules = (ROOT / 'Makefile').read_text()
    assert targets and all(re.search(rf'^{target}:', rules, re.MULTILINE) for target in targets)


def run_pip(words: list[str], folder: Path) -> None:
    """Extras and files that are named are there."""
    metadata = ConfigParser()
    metadata.read(ROOT / 'setup.cfg')
    for word in words[words.index('install') + 1 :]:
        if found := re.fullmatch(r'\.\[([\w,]+)\]', word):
            assert set(found[1].split(',')) <= set(metadata['options.extras_require'])
        elif word.endswith('.txt'):
            assert (ROOT / word.removeprefix('src/frame_ros/')).is_file()
        else:
            assert word in ('.', '-r', '--no-deps')


def run_script(words: list[str], folder: Path) -> None:
    """The script parses, and declares the options."""
    path = ROOT / words[1]
    text = path.read_text()
    ast.parse(text)
    assert all(f"'{word}'" in text for word in words[2:] if word.startswith('--'))


RUNNERS: dict[str, Callable[[list[str], Path], None]] = {
    r'frame-ros ': run_ours,
    r'(policy-env|\.venv-policy)/bin/frame-ros ': run_ours,
    r'ros2 launch': run_launch,
    r'ros2 run frame_ros ': run_node,
    r'python -m frame_ros\.nodes\.': run_node,
    r'-p ': run_parameters,
    r'[a-z_.]+:=': run_argument,
    r'ros2 service call ': run_service,
    r'ros2 topic pub ': run_pub,
    r'ros2 topic echo ': run_echo,
    r'make ': run_make,
    r'(\S+/)?pip install ': run_pip,
    r'python (benchmarks|examples)/': run_script,
}


def runner_of(command: Command) -> Callable[[list[str], Path], None] | None:
    return next((run for start, run in RUNNERS.items() if re.match(start, command.text)), None)


def test_the_pages_hold_commands_of_every_kind():
    used = {runner_of(command) for command in COMMANDS}
    assert set(RUNNERS.values()) <= used and len(COMMANDS) > 100


@pytest.mark.parametrize('command', COMMANDS, ids=lambda c: f'{c.place} {c.text[:50]}')
def test_a_documented_command_works(command, stand_ins, request, capsys):
    run = runner_of(command)
    if run is None:
        assert command.text.startswith(OTHERS), f'{command.place}: no way to run {command.text!r}'
        return
    text = replaced(command.text)
    if re.search(r'\bcheckpoint\b(?!:)', text.replace('--checkpoint', '')):
        request.getfixturevalue('checkpoint')
    words = Command(command.place, text).words
    try:
        run(words, stand_ins)
    except SystemExit as stop:
        pytest.fail(f'exit {stop.code}: {capsys.readouterr().err}')
    except AssertionError as error:
        pytest.fail(f'{text}: {error} {capsys.readouterr().err[-500:]}')
