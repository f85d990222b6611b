# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""`frame-ros session` from the drawing to the opening, with a server that is killed."""

from __future__ import annotations

import contextlib
import hashlib
import json
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from patience import PATIENCE

pytest.importorskip('msgpack')
pytest.importorskip('websockets')

from bag_making import T0
from blinded_servers import (
    NAMES,
    client_of,
    key_of,
    names_in,
    play,
    public_text,
    two_servers,
    unserved_session,
)
from outcome_bags import outcome_bag
from remote_servers import observation

from frame_ros.cli import main
from frame_ros.core.errors import PolicyError
from frame_ros.core.time import SECOND
from frame_ros.evaluation.sessions.folder import SessionFolder

COMMAND = 'import sys; from frame_ros.cli import main; sys.exit(main(sys.argv[1:]))'


class Server:
    """A process of `frame-ros session serve`."""

    def __init__(self, session: Path) -> None:
        words = ['session', 'serve', str(session), '--port', '0']
        self.process = subprocess.Popen(
            [sys.executable, '-c', COMMAND, *words], stderr=subprocess.PIPE, text=True
        )
        self.said = ''
        for line in self.process.stderr:
            self.said += line
            if found := re.search(r'at (ws://\S+)', line):
                self.url = found[1]
                return
        raise AssertionError(self.said)

    @property
    def words(self) -> str:
        """The line of the process in a list of processes, and its environment."""
        folder = Path(f'/proc/{self.process.pid}')
        return (folder / 'cmdline').read_text() + (folder / 'environ').read_text()

    def end(self, number: int = signal.SIGTERM) -> int:
        self.process.send_signal(number)
        _, rest = self.process.communicate(timeout=PATIENCE)
        self.said += rest
        return self.process.returncode


@pytest.fixture()
def start():
    """Starts servers that end with the test, also where it fails."""
    with contextlib.ExitStack() as stack:

        def start(session: Path) -> Server:
            server = Server(session)
            stack.callback(server.process.kill)
            return server

        yield start


def run(capsys, *words: str) -> str:
    assert main(['session', *words]) == 0
    return capsys.readouterr().out


def refusal(capsys, *words: str) -> str:
    assert main(['session', *words]) == 2
    return capsys.readouterr().err


def test_a_session_from_the_drawing_to_the_opening(start, tmp_path, capsys):
    session = str(tmp_path / 'session')
    with two_servers() as (_, servers):
        file = tmp_path / 'policies.yaml'
        file.write_text(
            ''.join(
                f'{name}: {{url: "{server.url}", deadline: {PATIENCE}, wait: {PATIENCE}}}\n'
                for name, server in servers.items()
            )
        )
        drawn = run(
            capsys, 'new', session, '--policies', str(file), '--cells', 'cube', '--episodes', '1',
            '--instruction', 'cube=take it',
        )  # fmt: skip
        folder = SessionFolder(session)
        assert folder.plan.commitment in drawn and '2 trials of 2 policies on cube' in drawn
        seen = drawn.replace(str(file), '')
        server = start(folder.path)
        policy = client_of(server)
        policy.infer(observation(1, instruction='take it'))
        assert not names_in(server.words, servers)
        assert 'is served already' in refusal(capsys, 'serve', session, '--port', '0')
        # The power goes in the middle of a trial.
        assert server.end(signal.SIGKILL) == -signal.SIGKILL
        policy.close()
        seen += server.said + run(capsys, 'status', session)
        trial = json.loads(run(capsys, 'status', session, '--json'))['running']

        server = start(folder.path)
        policy = client_of(server)
        with pytest.raises(PolicyError, match=f'trial {trial} is not closed yet'):
            policy.infer(observation(1, instruction='take it'))
        assert 'needs --why' in refusal(capsys, 'mark', session, 'invalid')
        seen += run(capsys, 'mark', session, 'invalid', '--why', 'the power went')
        assert f'{trial} corrects it' in refusal(capsys, 'mark', session, 'success')
        for outcome in ('success', 'failure'):
            assert 'not run' in refusal(capsys, 'open', session)
            policy.reset()
            policy.infer(observation(2, instruction='take it'))
            seen += run(capsys, 'mark', session, outcome)
        last = policy.name
        seen += run(capsys, 'mark', session, 'success', '--trial', last, '--why', 'I had slipped')
        seen += run(capsys, 'status', session)
        policy.close()
        assert server.end() == 0
        seen += server.said
    assert '2 of 2 trials count (1 invalid, 2 success)' in seen and 'all are done' in seen
    digest = hashlib.sha256(folder.journal.path.read_bytes()).hexdigest()
    assert f'SHA-256 of the journal: {digest}\n' in run(capsys, 'status', session)
    assert json.loads(run(capsys, 'status', session, '--json'))['journal_sha256'] == digest
    assert not names_in(seen, servers) and not names_in(public_text(folder), servers)

    opened = run(capsys, 'open', session)
    assert all(re.search(rf'{name} +1 +1\b', opened) for name in NAMES)
    table = (folder.path / 'outcomes.csv').read_text()
    assert trial not in table and last in table and len(table.splitlines()) == 3
    assert 'would no longer be blind' in refusal(
        capsys, 'mark', session, 'failure', '--trial', last
    )
    assert 'no trial is blind any more' in refusal(capsys, 'serve', session, '--port', '0')
    assert main(['sequential', str(folder.path / 'outcomes.csv'), '--most', '20']) == 14


