# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The session node with the real simulator, policy, metrics and recorder, and without them."""

import json
import os
import subprocess
import time
from dataclasses import replace
from types import SimpleNamespace

import pytest
from patience import PATIENCE

pytest.importorskip('rclpy')

from frame_ros.bringup.process_table import Process, demo_processes
from frame_ros.bringup.run_options import DemoOptions
from frame_ros.bringup.supervisor import ProcessError, Supervisor, ros_environment
from frame_ros.core.events import Outcome
from frame_ros.nodes.console.node import close_console, open_console
from frame_ros.nodes.session.node import SessionNode
from frame_ros.nodes.session.options import SessionOptions
from frame_ros.scenes.running_scene import RunningScene

LEFT_OUT = ('markers', 'proximity')


def blind(process):
    """The same process; the simulator without cameras, and the session without the nodes that look
    at their images.
    """
    other = {}
    if process.name == 'simulator':
        other = {'cameras': [''], 'depth.rate': 0.0}
    elif process.name == 'session':
        nodes = process.parameters['nodes']
        other = {'nodes': [node for node in nodes if node not in LEFT_OUT]}
    return replace(process, parameters={**process.parameters, **other})


def run_alone(arguments):
    """The session with nobody there: its exit code and what it said."""
    process = Process('session', 'session', arguments)
    done = subprocess.run(
        process.command(),
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE,
        env=ros_environment(os.environ),
    )
    return done.returncode, done.stdout + done.stderr


def test_what_is_missing_is_named(ros_domain):
    code, text = run_alone({'ready_timeout': 1.0, 'nodes': ['metrics', 'kinematics']})
    assert code == 1
    for part in (
        'simulator does not offer',
        'episode_recorder does not offer',
        'metrics',
        'kinematics',
    ):
        assert part in text
    assert 'Traceback' not in text


@pytest.mark.parametrize(('name', 'value'), [('episodes', 0), ('timeout', 0.0)])
def test_a_wrong_parameter_is_named(ros_domain, name, value):
    code, text = run_alone({name: value})
    assert code == 1
    assert f'{name} is {value}; it must be' in text
    assert 'Traceback' not in text


def test_an_episode_has_its_scene_whoever_words_the_task():
    scene = RunningScene(number=2, name='two', instruction='lift it', target='can')
    for own, words in ((True, 'lift it'), (False, 'wave')):
        options = SessionOptions(instruction='wave', scene_topic='scene', scene_instruction=own)
        request = SessionNode._start_request(SimpleNamespace(options=options), 1, 1.0, scene)
        facts = {each.key: each.value for each in request.attributes}
        assert (request.instruction, request.object, facts['scene']) == (words, 'can', 'two')
    bare = SessionNode._start_request(SimpleNamespace(options=options), 1, 1.0)
    assert (bare.instruction, bare.object) == ('wave', 'cube')


def test_episodes_without_an_outcome_end_by_time(ros_domain, tmp_path):
    pytest.importorskip('mujoco')
    settings = DemoOptions(policy='hold', episodes=2, seed=7, timeout=1.0, directory=str(tmp_path))
    processes = [blind(p) for p in demo_processes(settings) if p.name not in LEFT_OUT]
    results = []
    try:
        with Supervisor(processes, tmp_path / 'logs', console=lambda line: None) as supervisor:
            console = open_console(supervisor.domain_id)
            try:
                supervisor.wait(0.1, lambda: results.extend(console.look()))
                wait_for(lambda: results.extend(console.look()) or len(results) == 2)
            finally:
                close_console(console)
    except ProcessError as error:
        pytest.fail(str(error))
    assert 'episodes done: 2' in (tmp_path / 'logs' / 'session.log').read_text()
    assert [result.outcome for result in results] == [Outcome.TIMEOUT, Outcome.TIMEOUT]
    assert [result.attributes['seed'] for result in results] == ['7', '8']
    sidecars = [json.loads(path.read_text()) for path in sorted(tmp_path.glob('*/episode.json'))]
    assert [sidecar['metadata']['seed'] for sidecar in sidecars] == ['7', '8']
    assert [sidecar['metadata']['policy'] for sidecar in sidecars] == ['hold', 'hold']
    codes = supervisor.stop()
    failed = [name for name, code in codes.items() if code]
    logs = [(tmp_path / 'logs' / f'{name}.log').read_text()[-5000:] for name in failed]
    assert codes == {process.name: 0 for process in processes}, '\n'.join(logs)


def wait_for(condition):
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.05)
