# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Messages about a run that was stopped, and the command that they print, which works."""

import shlex

from bag_making import episode_messages, write_bag

from frame_ros.cli import main
from frame_ros.cli.recorded import new_episodes, report_command, stopped_lines

OURS = {'frame_ros_version': '0.1.0'}


def arguments(lines):
    (command,) = (line.split(': ', 1)[1] for line in lines if line.startswith('report on it: '))
    program, *rest = shlex.split(command)
    assert program == 'frame-ros'
    return rest


def test_a_stopped_run_is_described_and_its_command_works(tmp_path):
    run = tmp_path / 'my run'
    write_bag(run / 'episode_0', episode_messages(20), OURS)
    write_bag(run / 'episode_1', episode_messages(20)[:-5], OURS, finish=False)
    (run / 'episode_0.mp4').write_bytes(bytes(2_000_000))
    lines = stopped_lines(run)
    assert lines[0].startswith('recorded: 2 episodes (1 cut), 2.0 MB, in ')
    assert main(arguments(lines)) == 0
    page = (run / 'report.html').read_text()
    assert 'episode_0' in page and 'episode_1' in page


def test_bags_of_before_are_none_of_the_runs(tmp_path):
    earlier = {write_bag(tmp_path / 'episode_0', episode_messages(20), OURS)}
    assert stopped_lines(tmp_path, earlier)[0].startswith('no episode was recorded; the logs')
    new = write_bag(tmp_path / 'episode_1', episode_messages(20), OURS)
    assert new_episodes(tmp_path, earlier) == [new]
    words = shlex.split(report_command(tmp_path, earlier))
    assert words == ['frame-ros', 'report', str(new), '-o', str(tmp_path / 'report.html')]


def test_a_run_that_made_no_folder_recorded_nothing(tmp_path):
    (line,) = stopped_lines(tmp_path / 'nothing')
    assert line.startswith('no episode was recorded')