def test_an_early_opening_says_so_and_json_has_the_labels(tmp_path, capsys):
    folder = unserved_session(tmp_path / 's', ('cube',), episodes=1)
    assert 'no trial counts' in refusal(capsys, 'open', str(folder.path), '--early')
    ids = play(folder)
    output = str(tmp_path / 'o.csv')
    opened = json.loads(run(capsys, 'open', str(folder.path), '--json', '--output', output))
    assert set(opened['labels']) == set(ids) and opened['early'] is False
    assert opened['policies'] == {
        name: {'successes': 1, 'trials': 1, 'invalid': 0} for name in NAMES
    }


def test_a_report_shows_the_policies_of_an_open_session_and_not_before(tmp_path, capsys):
    folder = unserved_session(tmp_path / 's', ('cube',), episodes=1)
    first, *others = play(folder, {NAMES[0]: ['invalid'], NAMES[1]: ['invalid']})
    labels = key_of(folder)
    runs = tmp_path / 'runs'
    for place, policy in enumerate((first, others[0], 'remote')):
        outcome_bag(runs / f'episode_{place}', policy=policy, start=T0 + 100 * place * SECOND)
    page = tmp_path / 'page.html'
    words = ['report', str(runs), '--session', str(folder.path), '-q', '--json', '-o', str(page)]
    assert main(words) == 2 and not page.exists()
    assert f'the labels of {folder.path} are closed' in capsys.readouterr().err
    run(capsys, 'open', str(folder.path))
    assert main(words) == 0
    said = capsys.readouterr()
    assert f'2 of 3 episodes are of trials of the session {folder.path}' in said.err
    found = [each['attributes'] for each in json.loads(said.out)['episodes']]
    assert [each['policy'] for each in found][0] == labels[first]
    assert [each.get('trial') for each in found] == [first, others[0], None]
    assert found[0]['mark'] == 'invalid' and found[2]['policy'] == 'remote'
    assert {each['policy'] for each in found[:2]} <= set(NAMES)
    assert labels[first] in page.read_text()


def test_a_report_of_bags_that_are_of_no_trial_of_the_session_is_refused(tmp_path, capsys):
    folder = unserved_session(tmp_path / 's', ('cube',), episodes=1)
    play(folder)
    run(capsys, 'open', str(folder.path))
    runs, page = outcome_bag(tmp_path / 'runs' / 'one', policy='remote'), tmp_path / 'page.html'
    assert main(['report', str(runs), '--session', str(folder.path), '-o', str(page)]) == 2
    text = f'of 1 episode none is of a trial of the session {folder.path}'
    assert text in capsys.readouterr().err and not page.exists()


@pytest.mark.parametrize(
    ('words', 'text'),
    [
        (['new', 'x'], 'new needs --policies'),
        (['status', 'x'], 'is no session'),
        (['status', 'x', 'more'], 'takes nothing but SESSION'),
        (['status', 'x', '--early'], '--early is an option of open, not of status'),
        (['mark', '{session}', 'well'], 'mark needs one of success, failure'),
        (['mark', '{session}', 'success'], 'no trial has begun'),
        (['mark', '{session}', 'success', '--trial', 'X'], "--trial is 'X'"),
        (['open', '{session}', '--output', '{session}/session.json'], 'is a file that is read'),
    ],
)
def test_what_cannot_be_is_refused(words, text, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    folder = unserved_session(tmp_path / 's', ('cube',), episodes=1)
    assert text in refusal(capsys, *(word.format(session=folder.path) for word in words))


@pytest.mark.parametrize(
    ('content', 'text'),
    [
        ('a: 1', 'a is 1; expected: options'),
        ('{a: {url: x}, b: {url: y}}', "the url is 'x'"),
        ('{a: {url: "ws://h:1"}}', 'compares two or more'),
        ('{a: {url: "ws://h:1", wheels: 4}, b: {url: "ws://h:1"}}', 'wheels'),
        ('[a]', 'must be a YAML mapping'),
    ],
)
def test_files_of_policies_that_cannot_be(content, text, tmp_path, capsys):
    file = tmp_path / 'policies.yaml'
    file.write_text(content)
    new = ('new', str(tmp_path / 's'), '--cells', 'cube', '--policies', str(file))
    assert text in refusal(capsys, *new)
    assert not (tmp_path / 's').exists()


def test_joints_of_the_robot_are_filled_in_for_openpis_servers(tmp_path, capsys):
    file = tmp_path / 'policies.yaml'
    file.write_text('{a: {url: "ws://h:1", preset: droid}, b: {url: "ws://h:2", preset: droid}}')
    run(capsys, 'new', str(tmp_path / 's'), '--cells', 'cube', '--policies', str(file),
        '--robot', 'fr3')  # fmt: skip
    key = SessionFolder(tmp_path / 's').key()
    assert len(key.policies['a']['robot_joint_names']) >= 8 and key.policies['a']['gripper_limits']
