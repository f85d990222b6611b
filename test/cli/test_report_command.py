# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""`frame-ros report` and `frame-ros video` on real bags, whole, cut, empty and no bags at all."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import struct
import subprocess
import sys
import termios
from pathlib import Path

import numpy as np
import pytest
from bag_making import SECOND, T0, episode_messages, message, stamp, write_bag

from frame_ros.cli import main


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
    assert 'This bag is truncated' in page.read_text()


@pytest.mark.parametrize(
    ('make', 'told'),
    [
        (lambda folder: folder / 'nothing', 'does not exist'),
        (lambda folder: folder, 'is no bag'),
        (lambda folder: _file(folder / 'notes.txt'), 'is no bag'),
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
    assert 'no raw image topic' in capsys.readouterr().err


def _file(path: Path) -> Path:
    path.write_text('no bag')
    return path
