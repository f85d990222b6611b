# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""`frame-ros sense`: contacts of recordings of other tools, whose pushes are known."""

from __future__ import annotations

import hashlib
import json
import resource
import shlex
from pathlib import Path

import pytest
from bag_making import T0, message, stamp, write_bag
from rosbags.rosbag2 import Reader, StoragePlugin
from sensed_bags import JOINT_STATES, PUSH, REST, SECONDS, TOOL, WRENCH, foreign_bag

from frame_ros.bags.reader import Bag
from frame_ros.cli import main
from frame_ros.core.time import SECOND, stamp_ns
from frame_ros.episodes.reading import read_episodes

FILTER = 0.05  # s by which the filter and the time that a contact must last may be late


@pytest.fixture(scope='module')
def recording(tmp_path_factory) -> Path:
    return foreign_bag(tmp_path_factory.mktemp('foreign') / 'lab')


def sense(path: Path, folder: Path, *options: str) -> int:
    return main(['sense', str(path), '-o', str(folder), *options])


def events(path: Path) -> list[tuple[int, float]]:
    """Type and time, s since T0, of each event."""
    found = Bag(path).messages('/arm/contact_events')
    return [(m.type, (stamp_ns(m.header.stamp) - T0) / SECOND) for _, m in found]


def contents(folder: Path) -> dict[str, str]:
    files = (path for path in folder.rglob('*') if path.is_file())
    return {str(path): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def test_a_known_push_is_one_contact_of_a_bag_that_another_library_wrote(
    recording, tmp_path, capsys
):
    before = contents(recording)
    assert sense(recording, tmp_path / 'new', *TOOL) == 0
    (begun, begin), (ended, end) = events(tmp_path / 'new')
    assert (begun, ended) == (0, 1)
    assert PUSH[0] <= begin <= PUSH[0] + FILTER and PUSH[1] <= end <= PUSH[1] + FILTER
    said = capsys.readouterr().err
    assert f'fr3: contact by wrench, of joint_states {JOINT_STATES}, wrench {WRENCH}' in said
    assert '1 contact in' in said and 'tared: beyond the tool the sensor reads 1.498' in said
    states = [m for _, m in Bag(tmp_path / 'new').messages('/arm/contact')]
    (peak,) = {max(m.peak_forces) for m in states if m.in_contact and stamp_is(m, end - 0.05)}
    assert peak == pytest.approx(6.0, abs=0.4)
    assert contents(recording) == before


def stamp_is(message, time: float) -> bool:
    return abs(stamp_ns(message.header.stamp) - T0 - time * SECOND) < 0.011 * SECOND


def test_all_messages_of_the_recording_are_in_the_new_bag(recording, tmp_path):
    sense(recording, tmp_path / 'new', '-q', *TOOL)
    old, new = Bag(recording), Bag(tmp_path / 'new')
    for name, topic in old.topics.items():
        copied = [(at, data.tobytes()) for at, data in new.raw(name)]
        assert copied == [(at, data.tobytes()) for at, data in old.raw(name)]
        assert new.topics[name].message_type == topic.message_type
    added = {'/arm/contact', '/arm/contact_events', '/arm/external_wrench'}
    assert new.topics.keys() == old.topics.keys() | added
    with Reader(tmp_path / 'new') as reader:  # as other readers see it
        times = [at for _, at, _ in reader.messages()]
        assert times == sorted(times) and len(times) == new.message_count
    assert new.metadata['sensed_from'] == 'lab'
    tool = 'tool.centre_of_mass=[0.01, 0.0, 0.06], tool.mass=0.8'
    assert new.metadata['sensed_with'] == f'robot=fr3, sources=[wrench], {tool}'


def test_the_same_recording_gives_the_same_messages(recording, tmp_path):
    for name in ('a', 'b'):
        sense(recording, tmp_path / name / 'new', '-q', *TOOL)
    a, b = ((tmp_path / name / 'new' / 'new_0.mcap').read_bytes() for name in 'ab')
    assert a == b


def test_a_report_shows_the_contacts_and_forces(recording, tmp_path):
    sense(recording, tmp_path / 'new', '-q', *TOOL)
    (episode,) = read_episodes(tmp_path / 'new', robot='fr3', topics={'action': JOINT_STATES})
    assert episode.metrics['safety']['peak_force'][-1] == pytest.approx(6.0, abs=0.4)
    page, data = tmp_path / 'page.html', tmp_path / 'page.json'
    options = ['--robot', 'fr3', '--topic', f'action={JOINT_STATES}']
    code = main(
        ['report', str(tmp_path / 'new'), '-q', '-o', str(page), '--json', str(data), *options]
    )
    assert code == 0
    assert '1 contact' in page.read_text()
    (found,) = json.loads(data.read_text())['episodes']
    (contact,) = found['sensing']['contacts']
    assert contact['peak_force'] == pytest.approx(6.0, abs=0.4)


def test_the_report_that_is_proposed_reads_the_new_bag_as_the_recording_was_read(tmp_path, capsys):
    path = foreign_bag(tmp_path / 'lab', has_stamps=False)
    options = ['--stamps', 'receive', '--topic', f'joint_states={JOINT_STATES}']
    assert sense(path, tmp_path / 'new', *options, '--topic', f'wrench={WRENCH}', *TOOL) == 0
    command = capsys.readouterr().err.splitlines()[-1].removeprefix('report on it: ')
    new = tmp_path / 'new'
    assert command == f'frame-ros report {new} --robot fr3 {" ".join(options)}'
    page = tmp_path / 'page.html'
    assert main([*shlex.split(command)[1:], '-o', str(page)]) == 0
    assert '1 contact' in page.read_text()


@pytest.mark.parametrize(('named', 'words'), [('fr3', ''), ('so101', ' --robot fr3')])
def test_a_robot_other_than_the_recording_names_is_of_the_report_too(
    recording, tmp_path, capsys, named, words
):
    old = Bag(recording)
    sent = [(name, at, m) for name in (JOINT_STATES, WRENCH) for at, m in old.messages(name)]
    sent.sort(key=lambda row: row[1])
    path, new = write_bag(tmp_path / 'own', sent, {'robot': named}), tmp_path / 'new'
    assert sense(path, new, '--robot', 'fr3', *TOOL) == 0
    assert capsys.readouterr().err.endswith(f'report on it: frame-ros report {new}{words}\n')


def test_live_metrics_that_are_left_out_are_not_said_to_be_missing(recording, tmp_path):
    live = [
        ('/arm/quality_metrics', T0 + place * SECOND // 10,
         message('frame_ros/msg/QualityMetrics', header__stamp=stamp(T0 + place * SECOND // 10)))
        for place in range(1, 40)
    ]  # fmt: skip
    old = Bag(recording)
    sent = [(name, at, m) for name in (JOINT_STATES, WRENCH) for at, m in old.messages(name)]
    path = write_bag(tmp_path / 'own', sorted(live + sent, key=lambda row: row[1]))
    assert sense(path, tmp_path / 'new', '-q', *TOOL) == 0
    page = tmp_path / 'page.html'
    assert main(['report', str(tmp_path / 'new'), '-q', '-o', str(page), '--robot', 'fr3']) == 0
    text = page.read_text()
    assert 'live metrics, which rest on what was sensed then, are left out' in text
    assert 'no live metrics to compare with' in text
    assert 'no live metrics were recorded' not in text and 'no live metrics recorded' not in text


def test_a_bag_with_contacts_is_not_sent_back_to_be_sensed(recording, tmp_path, capsys):
    assert main(['report', str(recording), '-o', str(tmp_path / 'page.html')]) == 1
    assert 'frame-ros sense' in capsys.readouterr().err
    sense(recording, tmp_path / 'new', '-q', *TOOL)
    assert main(['report', str(tmp_path / 'new'), '-o', str(tmp_path / 'page.html')]) == 1
    assert 'frame-ros sense' not in capsys.readouterr().err


def test_of_a_recording_that_was_cut_the_new_bag_says_so(recording, tmp_path):
    (file,) = recording.glob('*.mcap')
    (tmp_path / 'cut').mkdir()
    whole = file.read_bytes()
    (tmp_path / 'cut' / 'cut_0.mcap').write_bytes(whole[: len(whole) * 4 // 5])
    assert sense(tmp_path / 'cut', tmp_path / 'new', '-q', *TOOL) == 0
    (episode,) = read_episodes(tmp_path / 'new', robot='fr3', topics={'action': JOINT_STATES})
    assert episode.is_truncated and any('had been cut' in text for text in episode.problems)


def test_other_thresholds_are_the_parameters_of_the_node(recording, tmp_path, capsys):
    file = tmp_path / 'contact.yaml'
    file.write_text('contact: {ros__parameters: {wrench: {force_on: 20.0, torque_on: 9.0}}}\n')
    assert sense(recording, tmp_path / 'a', '--params-file', str(file), *TOOL) == 0
    assert events(tmp_path / 'a') == []
    given = ['--params-file', str(file), '--parameter', 'wrench.force_on=3.0']
    assert sense(recording, tmp_path / 'b', *given, *TOOL) == 0
    assert len(events(tmp_path / 'b')) == 2
    assert sense(recording, tmp_path / 'c', '--parameter', 'wrench.forc_on=3') == 2
    assert "did you mean 'wrench.force_on'?" in capsys.readouterr().err
    assert sense(recording, tmp_path / 'c', '--parameter', 'wrench.force_on=-3') == 2
    assert 'wrench.force_on' in capsys.readouterr().err
    assert not (tmp_path / 'c').exists()


def test_parameters_of_the_namespace_that_the_recording_has_are_taken(recording, tmp_path, capsys):
    file = tmp_path / 'contact.yaml'
    off = 'ros__parameters: {wrench: {force_on: 20.0, torque_on: 9.0}}'
    of_all = 'contact: {ros__parameters: {wrench: {force_on: 2.0}}}'
    file.write_text(f'{of_all}\n/arm/contact: {{{off}}}\n')
    assert sense(recording, tmp_path / 'a', '--params-file', str(file), *TOOL) == 0
    assert events(tmp_path / 'a') == []
    file.write_text(f'/left/contact: {{{off}}}\n')
    assert sense(recording, tmp_path / 'b', '--params-file', str(file), *TOOL) == 2
    assert 'has no parameters of the node /arm/contact' in capsys.readouterr().err


def of_two_robots(recording: Path, folder: Path) -> Path:
    sent = [
        (f'/{side}/{name}', at, m)
        for name, topic in (('joint_states', JOINT_STATES), ('wrench', WRENCH))
        for at, m in Bag(recording).messages(topic)
        for side in ('left', 'right')
    ]
    return write_bag(folder, sorted(sent, key=lambda row: row[1]))


def test_a_named_wrench_decides_on_the_robot_and_others_are_said(recording, tmp_path, capsys):
    path = of_two_robots(recording, tmp_path / 'two')
    assert sense(path, tmp_path / 'a', *TOOL) == 0
    assert 'the bag holds several robots: this is /left; others: /right' in capsys.readouterr().err
    assert sense(path, tmp_path / 'b', *TOOL, '--topic', 'wrench=/right/wrench') == 0
    said = capsys.readouterr().err
    assert 'of joint_states /right/joint_states, wrench /right/wrench' in said
    assert '/right/contact' in Bag(tmp_path / 'b').topics
    topics = ['--topic', 'wrench=/right/wrench', '--topic', 'joint_states=/left/joint_states']
    assert sense(path, tmp_path / 'c', *TOOL, *topics) == 0
    assert 'given as wrench, is of /right, all else of /left' in capsys.readouterr().err
    assert sense(path, tmp_path / 'd', *TOOL, *topics, '--namespace', 'left') == 0
    assert 'robots' not in (said := capsys.readouterr().err) and 'all else' not in said


def test_sqlite_and_receive_times(tmp_path):
    path = foreign_bag(tmp_path / 'lab', storage=StoragePlugin.SQLITE3, has_stamps=False)
    assert sense(path, tmp_path / 'none', '-q', *TOOL) == 1  # no message has a stamp
    assert sense(path, tmp_path / 'new', '-q', '--stamps', 'receive', *TOOL) == 0
    assert len(events(tmp_path / 'new')) == 2


def test_what_exists_is_never_written_and_nothing_stays_of_a_failure(recording, tmp_path, capsys):
    (tmp_path / 'there').mkdir()
    assert sense(recording, tmp_path / 'there', *TOOL) == 2
    assert 'exists' in capsys.readouterr().err
    assert sense(recording, recording / 'inside', *TOOL) == 2
    assert 'lies in the recording' in capsys.readouterr().err

    most = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, most[1]))  # as a full disk
    try:
        assert sense(recording, tmp_path / 'new', *TOOL) == 2
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, most)
    assert 'the bag' in capsys.readouterr().err
    assert sorted(path.name for path in tmp_path.iterdir()) == ['there']


def test_contacts_that_are_there_are_replaced_only_if_asked(recording, tmp_path, capsys):
    assert sense(recording, tmp_path / 'a', *TOOL) == 0
    assert sense(tmp_path / 'a', tmp_path / 'b', *TOOL) == 2
    said = capsys.readouterr().err
    assert (
        '/arm/contact, /arm/contact_events, /arm/external_wrench already' in said
        and '--replace' in said
    )
    assert not (tmp_path / 'b').exists()
    off = ['--parameter', 'wrench.force_on=50', '--parameter', 'wrench.torque_on=50']
    assert sense(tmp_path / 'a', tmp_path / 'b', '--replace', *TOOL, *off) == 0
    assert events(tmp_path / 'b') == [] and len(events(tmp_path / 'a')) == 2


def test_a_recording_that_begins_in_motion_names_the_tare(tmp_path, capsys):
    path = foreign_bag(tmp_path / 'lab', rest=REST + 0.5)
    assert sense(path, tmp_path / 'a', *TOOL) == 1
    said = capsys.readouterr().err
    assert 'not known in' in said and "the sensor's bias was never found" in said
    assert 'tare.at_start=false' in said
    bias = '[1.5, -2.0, 0.7, 0.02, -0.05, 0.01]'
    known = ['--parameter', 'tare.at_start=false', '--parameter', f'wrench.expected_bias={bias}']
    assert sense(path, tmp_path / 'b', *TOOL, *known) == 0
    assert len(events(tmp_path / 'b')) == 2


def test_a_sensor_whose_place_is_not_known_is_asked_for(recording, tmp_path, capsys):
    frame = ['--parameter', 'wrench.frame=nosuch']
    assert sense(recording, tmp_path / 'a', *TOOL, *frame) == 1
    said = capsys.readouterr().err
    assert said.count("wrench in an unknown frame: 'nosuch'") == 1 and 'bias' not in said
    frame = ['--parameter', 'wrench.frame=fr3_hand']
    assert sense(recording, tmp_path / 'b', *TOOL, *frame) == 0


def test_without_wrench_and_efforts_there_is_nothing_to_sense_by(tmp_path, capsys):
    path = foreign_bag(tmp_path / 'none', has_wrench=False)
    assert sense(path, tmp_path / 'new') == 2
    said = capsys.readouterr().err
    assert 'neither a wrench' in said and 'nor joint states with efforts' in said
    path = foreign_bag(tmp_path / 'efforts', has_wrench=False, effort=True)
    assert sense(path, tmp_path / 'new') == 2
    said = capsys.readouterr().err
    assert 'joints.motors_file=' in said and f'identify joints --robot fr3 --bag {path}' in said
    assert sense(path, tmp_path / 'new', '--parameter', 'sources=wrench') == 2
    assert 'has no wrench' in capsys.readouterr().err
    assert not (tmp_path / 'new').exists()


def test_an_unknown_robot_is_asked_for_and_a_wrong_one_refused(tmp_path, capsys):
    path = foreign_bag(tmp_path / 'lab', names=lambda name: name.replace('fr3', 'left'))
    assert sense(path, tmp_path / 'new') == 2
    said = capsys.readouterr().err
    assert 'is not known' in said and 'left_joint1' in said and '--robot' in said
    assert sense(path, tmp_path / 'new', '--robot', 'so101') == 2
    said = capsys.readouterr().err
    assert 'has left_joint1' in said and 'shoulder_pan' in said
    assert sense(path, tmp_path / 'new', '--robot', 'nosuch') == 2


def test_topics_are_named_by_role_and_of_their_type(recording, tmp_path, capsys):
    new = tmp_path / 'new'
    assert sense(recording, new, '--topic', 'wrench=/camera/note') == 2
    assert 'has type std_msgs/msg/String; as wrench it should be' in capsys.readouterr().err
    assert sense(recording, new, '--topic', 'wrench=/nosuch') == 2
    assert f'it has {WRENCH}' in capsys.readouterr().err
    assert sense(recording, new, '--topic', 'wrensh=/x') == 2
    assert "did you mean 'wrench'?" in capsys.readouterr().err
    force = {'wrench__force__z': 1.0}
    sent = [
        (topic, T0, message('geometry_msgs/msg/WrenchStamped', header__stamp=stamp(T0), **force))
        for topic in ('/left/ft', '/right/ft')
    ]
    path = write_bag(tmp_path / 'two', sent)
    assert sense(path, new) == 2
    assert 'several wrenches, /left/ft, /right/ft: --topic wrench=TOPIC' in capsys.readouterr().err


def test_a_hole_in_a_recording_ends_what_was_felt_and_is_not_filled(tmp_path):
    """Of an hour in which nothing was recorded there are no states."""
    path = foreign_bag(tmp_path / 'lab')
    old = Bag(path)
    sent = [
        (name, at + (3600 * SECOND if at - T0 > 3.5 * SECOND else 0), m)
        for name in (JOINT_STATES, WRENCH)
        for at, m in old.messages(name)
    ]
    assert sent and SECONDS < 3600.0
    sent.sort(key=lambda row: row[1])
    assert sense(write_bag(tmp_path / 'holed', sent), tmp_path / 'new', '-q', *TOOL) == 0
    assert len(list(Bag(tmp_path / 'new').messages('/arm/contact'))) < 1000
