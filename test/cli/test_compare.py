# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""`frame-ros compare`: tables, JSON, page and exit statuses from files of outcomes."""

from __future__ import annotations

import json

import pytest
from robot_bags import robot_bag

from frame_ros.cli import main

FAST = ['-q', '--resamples', '200', '--no-cache']


@pytest.fixture()
def place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def rows(policy: str, successes: int, count: int = 10) -> list[str]:
    return [f'{policy},{str(seed < successes).lower()},{seed}' for seed in range(count)]


def write(path, *lines):
    path.write_text('\n'.join(['policy,success,seed', *lines, '']))
    return str(path)


def evaluation(path, successes: int):
    """A file of lerobot-eval with ten episodes."""
    episodes = [{'episode_ix': i, 'success': i < successes, 'seed': i} for i in range(10)]
    path.write_text(json.dumps({'per_episode': episodes}))
    return path


def test_two_policies_give_the_exit_status_of_their_verdict(place, capsys):
    file = write(place / 'outcomes.csv', *rows('old', 1), *rows('new', 10))
    assert main(['compare', file, *FAST, '--baseline', 'old']) == 10
    printed = capsys.readouterr().out
    assert printed.startswith('new is better than old\n\np = 0.00391 with 10 pairs')
    assert (place / 'comparison.html').is_file() and 'the page: comparison.html' in printed
    assert main(['compare', file, *FAST, '--candidate', 'old']) == 11
    assert main(['compare', file, *FAST]) == 11  # the second by name, 'old'
    assert capsys.readouterr().out.count('old is worse than new') >= 2


def test_too_few_episodes_are_underpowered(place, capsys):
    file = write(place / 'outcomes.csv', *rows('a', 5), *rows('b', 6))
    assert main(['compare', file, *FAST]) == 14
    assert 'are needed' in capsys.readouterr().out


def test_enough_episodes_without_a_difference_are_indistinguishable(place, capsys):
    file = write(place / 'outcomes.csv', *rows('a', 5), *rows('b', 6))
    assert main(['compare', file, *FAST, '--smallest-difference', '0.9']) == 13
    assert 'a and b cannot be distinguished' in capsys.readouterr().out.replace(
        'b and a', 'a and b'
    )


def timed_rows(policy: str, ends: list[str]) -> list[str]:
    """Lines of CSV: episodes of one operation, '' of one that was never done."""
    return [f'{policy},{end or 60},{"success" if end else "drop"}' for end in ends]


def test_curves_that_cross_have_a_status_of_their_own(place, capsys):
    file = place / 'outcomes.csv'
    lines = [*timed_rows('bold', ['5', ''] * 20), *timed_rows('steady', ['60'] * 40)]
    file.write_text('\n'.join(['policy,time,ending', *lines, '']))
    assert main(['compare', str(file), *FAST]) == 12
    assert 'differ, and cross' in capsys.readouterr().out


def test_policies_without_a_shared_object_are_not_comparable(place, capsys):
    text = 'policy,object,success\na,cube,true\na,cube,false\nb,ball,true\nb,ball,true\n'
    (place / 'outcomes.csv').write_text(text)
    assert main(['compare', 'outcomes.csv', *FAST]) == 15
    assert "objects differ: 'ball' against 'cube'" in capsys.readouterr().out


def test_evaluations_of_lerobot_are_named_on_the_command_line(place, capsys):
    files = [evaluation(place / 'a.json', 9), evaluation(place / 'b.json', 1)]
    given = [f'act={files[0]}', f'pi0={files[1]}']
    assert main(['compare', *given, *FAST, '--json', '--candidate', 'act']) == 10
    data = json.loads(capsys.readouterr().out)
    assert data['verdict']['verdict'] == 'better' and data['verdict']['exit_status'] == 10
    assert data['policies'] == ['act', 'pi0'] and data['human'] is None
    assert data['pairs'][0]['decided_by'].startswith('McNemar')
    assert not (place / 'comparison.html').exists()


def test_several_policies_have_no_status_until_a_pair_is_named(place, capsys):
    file = write(place / 'outcomes.csv', *rows('a', 0), *rows('b', 10), *rows('c', 10))
    assert main(['compare', file, *FAST]) == 0
    assert 'b and c cannot be distinguished from the best of 3 policies' in capsys.readouterr().out
    assert main(['compare', file, *FAST, '--baseline', 'a', '--candidate', 'c']) == 10
    assert main(['compare', file, *FAST, '--baseline', 'a']) == 2
    assert 'baseline is given without candidate' in capsys.readouterr().err
    assert main(['compare', file, *FAST, '--baseline', 'a', '--candidate', 'a']) == 2


def test_a_page_is_written_where_it_is_asked_for_and_links_bags_from_there(place, capsys):
    for number in range(2):
        robot_bag(place / 'runs' / f'episode_{number}', (), {'robot': 'so101'}, count=30)
    (place / 'pages').mkdir()
    assert main(['compare', 'runs', '-o', 'pages/x.html', *FAST]) == 0
    assert 'recorded twice, counted once' in capsys.readouterr().out
    assert 'href="../runs/episode_0"' in (place / 'pages' / 'x.html').read_text()


def test_a_file_of_outcomes_is_not_overwritten_by_the_page(place, capsys):
    file = write(place / 'outcomes.csv', *rows('a', 0), *rows('b', 10))
    before = (place / 'outcomes.csv').read_text()
    assert main(['compare', file, *FAST, '-o', file]) == 2
    assert main(['compare', f'x={file}', *FAST, '-o', file]) == 2
    assert (place / 'outcomes.csv').read_text() == before


@pytest.mark.parametrize('given', ['runs', 'x=runs', 'runs/episode_0'])
def test_files_of_the_bags_are_not_overwritten_by_the_page(place, capsys, given):
    for number in range(2):
        robot_bag(place / 'runs' / f'episode_{number}', (), {'robot': 'so101'}, count=30)
    file = place / 'runs' / 'episode_0' / 'metadata.yaml'
    before = file.read_text()
    assert main(['compare', given, *FAST, '-o', str(file)]) == 2
    assert 'is a file that is read' in capsys.readouterr().err
    assert file.read_text() == before


def test_policies_can_be_chosen(place, capsys):
    file = write(place / 'outcomes.csv', *rows('a', 0), *rows('b', 10), *rows('c', 10))
    assert main(['compare', file, *FAST, '--policies', 'a,b']) == 10
    assert 'b is better than a' in capsys.readouterr().out


@pytest.mark.parametrize('text', ['', 'policy,success\n', 'nothing\n1\n'])
def test_a_file_without_outcomes_is_an_error_that_names_it(place, capsys, text):
    (place / 'outcomes.csv').write_text(text)
    assert main(['compare', 'outcomes.csv', *FAST]) == 2
    assert 'outcomes.csv' in capsys.readouterr().err
