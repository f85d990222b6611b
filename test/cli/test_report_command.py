# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""`frame-ros report` and `frame-ros video` on real bags, whole, cut, empty and no bags at all."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import shutil
import struct
import subprocess
import sys
import termios
from pathlib import Path

import numpy as np
import pytest
from bag_making import T0, episode_messages, joints, message, stamp, write_bag

from frame_ros.cli import main
from frame_ros.cli.demo import bags_in, write_demo_report
from frame_ros.core.errors import BagError
from frame_ros.core.time import SECOND
from frame_ros.robots import load_robot


def camera_messages(count: int = 12, width: int = 64, height: int = 48) -> list:
    """Images of a white square that wanders over black, 20 a second."""
    sent = []
    for number in range(count):
        pixels = np.zeros((height, width, 3), np.uint8)
        pixels[10:20, number * 4 : number * 4 + 10] = 255
        at = T0 + number * SECOND // 20
        image = message(
            'sensor_msgs/msg/Image', header__stamp=stamp(at), height=height, width=width,
            encoding='rgb8', step=width * 3, data=pixels.reshape(-1),
        )  # fmt: skip
        sent.append(('/front/image_raw', at + 5000, image))
    return sent


@pytest.fixture(scope='module')
def bag(tmp_path_factory: pytest.TempPathFactory) -> Path:
    messages = sorted(episode_messages() + camera_messages(), key=lambda sent: sent[1])
    folder = tmp_path_factory.mktemp('bags') / 'episode_1'
    return write_bag(folder, messages, {'policy': '<b>bold</b>'})


