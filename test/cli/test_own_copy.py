# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""A recording against its copy has no error, whatever its streams, their rates and offsets."""

import json
import math

import numpy as np
import pytest
from bag_making import T0, episode_messages, message, stamp, write_bag
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from frame_ros.cli import main
from frame_ros.core.time import SECOND
from frame_ros.episodes import load_references, read_episodes
from frame_ros.episodes.episode_errors import episode_errors
from frame_ros.reports import ReportOptions
from frame_ros.reports.model.metric_table import metric_rows
from frame_ros.robots import load_robot

NAMES = load_robot('so101').joint_names
NONE = 1e-12


def joint_state(at, values):
    return message(
        'sensor_msgs/msg/JointState', header__stamp=stamp(at), name=list(NAMES),
        position=np.asarray(values, float),
    )  # fmt: skip


def pose_at(at, seconds):
    angle = 0.3 * math.sin(2 * seconds)
    return message(
        'geometry_msgs/msg/PoseStamped', header__stamp=stamp(at),
        pose__position__x=0.2 * math.sin(1.7 * seconds), pose__position__y=0.1 * seconds,
        pose__orientation__w=math.cos(angle), pose__orientation__z=math.sin(angle),
    )  # fmt: skip


def recording(streams, rates, offsets, duration=2.0):
    """Messages without events: of each stream from its offset (s) on, at its rate (Hz)."""
    sent = []
    for stream, rate, offset in zip(streams, rates, offsets):
        for seconds in np.arange(offset, duration, 1 / rate):
            at = T0 + int(seconds * SECOND)
            joints = [0.3 * math.sin(seconds + i) for i in range(len(NAMES))]
            content = pose_at(at, seconds) if stream == '/ee_pose' else joint_state(at, joints)
            sent.append((stream, at + 1000, content))
    return sorted(sent, key=lambda each: each[1])


STREAMS = (
    ('/ee_pose',),
    ('/ee_pose', '/joint_commands'),
    ('/joint_states', '/joint_commands'),
    ('/joint_states',),
    ('/ee_pose', '/joint_commands', '/joint_states'),
)


@settings(max_examples=20, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    st.sampled_from(STREAMS),
    st.lists(st.sampled_from((3.0, 10.0, 30.0, 50.0)), min_size=3, max_size=3),
    st.lists(st.sampled_from((0.0, 0.013, 0.21, 0.7)), min_size=3, max_size=3),
    st.sampled_from(('paper', 'evo')),
)
def test_no_error_against_the_own_copy(tmp_path_factory, streams, rates, offsets, rte):
    folder = tmp_path_factory.mktemp('copies')
    sent = recording(streams, rates, offsets)
    original, copy = (write_bag(folder / name, sent) for name in ('original', 'copy'))
    references = load_references([original], with_unknown=True, robot='so101')
    (episode,) = read_episodes(copy, references=references, robot='so101')
    found = episode_errors(episode, ReportOptions(rte=rte))
    assert found.reason == '' and found.ate < NONE and found.dtw < NONE
    assert found.rte < NONE or (math.isnan(found.rte) and min(rates) < 10)
    ate, rte = ({r.id: r for r in metric_rows([episode], [found])}[id] for id in ('ate', 'rte'))
    if episode.summary['steps'] and min(rates) >= 10:
        assert ate.values[0] is not None
    assert ate.values[0] is None or ate.values[0] < NONE
    assert rte.values[0] is None or rte.values[0] < NONE


def test_the_command_takes_a_reference_without_an_outcome(tmp_path, capsys):
    sent = recording(('/ee_pose', '/joint_commands'), (50.0, 20.0), (0.0, 0.5))
    original, copy = (str(write_bag(tmp_path / name, sent)) for name in ('original', 'copy'))
    assert main(['report', copy, '--reference', original, '--json', '-q']) == 0
    data = json.loads(capsys.readouterr().out)
    for name in ('ate', 'rte', 'dtw'):
        assert data['episodes'][0]['metrics'][name]['value'] == pytest.approx(0.0, abs=NONE)
    assert main(['report', copy, '--reference', original, '--rte', 'evo', '--json', '-q']) == 0
    data = json.loads(capsys.readouterr().out)
    assert 'evo_rpe' in data['references']['sentence']


def test_an_episode_that_failed_is_still_no_reference(tmp_path, capsys):
    sent = episode_messages(20)
    sent[-1][2].outcome = 2
    bag = str(write_bag(tmp_path / 'failed', sent))
    assert main(['report', bag, '--reference', bag]) == 2
    assert 'ended in success' in capsys.readouterr().err
