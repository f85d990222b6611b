# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The demo end to end: the command a newcomer types, and what it leaves behind."""

import json
import os
import re
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from patience import PATIENCE

ROOT = Path(__file__).resolve().parent.parent
# What a busy machine may cause, by the node that says it: what comes late, by less than two
# seconds, or not at all for a moment, and what is not known for want of it. So it was with 20 busy
# loops on two cores.
BUSY = {
    'simulator WARN': (
        r'real-time factor .*: the machine is too busy \(',
        r'from one tick to the next the clock went \+0\.\d+ s; ',
    ),
    'proximity WARN': (
        r'camera \w+: no image for 1\.\d s( |$)',
        r'camera \w+: joint states are 0\.\d+ s older than the image( \(|$)',
    ),
    # A distance of an image that came late is older than the word that there are none.
    'metrics WARN': (
        r'input, last \d+ s: (proximity\.backward|ot\.unavailable): \d+ \([^;()]*\)( \(|$)',
    ),
    'contact WARN': (r'\w+ is unavailable: no \w+ for 0\.\d+ s; the filter starts again( \(|$)',),
    'policy ERROR': (r'no inference: (\w+ stopped: the newest is [01]\.\d+ s old [^;]*(; |$))+$',),
}
DEMO = [sys.executable, '-u', str(ROOT / 'scripts' / 'frame-ros'), 'demo']


