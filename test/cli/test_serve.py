# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""`frame-ros serve` as a process: what it needs, what it says, how it ends."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
import urllib.request

import numpy as np
import pytest
from patience import PATIENCE

pytest.importorskip('msgpack')
pytest.importorskip('websockets')

from frame_ros.cli import main
from frame_ros.core.errors import PolicyError
from frame_ros.policies.protocol import Observation
from frame_ros.policies.remote import connect_remote_policy

JOINTS = ('shoulder_pan', 'shoulder_lift', 'elbow_flex', 'wrist_flex', 'wrist_roll', 'gripper')
# Runs the command, and at its end prints what it had imported.
COMMAND = """
import atexit, sys
atexit.register(lambda: print('MODULES', *sys.modules, file=sys.stderr))
from frame_ros.cli import main
sys.exit(main(sys.argv[1:]))
"""


def start(*arguments: str, **environment: str) -> tuple[subprocess.Popen, str, list[str]]:
    """Starts a server on a free port; returns it, its address and what it has said."""
    process = subprocess.Popen(
        [sys.executable, '-c', COMMAND, 'serve', '--port', '0', *arguments],
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | environment,
    )
    said: list[str] = []
    for line in process.stderr:
        said.append(line)
        if found := re.search(r'at ws://(\S+):(\d+)', line):
            return process, f'ws://127.0.0.1:{found[2]}', said
    raise AssertionError(''.join(said))


def finish(process: subprocess.Popen, number: int = signal.SIGTERM) -> str:
    process.send_signal(number)
    _, rest = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0, rest
    return rest


def observation() -> Observation:
    return Observation(1, 1, JOINTS, np.linspace(0, 0.5, 6))


def test_a_server_serves_until_it_is_told_to_end_and_loads_little():
    process, url, said = start('--policy', 'hold', '--option', 'horizon=3', '--action-rate', '20')
    assert urllib.request.urlopen(url.replace('ws', 'http') + '/healthz').read() == b'OK\n'
    policy = connect_remote_policy(url)
    answer = policy.infer(observation())
    np.testing.assert_array_equal(answer.actions, [observation().joint_positions] * 3)
    assert answer.dt == 0.05
    rest = finish(process)
    with pytest.raises(PolicyError, match='closed the connection|no connection'):
        policy.infer(observation())
    policy.close()
    assert 'listening on' not in ''.join(said) + rest
    modules = set(rest.rpartition('MODULES')[2].split())
    assert {'numpy', 'msgpack', 'websockets'} <= modules
    assert modules.isdisjoint({'rclpy', 'pinocchio', 'scipy', 'cv2', 'torch', 'rosbags', 'PIL'})


def test_sigint_ends_it_and_a_key_from_a_file_is_asked_for(tmp_path):
    key = tmp_path / 'key'
    key.write_text('very secret\n')
    process, url, said = start(
        '--policy', 'hold', '--host', '0.0.0.0', '--api-key-file', str(key), '--shared'
    )
    assert any('not on this machine only' in line and 'without a key' not in line for line in said)
    with pytest.raises(PolicyError, match='401'):
        connect_remote_policy(url, wait=PATIENCE)
    policy = connect_remote_policy(url, api_key='very secret')
    policy.infer(observation())
    policy.close()
    # A background process of a non-interactive shell ignores SIGINT unless it takes it itself.
    assert 'very secret' not in finish(process, signal.SIGINT) + ''.join(said)


SLOW = """
import time
from frame_ros.policies import hold, policy_names
class Slow(hold.HoldPolicy):
    def infer(self, observation):
        time.sleep(60.0)
policy_names.OURS['slow'] = '__main__:Slow'
from frame_ros.cli import main, serve
serve.GRACE = 0.2
import sys
sys.exit(main(sys.argv[1:]))
"""


def test_an_inference_without_end_does_not_keep_it(monkeypatch):
    monkeypatch.setattr(sys.modules[__name__], 'COMMAND', SLOW)
    process, url, _ = start('--policy', 'slow')
    policy = connect_remote_policy(url, deadline=0.3)
    with pytest.raises(PolicyError, match='did not answer within 0.3 s'):
        policy.infer(observation())
    policy.close()
    begun = time.monotonic()
    assert 'abandoned' in finish(process)
    assert time.monotonic() - begun < 25


@pytest.mark.parametrize(
    ('arguments', 'text'),
    [
        (['--policy', 'magic'], "no policy 'magic'; known: scripted"),
        (['--policy', 'hodl'], "no policy 'hodl'; did you mean 'hold'?"),
        (['--policy', 'hold', '--option', 'wheels=4'], "'wheels'"),
        (['--policy', 'hold', '--robot', 'nothing'], "no robot 'nothing'"),
        (['--policy', 'hold', '--joint-names', 'wheel'], r"--joint-names has ['wheel']"),
        (['--policy', 'hold', '--preset', 'libero'], 'send no joint positions'),
        (['--policy', 'hold', '--preset', 'openpi'], 'needs observation_keys'),
        (['--policy', 'hold', '--temperatures', 'a'], "--temperatures is ['a']"),
        (['--policy', 'hold', '--temperatures=-1'], '--temperatures is [-1.0]'),
        (['--policy', 'hold', '--port', '99999'], '--port is 99999; it must be 0 to 65535'),
        (
            ['--policy', 'hold', '--max-message-size', 'nan'],
            '--max-message-size is nan; it must be a finite number, 0.1 to 1024 MB',
        ),
        (['--policy', 'hold', '--action-rate', '0'], '--action-rate is 0.0; it must be above 0 Hz'),
        (['--policy', 'hold', '--samples=-4'], '--samples is -4; it must be 0, or at least 2'),
        (['--policy', 'hold', '--camera', 'a'], "--camera is 'a'; it must be NAME=VALUE"),
        (
            ['--policy', 'hold', '--api-key-file', 'absent'],
            "no file 'absent'",
        ),
    ],
)
def test_what_is_wrong_is_told(arguments, text, capsys):
    assert main(['serve', *arguments]) == 2
    assert text in capsys.readouterr().err
