# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Of the robot description that a bag names, nothing is opened but a file of its own folder."""

import os
from pathlib import Path

import pytest
import yaml
from bag_making import T0, event, message, write_bag
from robot_bags import robot_messages

from frame_ros.bags.findings import Note
from frame_ros.cli import main
from frame_ros.core.events import EventType
from frame_ros.episodes.reading import read_episodes
from frame_ros.episodes.recorded.robot import NOT_OPENED, known_robot
from frame_ros.reports.html.path_figure import robot_outline
from frame_ros.robots import find_urdf


@pytest.fixture
def opened(monkeypatch):
    """The paths that anything opens from here on."""
    found, kept = [], os.open

    def recorded(path, *args, **kwargs):
        found.append(os.fspath(path))
        return kept(path, *args, **kwargs)

    monkeypatch.setattr(os, 'open', recorded)
    return found


def bag_of(folder, robot, by='metadata'):
    """A bag that names its robot in its metadata, or in an episode's START."""
    sent = robot_messages()
    if by == 'event':
        pair = message('diagnostic_msgs/msg/KeyValue', key='robot', value=robot)
        sent[0] = ('/episode_events', T0 - 2000, event(T0, EventType.START, attributes=[pair]))
    return write_bag(folder, sent, {'robot': robot} if by == 'metadata' else {})


def only(path, **options):
    (episode,) = read_episodes(path, **options)
    return episode


@pytest.mark.parametrize('by', ['metadata', 'event'])
@pytest.mark.parametrize('kind', ['file', 'link', 'pipe', 'device', 'above', 'text', 'folder'])
def test_what_lies_elsewhere_is_not_opened(tmp_path, opened, by, kind):
    urdf = find_urdf('so101').read_text()
    outside = tmp_path / 'arm.urdf'
    outside.write_text(urdf)
    named = {
        'file': str(outside), 'link': 'arm.urdf', 'pipe': 'arm.urdf', 'device': '/dev/zero',
        'above': '../arm.urdf', 'text': urdf, 'folder': '.',
    }[kind]  # fmt: skip
    path = bag_of(tmp_path / 'bag', named, by)
    if kind == 'link':
        (path / 'arm.urdf').symlink_to(outside)
    elif kind == 'pipe':
        os.mkfifo(path / 'arm.urdf')
    del opened[:]
    episode = only(path)
    assert 'robot' not in episode.attributes and robot_outline(episode) is None
    (said,) = [text for text in episode.problems if 'it was not opened' in text]
    assert isinstance(said, Note) and named[:20] in said
    elsewhere = {str(outside), str(path / 'arm.urdf'), '/dev/zero'}
    assert not elsewhere & {os.path.abspath(Path(each)) for each in opened}


@pytest.mark.parametrize('by', ['metadata', 'event'])
@pytest.mark.parametrize('is_absolute', [False, True])
def test_a_description_in_the_bags_folder_is_read(tmp_path, by, is_absolute):
    folder = tmp_path / 'bag'
    file = folder / 'arm.urdf'
    path = bag_of(folder, str(file) if is_absolute else 'arm.urdf', by)
    file.write_text(find_urdf('so101').read_text())
    episode = only(path)
    assert episode.attributes['robot'] == str(file)
    assert not any('not opened' in text for text in episode.problems)


@pytest.mark.parametrize('field', ['urdf', 'motors', 'rviz'])
@pytest.mark.parametrize('kind', ['absolute', 'above', 'link', 'behind_link', 'shared'])
def test_a_profile_that_names_a_file_elsewhere_is_not_opened(tmp_path, opened, field, kind):
    outside = tmp_path / 'secret' / 'arm.urdf'
    outside.parent.mkdir()
    outside.write_text(find_urdf('so101').read_text())
    (tmp_path / 'secret' / 'inner').mkdir()
    path = bag_of(tmp_path / 'bag', 'mine.yaml')
    (path / 'own.urdf').write_text(outside.read_text())
    (path / 'link.urdf').symlink_to(outside)
    (path / 'link').symlink_to(outside.parent / 'inner')
    (path / 'arm.urdf').write_text('harmless')
    named = {
        'absolute': str(outside), 'above': '../secret/arm.urdf', 'link': 'link.urdf',
        'behind_link': 'link/../arm.urdf', 'shared': 'urdf/fr3.urdf',
    }[kind]  # fmt: skip
    (path / 'mine.yaml').write_text(yaml.safe_dump({'urdf': 'own.urdf', field: named}))
    del opened[:]
    episode = only(path)
    assert 'robot' not in episode.attributes and robot_outline(episode) is None
    assert any('mine.yaml' in text and 'it was not opened' in text for text in episode.problems)
    assert outside.resolve() not in {Path(each).resolve() for each in opened}


