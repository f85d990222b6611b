# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The policy node in a blinded session: episodes are trials, and nothing it publishes names a
policy.
"""

import pytest

rclpy = pytest.importorskip('rclpy')
pytest.importorskip('msgpack')
pytest.importorskip('websockets')

from blinded_servers import (  # noqa: E402
    LEVELS,
    blinding,
    key_of,
    make_session,
    names_in,
    two_servers,
)
from input_watch import InputWatch  # noqa: E402
from patience import PATIENCE  # noqa: E402
from policy_runner import Runner  # noqa: E402

from frame_ros.evaluation.sessions.journal import INVALID, trials_of  # noqa: E402
from frame_ros.evaluation.sessions.running import mark  # noqa: E402
from frame_ros.msg import EpisodeEvent  # noqa: E402


def start(runner, server):
    """Starts a policy node of the session, and waits until it has all of its inputs: without one,
    or with an old one as on a busy machine, an inference fails, and is noted.
    """
    options = [f'url={server.url}', f'deadline={PATIENCE}', f'wait={PATIENCE}']
    node = runner.start(policy='remote', policy_options=options, max_observation_age=PATIENCE)
    watch = InputWatch(runner.robot)
    watch.wait_until_received('joint_states', 'front/image_raw', 'wrist/image_raw')
    watch.destroy()
    return node


@pytest.fixture()
def runner(ros_context, capfd):
    runner = Runner(capfd)
    yield runner
    runner.close()


def test_episodes_are_trials_and_nothing_that_is_published_names_a_policy(runner, tmp_path):
    with two_servers() as (policies, servers):
        folder = make_session(tmp_path / 's', servers, ('cube',), episodes=2)
        with blinding(folder) as (server, _):
            start(runner, server)
            robot, key = runner.robot, key_of(folder)
            for number, trial in enumerate(key):
                name = f'e{number}'
                robot.send(EpisodeEvent.START, name)
                runner.wait(
                    lambda name=name: sum(m.episode_id == name for m in robot.inferences) >= 3
                )
                robot.send(EpisodeEvent.END, name)
                found = [m for m in robot.inferences if m.episode_id == name]
                assert {m.policy for m in found} == {trial}
                assert {m.actions[0] for m in found} == {LEVELS[key[trial]]}
                mark(folder, trial, 'success', '', 'operator')
            # The log of the process holds that of the policies' own servers, which run here.
            published = ''.join(map(str, [*robot.inferences, *robot.events]))
            assert robot.notes() == [] and not names_in(published, servers)


def test_a_takeover_after_the_mark_begins_no_trial_until_the_next_start(runner, tmp_path):
    with two_servers() as (_, servers):
        folder = make_session(tmp_path / 's', servers, ('cube',), episodes=2)
        with blinding(folder) as (server, _):
            start(runner, server)
            robot = runner.robot
            robot.send(EpisodeEvent.START, 'e1')
            runner.wait(lambda: robot.inferences)
            (trial,) = trials_of(folder.journal.events())
            mark(folder, trial, 'success', '', 'operator')
            robot.send(EpisodeEvent.INTERVENTION_START, 'e1', delay=0.0)
            runner.wait_for_log('the teleoperator has taken over')
            robot.send(EpisodeEvent.INTERVENTION_END, 'e1', delay=0.0)
            text = f'trial {trial} was of this episode'
            runner.wait(lambda: any(text in note.text for note in robot.notes()))
            assert len(trials_of(folder.journal.events())) == 1
            robot.send(EpisodeEvent.START, 'e2')
            runner.wait(lambda: robot.inferences[-1].episode_id == 'e2')
            assert len(trials_of(folder.journal.events())) == 2


def test_an_arm_whose_policy_has_gone_gets_no_trial_by_trying_again(runner, tmp_path):
    with two_servers() as (policies, servers):
        folder = make_session(tmp_path / 's', servers, ('cube',), episodes=2)
        with blinding(folder) as (server, _):
            node = start(runner, server)
            for each in policies.values():
                each.error = OSError(f'no card for {each.name}')
            runner.robot.send(EpisodeEvent.START, 'e1')
            runner.wait(lambda: trials_of(folder.journal.events()))
            before = node.counters.get('errors', 0)
            runner.wait(lambda: node.counters.get('errors', 0) >= before + 5)
            trials = trials_of(folder.journal.events())
            assert [each.outcome for each in trials.values()] == [INVALID]
            runner.wait(lambda: len(runner.robot.notes()) > 0)
            notes = ''.join(note.text for note in runner.robot.notes())
            assert 'is invalid' in notes and not names_in(notes, servers)
