# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Two policy servers behind a session server: what the robot's client, the operator and a reader of
its files can see of who acts.
"""

from __future__ import annotations

import contextlib
import dataclasses
import errno
import json
import logging
import os
import re
import socket
import time

import numpy as np
import pytest
from patience import PATIENCE

pytest.importorskip('msgpack')
pytest.importorskip('websockets')

from blinded_servers import (
    LEVELS,
    NAMES,
    blinding,
    client_of,
    events_of,
    key_of,
    last_trial,
    make_session,
    names_in,
    public_text,
    refused,
    two_servers,
    unserved_session,
    wait_until,
)
from remote_servers import observation, serving

from frame_ros.cli import main
from frame_ros.core.errors import PolicyError, PolicyFailedError, SetupError
from frame_ros.evaluation.sessions.blinded_policy import BlindedPolicy, connected
from frame_ros.evaluation.sessions.journal import (
    BEGUN,
    DUE,
    ENDED,
    INVALID,
    RECONNECTED,
    REFUSED,
    trials_of,
)
from frame_ros.evaluation.sessions.opening import open_session
from frame_ros.evaluation.sessions.running import AGAIN, SessionRun, mark
from frame_ros.policies.remote import decode, encode
from frame_ros.policies.remote.messages import Request, observation_to_message


@pytest.fixture()
def servers():
    with two_servers() as (policies, found):
        yield policies, found


def act(policy, folder, outcome='success', steps=2, seed=None, why='seen'):
    """One episode as the policy node runs it; returns its trial and the level of its actions."""
    policy.reset(seed)
    levels = {float(policy.infer(observation(i)).actions[0, 0]) for i in range(steps)}
    assert len(levels) == 1
    trial = last_trial(folder)
    if outcome:
        mark(folder, trial, outcome, why, 'operator')
    return trial, levels.pop()


def test_each_episode_is_of_the_policy_of_its_trial(servers, tmp_path):
    folder = make_session(tmp_path / 's', servers[1], episodes=2)
    with blinding(folder) as (server, _):
        policy = client_of(server)
        assert (policy.name, policy.checkpoint) == ('blinded', server.url)
        assert policy.cameras == ('front', 'wrist') and policy.n_action_steps == 2
        done = []
        for seed in range(8):
            done.append(act(policy, folder, seed=seed))
            assert policy.name == done[-1][0]  # which the bag has as the policy
        with pytest.raises(PolicyError, match='no trial left'):
            act(policy, folder)
        policy.close()
    expected = [(id, LEVELS[name]) for id, name in key_of(folder).items()]
    assert done == expected
    seeds = {name: [s for s in p.seeds if s is not None] for name, p in servers[0].items()}
    assert all(seeds[n] == [i for i, (_, x) in enumerate(done) if x == LEVELS[n]] for n in NAMES)
    assert len(events_of(folder, ENDED)) == 8


def test_no_byte_for_the_client_and_no_line_for_the_operator_names_a_policy(
    servers, tmp_path, caplog
):
    from websockets.sync.client import connect

    caplog.set_level(logging.DEBUG)
    folder = make_session(tmp_path / 's', servers[1], episodes=1)
    levels, received = [], b''
    with blinding(folder) as (server, said):
        caplog.clear()  # the policies' own servers, which are elsewhere, name what they serve
        with connect(server.url, compression=None, max_size=None) as raw:
            received += raw.recv()
            for number in range(4):
                name = str(number)
                request = Request(id=number, reset=True, episode=name, start=name)
                raw.send(bytes(encode(observation_to_message(observation(1), request))))
                answer = raw.recv(timeout=PATIENCE)
                received += answer
                levels.append(decode(answer)['actions'][0, 0])
                mark(folder, last_trial(folder), 'failure', 'seen', 'operator')
            for each in servers[0].values():
                each.error = refused(each)
        log = '\n'.join(r.getMessage() for r in caplog.records if r.name.startswith('frame_ros'))
    assert sorted(set(levels)) == sorted(LEVELS.values())
    assert len(received) > 1000 and not names_in(received, servers[1])
    # The policies' servers run in this process, and say who connects.
    of_session = [
        line for line in log.splitlines() if f'{server.port}' in line or 'blinded' in line
    ]
    assert not names_in('\n'.join(of_session))
    assert not names_in('\n'.join(said)) and not names_in(public_text(folder), servers[1])


def test_what_goes_on_is_what_acts_and_no_latency_memory_or_text(servers, tmp_path):
    folder = make_session(tmp_path / 's', servers[1], episodes=1)
    with blinding(folder) as (server, _):
        policy = client_of(server)
        policy.reset()
        found = policy.infer(observation(1))
        policy.close()
    assert np.isnan([found.forward, found.preprocess, found.postprocess, found.memory_device]).all()
    assert found.feature_source == f'trial {last_trial(folder)}' and len(found.features) == 4
    assert set(found.unavailable) == {'tokens'} and not names_in(found.unavailable['tokens'])
    known = {each.name for each in dataclasses.fields(found)}
    assert not any(names_in(str(getattr(found, name))) for name in known)


def test_inferences_take_a_stated_time_at_least(servers, tmp_path):
    folder = make_session(tmp_path / 's', servers[1], episodes=1)
    with blinding(folder, latency=0.3) as (server, _):
        policy = client_of(server)
        begun = time.monotonic()
        act(policy, folder, steps=2)
        assert time.monotonic() - begun >= 0.6
        policy.close()


def test_a_trial_that_is_not_marked_holds_the_next_one_up(servers, tmp_path):
    folder = make_session(tmp_path / 's', servers[1], episodes=1)
    with blinding(folder) as (server, said):
        policy = client_of(server)
        first, _ = act(policy, folder, outcome='')
        policy.reset()
        for _ in range(2):
            with pytest.raises(PolicyError, match=f'trial {first} is not closed yet'):
                policy.infer(observation(3))
        mark(folder, first, 'failure', 'it fell', 'operator')
        # The arm does not move because of a mark: only in another episode.
        with pytest.raises(PolicyError, match='then start another episode'):
            policy.infer(observation(4))
        assert len(events_of(folder, BEGUN)) == 1
        policy.reset()
        policy.infer(observation(4))
        second = last_trial(folder)
        assert second != first and len(events_of(folder, BEGUN)) == 2
        mark(folder, second, 'success', '', 'operator')
        wait_until(lambda: len(said) >= 2 and second not in said[-1])
        policy.close()
    assert said[0].startswith(f'next: trial {first}, cell ')
    assert [event['trial'] for event in events_of(folder, DUE)][-1] in said[-1]


def test_a_cell_with_an_instruction_takes_no_other(servers, tmp_path):
    instructions = {'cube': 'take the cube'}
    folder = make_session(
        tmp_path / 's', servers[1], ('cube',), episodes=1, instructions=instructions
    )
    with blinding(folder) as (server, said):
        policy = client_of(server)
        policy.reset()
        with pytest.raises(PolicyError, match="'take the cube'.*'take the cup'"):
            policy.infer(observation(1, instruction='take the cup'))
        assert not events_of(folder, BEGUN)
        policy.infer(observation(1, instruction='take the cube'))
        assert len(events_of(folder, BEGUN)) == 1 and "'take the cube'" in said[0]
        policy.close()


def test_what_is_wrong_on_the_way_to_a_policy_makes_its_trial_invalid(servers, tmp_path, caplog):
    folder = make_session(tmp_path / 's', servers[1], ('cube',), episodes=1)
    with blinding(folder) as (server, _):
        policy = client_of(server)
        for each in servers[0].values():
            each.error = refused(each)
        policy.reset()
        with pytest.raises(PolicyError) as caught:
            policy.infer(observation(1))
        assert not names_in(str(caught.value), servers[1]) and 'is invalid' in str(caught.value)
        trial = trials_of(folder.journal.events())[last_trial(folder)]
        assert trial.outcome == INVALID and trial.marks[0].by == 'server'
        for each in servers[0].values():
            each.error = None
        with pytest.raises(PolicyError, match='is invalid'):  # until the next episode
            policy.infer(observation(2))
        done = [act(policy, folder) for _ in range(2)]
        with pytest.raises(PolicyError, match='no trial left'):
            act(policy, folder)
        policy.close()
    assert {level for _, level in done} == set(LEVELS.values())
    assert trial.id not in [id for id, _ in done] and not names_in(public_text(folder), servers[1])
    private = (folder.path / 'private' / 'servers.log').read_text()
    assert 'lacks a camera' in private and names_in(private)


def test_a_policy_that_breaks_down_by_itself_goes_on_and_is_not_excused(servers, tmp_path):
    folder = make_session(tmp_path / 's', servers[1], ('cube',), episodes=1)
    with blinding(folder) as (server, _):
        policy = client_of(server)
        for each in servers[0].values():
            each.error = ValueError(f'a bug of {each.name}')
        policy.reset()
        for _ in range(2):
            with pytest.raises(PolicyFailedError) as caught:
                policy.infer(observation(1))
            assert not names_in(str(caught.value), servers[1])
        assert trials_of(folder.journal.events())[last_trial(folder)].outcome == ''
        for each in servers[0].values():
            each.error = None
        policy.infer(observation(2))
        policy.close()
    assert 'a bug of' in (folder.path / 'private' / 'servers.log').read_text()


def test_a_dead_server_ends_its_trial_and_then_no_other_begins(servers, tmp_path, caplog):
    caplog.set_level(logging.DEBUG)
    folder = make_session(tmp_path / 's', servers[1], ('cube',), episodes=2)
    with blinding(folder) as (server, _):
        policy = client_of(server)
        trial, _ = act(policy, folder, outcome='')
        dead = servers[1][key_of(folder)[trial]]
        caplog.clear()
        dead.stop()
        end = time.monotonic() + PATIENCE
        with pytest.raises(PolicyError) as caught:
            while time.monotonic() < end:
                policy.infer(observation(1))
        assert not names_in(str(caught.value), servers[1])
        assert trials_of(folder.journal.events())[trial].outcome == INVALID
        begun = len(events_of(folder, BEGUN))
        for _ in range(3):
            policy.reset()
            with pytest.raises(PolicyError, match='no trial begins') as caught:
                policy.infer(observation(1))
            assert not names_in(str(caught.value), servers[1])
        assert len(events_of(folder, BEGUN)) == begun
        policy.close()
    logged = [r.getMessage() for r in caplog.records if 'link' in r.name]
    assert not [text for text in logged if str(dead.port) in text]
    assert not names_in(public_text(folder), servers[1])


def is_free(port):
    try:
        socket.create_server(('127.0.0.1', port)).close()
    except OSError:
        return False
    return True


@contextlib.contextmanager
def started_again(policies, servers, name, blinded):
    """Stops the server of a policy, and yields when another one is connected to."""
    servers[name].stop()
    wait_until(lambda: is_free(servers[name].port))
    with serving(policies[name], port=servers[name].port):
        wait_until(lambda: blinded._service.policy._policies[name].connections >= 2)
        yield


@pytest.mark.parametrize('choice', ['look', INVALID])
def test_a_server_that_was_started_again_within_a_trial_is_noted(servers, tmp_path, capsys, choice):
    folder = make_session(tmp_path / 's', servers[1], ('cube',), episodes=1)
    with blinding(folder, reconnected=choice) as (server, said):
        policy = client_of(server)
        trial, level = act(policy, folder, outcome='')
        with started_again(*servers, key_of(folder)[trial], server):
            if choice == INVALID:
                with pytest.raises(PolicyError, match=f'{trial} is invalid.*{AGAIN}') as caught:
                    policy.infer(observation(3))
                assert not names_in(str(caught.value), servers[1])
            else:
                found = [policy.infer(observation(number)) for number in (3, 4)]
                assert {each.actions[0, 0] for each in found} == {level}
                mark(folder, trial, 'success', 'seen', 'operator')
                act(policy, folder)  # of the other policy, whose server was always there
        policy.close()
    assert [event['trial'] for event in events_of(folder, RECONNECTED)] == [trial]
    assert [text for text in said if AGAIN in text and trial in text]
    assert main(['session', 'status', str(folder.path)]) == 0
    assert re.search(f'{trial}.*{AGAIN}', capsys.readouterr().out)
    assert not names_in(public_text(folder), servers[1]) and not names_in(''.join(said))
    assert trials_of(folder.journal.events())[trial].outcome == (
        'success' if choice == 'look' else INVALID
    )
    if choice == 'look':
        words = ['mark', str(folder.path), 'success', '--trial', trial, '--why', 'looked']
        assert main(['session', *words]) == 0
        said_then = f'{trial}: {AGAIN}; mark --trial {trial} corrects the mark'
        assert said_then in capsys.readouterr().out
        outcomes = {each.name: each for each in open_session(folder).outcomes}
        assert [name for name, each in outcomes.items() if AGAIN in each.notes] == [trial]


def test_a_log_that_cannot_be_written_is_refused_before_anything_is_served(tmp_path, capsys):
    folder = unserved_session(tmp_path / 's', episodes=1)
    (folder.path / 'private' / 'servers.log').mkdir()
    assert main(['session', 'serve', str(folder.path), '--port', '0']) == 2
    assert 'servers.log cannot be written: Is a directory' in capsys.readouterr().err
    assert not events_of(folder, 'served')


def test_a_log_on_a_full_disk_is_refused_before_anything_is_served(tmp_path, monkeypatch):
    folder = unserved_session(tmp_path / 's', episodes=1)

    def write(file, line):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr('frame_ros.evaluation.sessions.folder.append_line', write)
    with pytest.raises(SetupError, match=r'servers\.log cannot be written: No space left'):
        SessionRun(folder, print)


def test_a_trial_is_invalid_also_where_its_problem_cannot_be_logged(servers, tmp_path):
    folder = make_session(tmp_path / 's', servers[1], ('cube',), episodes=1)
    with blinding(folder) as (server, _):
        policy = client_of(server)
        trial, _ = act(policy, folder, outcome='')
        log = folder.path / 'private' / 'servers.log'
        log.unlink()
        log.mkdir()
        for each in servers[0].values():
            each.error = refused(each)
        with pytest.raises(PolicyError, match=r'servers\.log cannot be written'):
            policy.infer(observation(3))
        assert trials_of(folder.journal.events())[trial].outcome == INVALID
        policy.close()


def test_a_server_that_is_missing_at_the_start_is_named_in_private_only(servers, tmp_path):
    folder = make_session(tmp_path / 's', servers[1], episodes=1)
    servers[1][NAMES[1]].stop()
    key = json.loads((folder.path / 'private' / 'key.json').read_text())
    run = SessionRun(folder, lambda text: None)
    run._key.policies[NAMES[1]]['wait'] = 0.5
    with pytest.raises(SetupError, match='1 of 2 policy servers cannot be used') as caught:
        connected(run)
    assert not names_in(str(caught.value)) and key['policies'].keys() == set(NAMES)
    assert NAMES[1] in (folder.path / 'private' / 'servers.log').read_text()


def test_servers_that_changed_places_between_two_runs_are_refused(servers, tmp_path):
    folder = make_session(tmp_path / 's', servers[1], ('cube',), episodes=1)
    for _ in range(2):
        with blinding(folder):
            pass
    run = SessionRun(folder, lambda text: None)
    for name, other in zip(NAMES, reversed(NAMES)):
        run._key.policies[name]['url'] = servers[1][other].url
    with pytest.raises(SetupError, match='2 of 2 policy servers cannot be used') as caught:
        connected(run)
    assert not names_in(str(caught.value)) and not names_in(public_text(folder), servers[1])
    assert 'earlier in this session it said' in (folder.path / 'private/servers.log').read_text()


@pytest.mark.parametrize(
    ('name', 'value', 'text'),
    [('n_action_steps', 4, '--action-steps'), ('history_period', 0.5, 'different periods')],
)
def test_policies_that_cannot_be_blinded_together_are_refused(tmp_path, name, value, text):
    with two_servers(**{name: value}) as (_, servers):
        folder = make_session(tmp_path / 's', servers, ('cube',), episodes=1)
        with pytest.raises(SetupError, match=text) as caught, blinding(folder):
            pass
        assert not names_in(str(caught.value))


def test_one_number_of_steps_can_be_given_for_all(tmp_path):
    with two_servers(n_action_steps=4) as (_, servers):
        folder = make_session(tmp_path / 's', servers, ('cube',), episodes=1)
        with blinding(folder, action_steps=3) as (server, _):
            policy = client_of(server)
            assert policy.n_action_steps == 3
            policy.close()


def test_a_connection_that_is_made_again_goes_on_with_its_trial(servers, tmp_path):
    folder = make_session(tmp_path / 's', servers[1], ('cube',), episodes=1)
    with blinding(folder) as (server, _):
        policy = client_of(server)
        first, level = act(policy, folder, outcome='')
        policy._link.drop('the cable')
        policy.wait(PATIENCE)
        assert policy.infer(observation(5)).actions[0, 0] == level
        assert len(events_of(folder, BEGUN)) == 1
        policy.close()
        other = client_of(server)  # a node that was started again
        with pytest.raises(PolicyError, match=f'trial {first} is not closed yet'):
            other.infer(observation(6))
        other.close()


def test_an_episode_that_outlives_its_trial_or_its_server_begins_no_other(servers, tmp_path):
    folder = make_session(tmp_path / 's', servers[1], ('cube',), episodes=2)
    with blinding(folder) as (server, _):
        policy = client_of(server)
        first, _ = act(policy, folder)
        episode = policy._episode
        policy.close()
        other = client_of(server)
        act(other, folder)
        other._episode, later = episode, other._episode  # the first client is there again
        with pytest.raises(PolicyError, match='another episode has begun since'):
            other.infer(observation(3))
        other._episode = later
        other.infer(observation(4))
        other.close()
    with blinding(folder) as (server, _):  # which has forgotten the episodes
        policy = client_of(server)
        for each in (episode, later):
            policy._episode = each
            for _ in range(2):
                with pytest.raises(PolicyError, match='was of this episode: start another'):
                    policy.infer(observation(5))
        assert len(events_of(folder, BEGUN)) == 2 and f'"{episode}"' not in public_text(folder)
        policy.close()
    assert first in trials_of(folder.journal.events())


def test_a_client_that_does_not_name_its_episodes_begins_no_trial(servers, tmp_path):
    folder = make_session(tmp_path / 's', servers[1], ('cube',), episodes=1)
    with blinding(folder) as (server, _):
        policy = client_of(server)
        policy._episode = ''  # as of older versions
        with pytest.raises(PolicyError, match='does not name its episodes'):
            policy.infer(observation(1))
        assert not events_of(folder, BEGUN)
        policy.close()


def test_a_client_that_names_its_episodes_but_no_start_begins_no_trial(servers, tmp_path):
    from websockets.sync.client import connect

    folder = make_session(tmp_path / 's', servers[1], ('cube',), episodes=1)
    message = observation_to_message(observation(1), Request(id=1, reset=True, episode='e'))
    with blinding(folder) as (server, _):
        with connect(server.url, compression=None, max_size=None) as raw:
            raw.recv(timeout=PATIENCE)
            raw.send(bytes(encode(message)))
            assert 'does not name its episodes and their START' in raw.recv(timeout=PATIENCE)
        assert not events_of(folder, BEGUN)


def test_a_start_has_one_trial_however_it_is_marked_or_taken_over(servers, tmp_path):
    folder = make_session(tmp_path / 's', servers[1], ('cube',), episodes=2)
    with blinding(folder) as (server, _):
        policy = client_of(server)

        def infer(start):
            policy.reset()  # as the node does at a START, and where a takeover ends
            policy.infer(observation(1, start=start))

        infer('first')
        trial = last_trial(folder)
        mark(folder, trial, 'success', '', 'operator')  # before its END
        for _ in range(2):
            with pytest.raises(PolicyError, match=f'{trial} was of this episode: start another'):
                infer('first')
        infer('second')
        trial = last_trial(folder)
        with pytest.raises(PolicyError, match=f'trial {trial} is not closed yet'):
            infer('third')
        mark(folder, trial, INVALID, 'it fell', 'operator')
        for name, why in (('second', 'was of'), ('third', 'was not closed at the start of')):
            with pytest.raises(PolicyError, match=f'{trial} {why} this episode: start another'):
                infer(name)
        assert len(events_of(folder, BEGUN)) == 2 and len(events_of(folder, REFUSED)) == 1
        policy.close()
    with blinding(folder) as (server, _):  # which has forgotten the episodes
        policy = client_of(server)
        with pytest.raises(PolicyError, match='was not closed at the start'):
            infer('third')
        infer('fourth')
        assert len(events_of(folder, BEGUN)) == 3
        policy.close()


def test_what_is_seen_before_a_trial_can_begin_is_not_kept(servers, tmp_path):
    folder = make_session(
        tmp_path / 's', servers[1], ('cube',), episodes=1, instructions={'cube': 'take it'}
    )
    run = SessionRun(folder, lambda text: None)
    policy = BlindedPolicy(servers[0], run)
    for number in range(3):
        policy.observe(observation(number))
        with pytest.raises(PolicyError, match='take it'):
            policy.infer(observation(number))
    policy.observe(observation(4))
    acting = servers[0][next(iter(key_of(folder).values()))]
    seen = observation(5, instruction='take it')
    images = {camera: seen.images[camera] for camera in acting.cameras}
    policy.infer(dataclasses.replace(seen, images=images))
    assert [each.stamp for each in acting.seen] == [observation(4).stamp]


def test_observations_between_inferences_reach_the_policy_of_the_trial(servers, tmp_path):
    folder = make_session(tmp_path / 's', servers[1], ('cube',), episodes=1)
    with blinding(folder) as (server, _):
        policy = client_of(server)
        assert policy.needs_history and policy.history_steps == 2
        policy.reset()
        policy.observe(observation(1))
        policy.infer(observation(2))
        policy.observe(observation(3))
        policy.infer(observation(4))
        acting = servers[0][key_of(folder)[last_trial(folder)]]
        policy.close()
    assert [each.stamp for each in acting.seen] == [observation(i).stamp for i in (1, 3)]