@pytest.fixture(scope='module')
def demo(ros_in_module, tmp_path_factory):
    """One run of the demo: its folder and what it printed."""
    pytest.importorskip('mujoco')
    directory = tmp_path_factory.mktemp('demo') / 'run'
    options = [
        '--episodes',
        '2',
        '--quality',
        '1.0,0.3',
        '--timeout',
        '12',
        '--directory',
        directory,
    ]
    done = subprocess.run(
        [*DEMO, *options], capture_output=True, text=True, check=False, timeout=4 * PATIENCE
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return directory, done.stdout


def test_it_says_where_everything_is(demo):
    directory, text = demo
    assert f'report: {directory / "report.html"}' in text
    assert 'ROS_DOMAIN_ID=' in text
    assert '2 episodes in ' in text
    assert f'MB, in {directory}  (' in text and 'bags:   2 episodes, ' in text
    assert 'Traceback' not in text


def test_live_metrics_were_shown(demo):
    _, text = demo
    live = [line for line in text.splitlines() if line.startswith('  episode 1 of 2')]
    assert live
    assert any('latency' in line and 'rate' in line for line in live)
    results = [line.split() for line in text.splitlines() if line[:11].strip() in ('1', '2')]
    assert [words[2] for words in results] == ['1', '0.3']  # the quality of each episode


def test_each_episode_left_a_bag_a_sidecar_and_a_video(demo):
    directory, _ = demo
    sidecars = sorted(directory.glob('*/episode.json'))
    assert len(sidecars) == 2
    for index, sidecar in enumerate(sidecars):
        facts = json.loads(sidecar.read_text())['metadata']
        assert (facts['policy'], facts['seed']) == ('scripted', str(index))
        assert list(sidecar.parent.glob('*.mcap'))
        assert (directory / f'{sidecar.parent.name}.mp4').stat().st_size > 10_000


def test_the_bags_hold_live_metrics_and_the_same_are_recomputed(demo):
    from frame_ros.episodes.reading import read_episodes
    from frame_ros.reports import compare_live

    directory, _ = demo
    episodes = list(read_episodes(directory))
    assert len(episodes) == 2
    for episode in episodes:
        assert not episode.is_truncated
        assert len(episode.live['quality']) > 100
        rows = {(row.kind, row.field): row for row in compare_live(episode)}
        assert [row for row in rows.values() if row.different] == []
        assert rows['quality', 'a_pi'].holds


def test_contacts_sensed_afterwards_are_those_of_the_run(demo, tmp_path):
    from frame_ros.bags.reader import Bag
    from frame_ros.cli import main
    from frame_ros.core.time import SECOND, stamp_ns

    def contacts(bag):
        """Begin and end, ns, by the number of the contact."""
        opened, found = Bag(bag), {}
        is_there = '/contact_events' in opened.topics
        for _, event in opened.messages('/contact_events') if is_there else ():
            found.setdefault(event.id, []).append(stamp_ns(event.header.stamp))
        return list(found.values())

    directory, _ = demo
    parameters = [  # as `frame-ros demo --dry-run` has them
        'sources=joint_effort', 'joints.motors_file=simulated', 'max_joint_age=0.3',
        'max_sensor_age=0.5',
    ]  # fmt: skip
    given = [f'--parameter={each}' for each in parameters]
    for path in sorted(sidecar.parent for sidecar in directory.glob('*/episode.json')):
        folder = tmp_path / path.name
        assert main(['sense', str(path), '-o', str(folder), '--replace', '-q', *given]) == 0
        live, sensed = contacts(path), contacts(folder)
        begins = np.array([each[0] for each in sensed])
        assert live and len(sensed) == len(live)
        for begin, *_ in live:  # a sample is 10 ms; a busy recorder may lose some
            assert np.abs(begins - begin).min() <= SECOND // 10


def loud_lines(text):
    """The warnings and errors among lines of a demo that a busy machine does not explain."""
    found = []
    for line in text.splitlines():
        if 'WARN' not in line and 'ERROR' not in line:
            continue
        said = re.match(r'\[(\w+)\] (\w+): (.*)', line)
        known = BUSY.get(f'{said[1]} {said[2]}', ()) if said else ()
        if said is None or not any(re.match(each, said[3]) for each in known):
            found.append(line)
    return found


@pytest.mark.parametrize(
    ('line', 'is_busy'),
    [
        ('[proximity] WARN: camera front: no image for 1.0 s (1 more in the last 11 s)', True),
        ('[proximity] ERROR: camera front: no image for 1.0 s', False),
        ('[contact] WARN: camera front: no image for 1.0 s', False),
        ('[proximity] WARN: camera front: the extrinsics are 12 mm off', False),
        ('[metrics] WARN: input, last 5 s: proximity.backward: 1 (samples, not used)', True),
        ('[metrics] WARN: input, last 5 s: proximity.backward: 1 (samples); pose.zero: 3', False),
        ('[metrics] WARN: input, last 5 s: pose.backward: 1 (samples, not used)', False),
        (
            '[simulator] WARN: real-time factor 0.60 over the last 5 s: the machine is too busy '
            '(2.0 s given up so far)',
            True,
        ),
        (
            '[simulator] WARN: from one tick to the next the clock went +0.66 s; the simulation '
            'goes on from there',
            True,
        ),
        ('[simulator] WARN: from one tick to the next the clock went -0.66 s; the', False),
        ('[simulator] WARN: from one tick to the next the clock went +7.00 s; the', False),
        ('[metrics] WARN: input, last 5 s: ot.unavailable: 40 (steps without a value)', True),
        (
            '[contact] WARN: wrench is unavailable: no wrench for 0.2 s; the filter starts again',
            True,
        ),
        ('[contact] WARN: wrench is unavailable: no wrench has come', False),
        ('[policy] ERROR: no inference: object stopped: the newest is 0.76 s old (stamp 1)', True),
        ('[policy] ERROR: no inference: object stopped: the newest is 7.6 s old (stamp 1)', False),
        ('[policy] ERROR: no inference: ValueError: far', False),
        ('[gate] WARN: refuses the commands: step_limit: far', False),
        ('  waiting for episode 2 of 6', True),
    ],
)
def test_what_a_busy_machine_explains(line, is_busy):
    assert (loud_lines(f'a\n{line}\nb') == []) == is_busy


def longest_gap_of_depth_images(episode):
    """s for which the simulated camera itself sent nothing, as on a busy machine."""
    from frame_ros.episodes.topic_statistics import topic_statistics

    return topic_statistics(episode)['/front/depth/image_raw'].longest_gap


def test_nothing_makes_a_number_of_a_healthy_run_doubtful(demo):
    from frame_ros.episodes.reading import read_episodes
    from frame_ros.reports.model.episode_check import PAUSE, check_episode

    directory, text = demo
    starved = False
    for episode in read_episodes(directory):
        doubtful = check_episode(episode).doubtful
        if longest_gap_of_depth_images(episode) > PAUSE:  # others run, too: nothing could be seen
            starved = True
            late = ('nothing on proximity', 'proximity.backward')
            doubtful = [line for line in doubtful if not line.startswith(late)]
        assert doubtful == []
    assert loud_lines(text) == []
    page = (directory / 'report.html').read_text()
    assert 'Nothing makes a number doubtful' in page or starved


def test_commands_went_through_the_gate(demo):
    """Of the first episode, of quality 1: bit by bit, but for those that it says it has changed."""
    from frame_ros.bags.reader import Bag
    from frame_ros.gate.records import GateStatus

    directory, _ = demo
    bag = Bag(min(directory.glob('*/episode.json')).parent)

    def commands(topic):
        stamps = ((m.header.stamp, m.position) for _, m in bag.messages(topic))
        return {(at.sec, at.nanosec): position.tolist() for at, position in stamps}

    asked, sent = commands('/policy_commands'), commands('/joint_commands')
    states = [state for _, state in bag.messages('/gate_state')]
    last = states[-1]
    assert len(asked) > 50
    assert sum(asked[stamp] == sent.get(stamp) for stamp in asked) >= last.passed
    assert last.passed > 0.5 * last.received
    assert {state.state for state in states} >= {GateStatus.IDLE, GateStatus.PASSING}


def test_the_report_is_one_page_that_names_both_episodes(demo):
    directory, _ = demo
    page = (directory / 'report.html').read_text()
    for sidecar in directory.glob('*/episode.json'):
        assert sidecar.parent.name in page
    assert 'src="http' not in page


def run_with(policy, tmp_path):
    """A demo with a policy of the user's own, and how it ended."""
    (tmp_path / 'mine.py').write_text(policy)
    options = ['--policy', f'{tmp_path}/mine.py:Mine', '--directory', f'{tmp_path}/run']
    return subprocess.run(
        [*DEMO, *options], capture_output=True, text=True, check=False, timeout=3 * PATIENCE
    )


def test_a_policy_that_cannot_be_made_is_named_before_anything_starts(ros_domain, tmp_path):
    methods = 'def reset(self, seed=None): pass\n    def infer(self, observation): pass\n'
    done = run_with(f'class Mine:\n    {methods}    def __init__(self): 1 / 0\n', tmp_path)
    assert done.returncode == 2
    assert 'raised ZeroDivisionError in mine.py:4' in done.stderr
    assert 'Traceback' not in done.stderr
    assert not (tmp_path / 'run').exists()


def test_a_node_that_dies_is_named(ros_domain, tmp_path):
    """A policy whose process ends at its first inference: the demo says so and ends."""
    methods = 'def reset(self, seed=None): pass\n    def infer(self, observation): os._exit(3)\n'
    names = "name, checkpoint, cameras, poses = 'mine', '', (), ()"
    done = run_with(f'import os\n\n\nclass Mine:\n    {names}\n    {methods}', tmp_path)
    assert done.returncode == 2
    assert 'the process policy' in done.stderr
    assert 'Traceback' not in done.stderr


def test_a_policy_of_the_users_own_runs(ros_domain, tmp_path):
    """The one of docs/own-policy.md, in a short episode in which it swings the wrist."""
    pytest.importorskip('mujoco')
    sys.path.insert(0, str(ROOT / 'test' / 'docs'))
    from own_policy_page import save_policy

    from frame_ros.bags.reader import Bag

    policy = f'{save_policy(tmp_path).name}:Wave'
    options = ['--policy', policy, '--option', 'amplitude=0.2', '--option', 'period=1.0']
    options += ['--episodes', '1', '--timeout', '3', '--no-sensing', '--no-report']
    done = subprocess.run(
        [*DEMO, *options, '--directory', 'run'], cwd=tmp_path,
        capture_output=True, text=True, check=False, timeout=2 * PATIENCE,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    (sidecar,) = (tmp_path / 'run').glob('*/episode.json')
    assert json.loads(sidecar.read_text())['metadata']['policy'].endswith(policy)
    sent = [m for _, m in Bag(sidecar.parent).messages('/policy_commands')]
    at = list(sent[0].name).index('wrist_roll')
    angles = [m.position[at] for m in sent]
    assert len(sent) > 50 and 0.3 < max(angles) - min(angles) <= 0.4 + 1e-6


def test_what_is_wrong_is_found_before_anything_starts(tmp_path):
    """A checkpoint without weights: no process is started, no folder is made."""
    checkpoint = tmp_path / 'checkpoint'
    checkpoint.mkdir()
    (checkpoint / 'config.json').write_text('{}')
    run = ['--directory', str(tmp_path / 'run')]
    done = subprocess.run(
        [*DEMO, '--policy', 'lerobot', '--checkpoint', str(checkpoint), *run],
        capture_output=True, text=True, check=False, timeout=PATIENCE,
    )  # fmt: skip
    assert done.returncode == 2 and 'lacks model.safetensors' in done.stderr
    assert not (tmp_path / 'run').exists()


def test_ctrl_c_stops_every_node(ros_domain, tmp_path):
    run = tmp_path / 'run'
    demo = subprocess.Popen(
        [*DEMO, '--no-record', '--directory', str(run)], stdout=subprocess.PIPE, text=True
    )
    session = run / 'logs' / 'session.log'
    deadline = time.monotonic() + PATIENCE
    while not (session.is_file() and 'every node is ready' in session.read_text()):
        assert time.monotonic() < deadline
        time.sleep(0.1)
    nodes = children(demo.pid)
    assert len(nodes) == 10
    demo.send_signal(signal.SIGINT)
    demo.communicate(timeout=PATIENCE)
    assert demo.returncode == 130
    assert [pid for pid in nodes if Path(f'/proc/{pid}').exists()] == []


def test_ctrl_c_says_what_was_recorded_and_how_to_report_on_it(ros_domain, tmp_path):
    """In the second episode: the first is whole, the second was stopped; both are in the report."""
    run = tmp_path / 'the run'
    demo = subprocess.Popen(
        [*DEMO, '--episodes', '3', '--timeout', '4', '--directory', str(run)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    deadline = time.monotonic() + PATIENCE
    while len(list(run.glob('episode_*/'))) < 2:
        assert demo.poll() is None and time.monotonic() < deadline
        time.sleep(0.1)
    time.sleep(2.0)
    demo.send_signal(signal.SIGINT)
    _, text = demo.communicate(timeout=PATIENCE)
    assert demo.returncode == 130, text
    lines = text.splitlines()
    assert any(
        line.startswith('recorded: 2 episodes, ') and f' MB, in {run}; ' in line for line in lines
    ), text
    (command,) = (line.split(': ', 1)[1] for line in lines if line.startswith('report on it: '))
    name, *arguments = shlex.split(command)
    assert name == 'frame-ros'
    done = subprocess.run(
        [DEMO[0], DEMO[2], *arguments],
        capture_output=True,
        text=True,
        check=False,
        timeout=2 * PATIENCE,
    )
    assert done.returncode == 0, done.stderr
    page = (run / 'report.html').read_text()
    assert all(path.name in page for path in run.glob('episode_*/'))


def children(pid):
    """The processes that `pid` started, on Linux."""
    path = Path(f'/proc/{pid}/task/{pid}/children')
    if not path.is_file():
        pytest.skip('this kernel does not list child processes')
    return [int(word) for word in path.read_text().split() if int(word) != os.getpid()]