def test_writes_one_page(bag: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    page = tmp_path / 'page.html'
    assert main(['report', str(bag), '-o', str(page), '--title', 'A <title>']) == 0
    html = page.read_text()
    assert '<h1>A &lt;title&gt;</h1>' in html
    assert '&lt;b&gt;bold&lt;/b&gt;' in html and '<b>bold' not in html
    assert '/joint_commands' in html
    assert html.count('src="data:image/jpeg;base64,') == 6
    assert str(page) in capsys.readouterr().err


def test_json_to_standard_output_makes_no_page(
    bag: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.chdir(tmp_path)
    assert main(['report', '--json', str(bag)]) == 0
    data = json.loads(capsys.readouterr().out)
    assert data['episodes'][0]['summary']['steps'] == 50
    assert data['episodes'][0]['outcome'] == 'success'
    assert data['episodes'][0]['metrics']['pl']['value'] == pytest.approx(0.049)
    assert list(tmp_path.iterdir()) == []


def test_json_to_a_file_beside_a_page_over_a_folder_of_bags(bag: Path, tmp_path: Path):
    target, page = tmp_path / 'facts.json', tmp_path / 'page.html'
    arguments = ['report', str(bag.parent), '--json', str(target), '-o', str(page), '--quiet']
    assert main(arguments) == 0
    assert len(json.loads(target.read_text())['episodes']) == 1
    assert page.is_file()


def test_a_cut_bag_is_read_and_said_to_be_cut(tmp_path: Path):
    cut = write_bag(tmp_path / 'cut', episode_messages()[:80], finish=False)
    page = tmp_path / 'page.html'
    assert main(['report', str(cut), '-o', str(page), '-q']) == 0
    assert 'The bag is truncated' in page.read_text()


def test_problems_of_bags_are_told_one_a_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    cut = write_bag(tmp_path / 'cut', episode_messages()[:80], finish=False)
    assert main(['report', str(cut), '-o', str(tmp_path / 'page.html')]) == 0
    lines = capsys.readouterr().err.splitlines()
    assert sum('was cut' in line for line in lines) == 1
    assert all(line.startswith('cut.partial: ') for line in lines[:-1])
    assert lines[-1].startswith('1 episode: ')


def test_a_bag_that_cannot_be_read_makes_code_1_and_the_page_is_written(
    bag: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    bad, page = tmp_path / 'bad.mcap', tmp_path / 'page.html'
    bad.write_bytes(b'no mcap at all')
    assert main(['report', str(bag), str(bad), '-o', str(page), '-q']) == 1
    assert any(line.startswith('bad.mcap: ') for line in capsys.readouterr().err.splitlines())
    assert '1 bag could not be read: bad.mcap' in page.read_text()
    assert main(['report', '--json', str(tmp_path / 'out.json'), str(bad), '-q']) == 1
    assert json.loads((tmp_path / 'out.json').read_text())['episodes'] == []


def test_a_bag_without_messages_makes_code_1(
    bag: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    empty, target = write_bag(tmp_path / 'empty', []), tmp_path / 'out.json'
    assert main(['report', str(bag), str(empty), '--json', str(target)]) == 1
    assert 'empty: the bag holds no messages' in capsys.readouterr().err
    data = json.loads(target.read_text())
    assert len(data['episodes']) == 1
    assert data['unreadable'] == [{'bag': 'empty', 'reason': 'the bag holds no messages'}]


def test_a_missing_bag_is_told_before_anything_is_read(
    bag: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    page = tmp_path / 'page.html'
    assert main(['report', str(bag), str(tmp_path / 'typo'), '-o', str(page)]) == 2
    assert 'typo does not exist' in capsys.readouterr().err
    assert not page.exists()


def test_a_camera_that_stopped_is_a_warning(bag: Path, capsys: pytest.CaptureFixture[str]):
    assert main(['report', '--json', str(bag)]) == 0
    (episode,) = json.loads(capsys.readouterr().out)['episodes']
    assert episode['stopped'] == {}
    longer = sorted(episode_messages(count=150) + camera_messages(), key=lambda sent: sent[1])
    stopped = write_bag(bag.parent.parent / f'{bag.parent.name}_stopped' / 'b', longer)
    assert main(['report', '--json', str(stopped)]) == 0
    (episode,) = json.loads(capsys.readouterr().out)['episodes']
    assert episode['stopped'] == {'front/image_raw': pytest.approx(3.0 - 11 / 20)}
    texts = [finding['text'] for finding in episode['findings']]
    assert 'front/image_raw stopped 2.5 s before the end' in texts


def test_namespace_and_topics_choose_what_is_read(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    sent = [
        (topic if topic == '/episode_events' else f'/{robot}{topic}', at, content)
        for robot, count in (('left', 50), ('right', 40))
        for topic, at, content in episode_messages(count)
        if robot == 'left' or topic != '/episode_events'
    ]
    two = str(write_bag(tmp_path / 'two', sorted(sent, key=lambda item: item[1])))

    def steps(*options: str) -> int:
        assert main(['report', '--json', two, *options]) == 0
        return json.loads(capsys.readouterr().out)['episodes'][0]['summary']['steps']

    assert steps('--namespace', 'left') == 50
    assert steps('--namespace', '/right') == 40
    assert steps('--namespace', 'left', '--topic', 'action=/right/joint_commands') == 40


@pytest.mark.parametrize(
    ('given', 'told'),
    [('poses=/ee_pose', "'poses' is no role; did you mean 'pose'?"),
     ('pose', "--topic is 'pose'; it must be NAME=VALUE"), ('pose=', 'NAME=VALUE')],
)  # fmt: skip
def test_a_wrong_topic_option_is_told(
    given: str, told: str, bag: Path, capsys: pytest.CaptureFixture[str]
):
    assert main(['report', str(bag), '--topic', given]) == 2
    assert told in capsys.readouterr().err


def test_what_is_chosen_and_not_there_is_told(
    bag: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    options = ['--topic', 'pose=/nowhere', '--robot', 'so101', '-o', str(tmp_path / 'page.html')]
    assert main(['report', str(bag), *options]) == 0
    assert '/nowhere, given as pose, is not in the bag' in capsys.readouterr().err


def test_the_robot_gives_poses_where_none_were_recorded(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    pytest.importorskip('pinocchio')
    names = load_robot('so101').joint_names
    sent = [
        (topic, at, content) for topic, at, content in episode_messages() if topic != '/ee_pose'
    ]
    for step in range(50):
        at = T0 + step * SECOND // 50
        state = joints(at, *[0.01 * step] * len(names))
        state.name[:] = names
        sent.append(('/joint_states', at + 500, state))
    bare = str(write_bag(tmp_path / 'bare', sorted(sent, key=lambda item: item[1])))

    def path_length(*options: str) -> float | None:
        assert main(['report', '--json', bare, *options]) == 0
        return json.loads(capsys.readouterr().out)['episodes'][0]['metrics']['pl']['value']

    assert path_length() is None
    assert path_length('--robot', 'so101') > 0.01


def test_the_demo_reports_the_bags_of_its_own_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    write_bag(tmp_path / 'old', episode_messages(episode_id='old'))
    earlier = bags_in(tmp_path)
    write_bag(tmp_path / 'new', episode_messages(episode_id='new'))
    page = write_demo_report(tmp_path, earlier).read_text()
    assert 'id="episode-1"' in page and 'id="episode-2"' not in page
    text = capsys.readouterr().out
    assert f'report: {tmp_path / "report.html"}' in text
    assert '1 bag of earlier runs in this folder is not in the report' in text
    with pytest.raises(BagError, match='no bag was written'):
        write_demo_report(tmp_path, bags_in(tmp_path))
    assert bags_in(tmp_path / 'nowhere') == set()


@pytest.mark.parametrize(
    ('make', 'told'),
    [
        (lambda folder: folder / 'nothing', 'does not exist'),
        (lambda folder: folder, 'is not a bag'),
        (lambda folder: _file(folder / 'notes.txt'), 'is not a bag'),
        (lambda folder: _file(folder / 'old.bag'), 'ROS 1'),
    ],
)
def test_what_is_no_bag_is_told_in_one_line(make, told, tmp_path, capsys):
    assert main(['report', str(make(tmp_path))]) == 2
    error = capsys.readouterr().err
    assert error.startswith('frame-ros: ') and error.count('\n') == 1
    assert told in error
    assert 'Traceback' not in error


def test_no_bag_given(capsys: pytest.CaptureFixture[str]):
    assert main(['report']) == 2
    assert 'no bag is given' in capsys.readouterr().err


@pytest.mark.parametrize('option', ['-o', '--json'])
def test_an_output_that_cannot_be_written(
    option: str, bag: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    target = str(tmp_path / 'missing' / 'out.json')
    assert main(['report', str(bag), option, target, '-q']) == 2
    assert 'cannot be written' in capsys.readouterr().err


def test_progress_is_drawn_on_a_terminal_only(bag: Path, tmp_path: Path):
    two = tmp_path / 'two'
    for name in ('a', 'b'):
        write_bag(two / name, episode_messages())
    code = 'import sys; from frame_ros.cli import main; sys.exit(main())'
    command = [sys.executable, '-c', code, 'report', str(two), '-o', str(tmp_path / 'page.html')]
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack('HHHH', 24, 80, 0, 0))
    subprocess.run(command, stderr=theirs, check=True)
    os.close(theirs)
    assert 'reading two' in os.read(ours, 65536).decode()
    os.close(ours)
    piped = subprocess.run(command, capture_output=True, text=True, check=True)
    assert 'reading' not in piped.stderr


def test_video_of_a_bag(bag: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    pytest.importorskip('av')
    video = tmp_path / 'run.mp4'
    assert main(['video', str(bag), '-o', str(video)]) == 0
    assert b'ftyp' in video.read_bytes()[:12]
    assert str(video) in capsys.readouterr().err


def test_video_of_a_bag_without_images(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    pytest.importorskip('av')
    plain = write_bag(tmp_path / 'plain', episode_messages())
    assert main(['video', str(plain)]) == 2
    assert 'no image topic' in capsys.readouterr().err


def _file(path: Path) -> Path:
    path.write_text('no bag')
    return path


def test_references_are_demonstrations_that_succeeded(
    bag: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    reference = write_bag(tmp_path / 'demonstration', episode_messages())
    target = tmp_path / 'out.json'
    given = ['report', str(bag), '--reference', str(reference), '--json', str(target), '-q']
    assert main(given) == 0
    data = json.loads(target.read_text())
    assert data['metrics']['ate']['median'] == pytest.approx(0.0, abs=1e-12)
    assert 'demonstration' in data['references']['references'][0]['origin']
    assert main([*given, '--match', 'arc_length', '--align', 'se3', '--reference-mean']) == 0
    data = json.loads(target.read_text())
    assert data['references']['references'][0]['origin'].startswith('mean of 1')
    assert data['references']['sentence'].startswith('by arc length')
    assert main(['report', str(bag), '--reference', str(bag), '--json', str(target), '-q']) == 0
    metrics = json.loads(target.read_text())['metrics']
    assert [metrics[id]['median'] for id in ('ate', 'rte', 'dtw')] == [None] * 3
    reasons = {metrics[id]['reason'] for id in ('ate', 'rte', 'dtw')}
    assert reasons == {'the episode is its own only reference'}
    both = ['report', str(bag), '--reference', str(bag), '--reference', str(reference)]
    assert main([*both, '--reference-mean', '--json', str(target), '-q']) == 0
    (mean,) = json.loads(target.read_text())['references']['references']
    assert mean['origin'].startswith('mean of 1') and 'demonstration' in mean['origin']
    failed = write_bag(tmp_path / 'cut', episode_messages()[:80])
    assert main(['report', str(bag), '--reference', str(failed), '--json', str(target)]) == 2
    assert 'of its 1 episode none ended in success' in capsys.readouterr().err
    assert main(['report', str(bag), '--reference-mean']) == 2
    assert '--reference BAG' in capsys.readouterr().err


def test_axes_of_the_fingerprint_are_checked_before_anything_is_read(
    bag: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    assert main(['report', str(tmp_path / 'missing'), '--fingerprint', 'sr,plx']) == 2
    assert "'plx'" in capsys.readouterr().err
    target = tmp_path / 'out.json'
    assert main(['report', str(bag), '--fingerprint', 'ti, pl', '--json', str(target), '-q']) == 0
    axes = json.loads(target.read_text())['fingerprint']['axes']
    assert [axis['id'] for axis in axes] == ['ti', 'pl']


def test_nested_runs_make_one_page_or_one_each(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    runs = tmp_path / 'runs'
    for name in ('monday/e_1', 'monday/e_2', 'tuesday/e_1'):
        write_bag(runs / name, episode_messages(episode_id=name))
    (runs / 'tuesday' / 'notes.txt').write_text('x')
    monkeypatch.chdir(tmp_path)
    assert main(['report', 'runs/']) == 0
    told = capsys.readouterr().err.splitlines()
    assert told[0] == 'not read (no recording): notes.txt'
    assert told[-1] == f'3 episodes: {tmp_path / "report.html"} (of 3 bags)'
    assert main(['report', 'runs/', '--per-run']) == 0
    assert capsys.readouterr().err.splitlines()[-2:] == [
        f'2 episodes: {runs / "monday" / "report.html"} (of 2 bags)',
        f'1 episode: {runs / "tuesday" / "report.html"} (of 1 bag)',
    ]
    assert main(['report', 'runs/', '--per-run', '-o', 'pages', '-q']) == 0
    pages = sorted(path.name for path in (tmp_path / 'pages').iterdir())
    assert pages == ['monday.html', 'tuesday.html']


def test_where_nothing_is_usable_the_topics_and_options_are_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    robot = load_robot('so101')
    sent = []
    for at in range(T0, T0 + SECOND, SECOND // 20):
        state = message(
            'sensor_msgs/msg/JointState', header__stamp=stamp(at), name=list(robot.joint_names),
            position=np.zeros(len(robot.joint_names)),
        )  # fmt: skip
        pose = message('geometry_msgs/msg/PoseStamped', header__stamp=stamp(at))
        pose.pose.orientation.w = 1.0
        sent += [('/joint_states', at, state), ('/tcp', at, pose)]
    bag = write_bag(tmp_path / 'foreign', sent)
    monkeypatch.chdir(tmp_path)
    (tmp_path / 'report.html').write_text('what was there')
    assert main(['report', str(bag)]) == 1
    told = capsys.readouterr().err
    assert '/joint_states (sensor_msgs/msg/JointState, 20): taken as joint_states' in told
    assert '/tcp (geometry_msgs/msg/PoseStamped, 20): could be pose, action, object, goal: ' in told
    assert '--topic pose=/tcp' in told and '--robot so101' in told
    assert (tmp_path / 'report.html').read_text() == 'what was there'
    assert main(['report', str(bag), '--topic', 'pose=/tcp', '-q']) == 0
    assert main(['report', str(bag), '--robot', 'so101', '-q']) == 0


def test_all_parts_of_a_split_bag_named_together_are_one_episode(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    sent = episode_messages(60)
    for number, part in enumerate((sent[:80], sent[80:])):
        making = write_bag(tmp_path / 'making', part)
        next(making.glob('*.mcap')).rename(tmp_path / f'run_{number}.mcap')
        shutil.rmtree(making)
    files = [str(tmp_path / f'run_{number}.mcap') for number in (0, 1)]
    assert main(['report', *files, '-q', '--json']) == 0
    assert len(json.loads(capsys.readouterr().out)['episodes']) == 1


def test_names_and_texts_that_no_encoding_has_are_reported(bag, tmp_path):
    folder = tmp_path / os.fsdecode(b'bag\xff')
    shutil.copytree(bag, folder)
    stray = folder / os.fsdecode(b'stray\xff.mcap')
    shutil.copy(next(folder.glob('*.mcap')), stray)
    metadata = folder / 'metadata.yaml'
    metadata.write_text(
        metadata.read_text().replace('custom_data:', 'custom_data:\n    task: "lift\\uD800"')
    )
    (folder / 'episode.json').unlink()
    page, data = tmp_path / 'page.html', tmp_path / 'data.json'
    assert main(['report', str(folder), '-o', str(page), '--json', str(data)]) == 0
    for text, name in ((page, r'stray\udcff.mcap'), (data, 'stray\ufffd.mcap')):
        assert 'lift\ufffd' in text.read_text('utf-8') and name in text.read_text('utf-8')


@pytest.mark.parametrize('option', ['-o', '--json'])
@pytest.mark.parametrize('name', ['episode_1_0.mcap', 'metadata.yaml', 'episode.json'])
def test_a_file_of_the_bag_is_not_written_over(option, name, bag, tmp_path, capsys):
    copied = tmp_path / 'episode_1'
    shutil.copytree(bag, copied)
    target = copied / name
    if option == '--json':  # which needs another ending; a link is the same file
        target = tmp_path / 'link.json'
        target.symlink_to(copied / name)
    before = {path: path.read_bytes() for path in copied.iterdir()}
    for given in (['report', str(copied)], ['report', str(bag), '--reference', str(copied)]):
        assert main([*given, option, str(target), '-q']) == 2
        assert f'is a file that is read: {copied / name}' in capsys.readouterr().err
    assert {path: path.read_bytes() for path in copied.iterdir()} == before


def test_page_and_json_are_two_files(bag, tmp_path, capsys):
    target = str(tmp_path / 'one.json')
    assert main(['report', str(bag), '-o', target, '--json', target]) == 2
    assert 'are one file' in capsys.readouterr().err


def test_a_json_file_stays_where_nothing_is_usable(tmp_path, capsys):
    empty = write_bag(tmp_path / 'empty', [])
    target = tmp_path / 'good.json'
    target.write_text('{"good": 1}')
    assert main(['report', str(empty), '--json', str(target)]) == 1
    assert 'nothing to report' in capsys.readouterr().err
    assert target.read_text() == '{"good": 1}'


def test_a_page_of_a_run_that_cannot_be_written_is_found_before_the_work(tmp_path, capsys):
    run = tmp_path / 'run'
    write_bag(run / 'e_1', episode_messages())
    (run / 'report.html').mkdir()
    assert main(['report', str(run), '--per-run']) == 2
    told = capsys.readouterr().err
    assert 'a folder; it must be a file' in told and 'reading' not in told


@pytest.mark.parametrize('with_page', [False, True])
def test_each_bag_is_opened_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, with_page: bool):
    """Opening unpacks all of a bag: of 60 episodes seven times each took a third of the time."""
    from collections import Counter

    from frame_ros.bags.reader import Bag

    opened: Counter[Path] = Counter()
    begin = Bag.__init__

    def counted(self: Bag, path: Path, *given: object, **named: object) -> None:
        opened[Path(path)] += 1
        begin(self, path, *given, **named)

    bags = []
    for name in 'ab':
        messages = [*episode_messages(episode_id=name), *camera_messages()]
        bags.append(write_bag(tmp_path / name, sorted(messages, key=lambda sent: sent[1])))
    monkeypatch.setattr(Bag, '__init__', counted)
    page = ['-o', str(tmp_path / 'page.html')] if with_page else []
    arguments = ['--json', str(tmp_path / 'report.json'), *page]
    assert main(['report', str(tmp_path), '-q', *arguments]) == 0
    assert opened == dict.fromkeys(bags, 1)