@pytest.mark.parametrize('urdf', ['arm.urdf', '../arm.urdf', 'absolute'])
def test_a_profile_whose_files_lie_in_the_bags_folder_is_read(tmp_path, urdf):
    path = bag_of(tmp_path / 'bag', 'robots/mine.yaml')
    (path / 'robots').mkdir()
    file = path / 'arm.urdf' if urdf != 'arm.urdf' else path / 'robots' / 'arm.urdf'
    file.write_text(find_urdf('so101').read_text())
    urdf = str(file) if urdf == 'absolute' else urdf
    (path / 'robots' / 'mine.yaml').write_text(yaml.safe_dump({'urdf': urdf}))
    assert known_robot(only(path)).name == 'mine'


def test_the_users_description_takes_the_place_of_one_that_is_not_opened(tmp_path):
    path = bag_of(tmp_path / 'bag', '/elsewhere/arm.urdf')
    episode = only(path, robot='so101')
    assert episode.attributes['robot'] == 'so101'
    assert not any('not opened' in text for text in episode.problems)


@pytest.mark.parametrize('named', ['', 'mine.urdf', '/elsewhere/arm.urdf'])
@pytest.mark.parametrize('by', ['metadata', 'event'])
def test_where_the_user_names_a_description_no_fact_says_that_it_was_not_opened(
    tmp_path, named, by
):
    file = tmp_path / 'mine.urdf'
    file.write_text(find_urdf('so101').read_text())
    found = only(bag_of(tmp_path / 'bag', named, by), robot=str(file)).attributes
    assert found['robot'] == str(file) and NOT_OPENED not in found


@pytest.mark.parametrize('place', ['mine.yaml', 'mine/mine.yaml'])
@pytest.mark.parametrize('named', ['mine', 'mine.yaml', '/elsewhere/robots/mine.yaml'])
def test_a_profile_in_the_users_own_folders_stands_for_its_name(
    tmp_path, monkeypatch, named, place
):
    profile = tmp_path / 'robots' / place
    profile.parent.mkdir(parents=True)
    (profile.parent / 'arm.urdf').write_text(find_urdf('so101').read_text())
    profile.write_text(yaml.safe_dump({'urdf': 'arm.urdf'}))
    path = bag_of(tmp_path / 'bag', named)
    (said,) = [text for text in only(path).problems if 'it was not opened' in text]
    assert 'FRAME_ROS_ROBOTS the folder' in said
    monkeypatch.setenv('FRAME_ROS_ROBOTS', str(tmp_path / 'robots'))
    episode = only(path)
    assert known_robot(episode).name == 'mine'
    assert not any('not opened' in text for text in episode.problems)


def test_a_file_of_the_name_of_another_robot_stands_for_none(tmp_path, monkeypatch):
    folders = [tmp_path / 'one', tmp_path / 'two']
    for folder in folders:
        folder.mkdir()
        (folder / 'arm.urdf').write_text(find_urdf('so101').read_text())
        (folder / 'mine.yaml').write_text(yaml.safe_dump({'urdf': 'arm.urdf'}))
    monkeypatch.setenv('FRAME_ROS_ROBOTS', ':'.join(map(str, folders)))
    for named in ('mine.yaml', '/elsewhere/fr3.yaml', 'other.yaml', 'mine.urdf'):
        found = only(bag_of(tmp_path / named.replace('/', '_'), named)).attributes
        assert 'robot' not in found and found[NOT_OPENED] == named


def test_known_robots_are_known_by_name(tmp_path):
    assert only(bag_of(tmp_path / 'bag', 'fr3')).attributes['robot'] == 'fr3'


def test_a_policy_is_not_tried_on_another_robot_than_the_bag_names(tmp_path, capsys):
    path = bag_of(tmp_path / 'bag', '/elsewhere/arm.urdf')
    assert main(['open-loop', str(path), '--recorded']) == 2
    assert '/elsewhere/arm.urdf' in capsys.readouterr().err
