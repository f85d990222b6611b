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


def test_bags_without_outcomes_print_the_file_that_gives_them(place, capsys):
    for policy in ('act', 'pi0'):
        for name in ('1', '2'):
            bag = robot_bag(place / policy / f'{policy}_{name}', episode_id='', outcome=0)
            assert bag.is_dir()
    assert main(['compare', 'act=act', 'pi0=pi0', *FAST]) == 2
    printed = capsys.readouterr().err
    head, _, rest = printed.partition('episode,policy,success\n')
    assert 'no outcome to compare' in head and 'in a CSV file instead of the bags' in head
    lines = rest.splitlines()
    assert [line.split(',')[0] for line in lines] == ['act_1', 'act_2', 'pi0_1', 'pi0_2']
    assert [line.split(',')[1:] for line in lines] == 2 * [['act', '']] + 2 * [['pi0', '']]
    done = [line + str(line.startswith('act')).lower() for line in lines]
    (place / 'outcomes.csv').write_text('\n'.join(['episode,policy,success', *done, '']))
    assert main(['compare', 'outcomes.csv', *FAST]) == 14
    assert 'p = 0.125 with 2 episodes of each policy' in capsys.readouterr().out
    assert main(['compare', 'act/act_1', *FAST]) == 2
    assert 'act_1,POLICY,\n' in capsys.readouterr().err


def test_the_terminal_acts_on_no_text_of_a_file(place, capsys):
    (place / 'o.csv').write_text(
        'episode,policy,success,notes\n1,"x\ny",1,\x1b[2J\n2,"x\ny",,\n3,z\x1b[31m,1,\n'
    )
    main(['compare', str(place / 'o.csv'), *FAST])
    printed = capsys.readouterr().out
    assert '\x1b' not in printed and r'z\x1b[31m' in printed
    assert any(line.startswith(r'x\ny  ') for line in printed.splitlines())
    assert main(['compare', str(place / 'o.csv'), *FAST, '--policies', 'w\x1b[2J']) == 2
    said = capsys.readouterr().err
    assert said == "frame-ros: no policy is called 'w\\x1b[2J'; there are: 'x\\ny', 'z\\x1b[31m'\n"


def test_names_are_chosen_as_the_file_has_them(place, capsys):
    """With letters that join, a raw line feed, and whole numbers as pandas writes them."""
    names = ('پای\u200cزیرو', '"x\ny"', 'x\\ny')
    text = ''.join(f'{name},{i < 7},{i},1.0\n' for name in names for i in range(10))
    (place / 'o.csv').write_text(f'policy,success,seed,object\n{text}')
    words = ['compare', str(place / 'o.csv'), *FAST, '--objects', '1.0', '--json']
    chosen = ['--candidate', 'پای\u200cزیرو', '--baseline', 'x\ny']
    assert main([*words, *chosen]) == 14
    found = json.loads(capsys.readouterr().out)
    assert set(found['policies']) == {'پای\u200cزیرو', 'x\ny', 'x\\ny'} and found['objects'] == [
        '1'
    ]
    assert (found['verdict']['candidate'], found['verdict']['baseline']) == tuple(chosen[1::2])
    assert main(['compare', str(place / 'o.csv'), *FAST]) == 0
    printed = capsys.readouterr().out
    assert "policies 'x\\ny' and 'x\\\\ny' differ only by" in printed and 'پای\u200cزیرو' in printed
    assert main([*words, '--policies', 'x\ny,پایزیرو']) == 2
    assert "did you mean 'پای\u200cزیرو'" in capsys.readouterr().err


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


def test_what_episodes_can_find_is_the_same_in_both_directions(place, capsys):
    file = write(place / 'outcomes.csv', *rows('a', 5, 40), *rows('b', 8, 40))
    found = []
    for baseline, candidate in (('a', 'b'), ('b', 'a')):
        given = ['--json', '--baseline', baseline, '--candidate', candidate]
        assert main(['compare', file, *FAST, *given]) == 14
        found.append(json.loads(capsys.readouterr().out)['verdict']['detectable'])
    assert found[0] == found[1] is not None


def test_episodes_without_a_partner_are_named_on_the_terminal(place, capsys):
    file = write(place / 'outcomes.csv', *rows('a', 5), *rows('b', 5, 8), 'b,true,7', 'b,true,')
    assert main(['compare', file, *FAST]) == 14
    printed = capsys.readouterr().out
    assert 'McNemar' in printed
    assert 'note: b: 1 unpaired, as it has no pair key: outcomes row 21' in printed
    assert 'note: b: 1 unpaired, as the other policy has fewer episodes of its task' in printed
    assert 'note: a: 2 unpaired, as the other policy has no episode of its task' in printed


def test_seeds_of_which_none_is_shared_are_said(place, capsys):
    other = [f'b,false,{seed}' for seed in range(100, 110)]
    file = write(place / 'outcomes.csv', *rows('a', 10), *other)
    assert main(['compare', file, *FAST, '--candidate', 'a']) == 10
    printed = capsys.readouterr().out
    assert 'The verdict rests on: Boschloo' in printed
    assert 'note: 10 episodes of a policy make 0 pairs, less than half: the test of all' in printed
    assert 'note: a: 10 unpaired' in printed and 'note: b: 10 unpaired' in printed
    plain = place / 'plain.csv'
    plain.write_text('policy,success\n' + 'a,1\n' * 5 + 'b,0\n' * 5)
    main(['compare', str(plain), *FAST])
    assert 'note:' not in capsys.readouterr().out


def test_one_content_under_two_labels_is_refused(place, capsys):
    first, second = (write(place / f'{name}.csv', *rows('p', 10)) for name in 'ab')
    assert main(['compare', f'x={first}', f'y={second}', *FAST]) == 2
    error = capsys.readouterr().err
    assert 'b.csv, given as y, has the content of ' in error and 'given as x; an episode' in error
    assert main(['compare', f'x={first}', first, *FAST]) == 2
    assert 'given as the policy that it names, has the content of' in capsys.readouterr().err
    assert main(['compare', f'x={first}', f'x={second}', *FAST]) == 0
    assert 'is a copy of' in capsys.readouterr().out


def test_names_that_are_nearly_one_are_said(place, capsys):
    file = write(place / 'outcomes.csv', *rows('ACT', 5), *rows('act', 5), *rows('pi0.5', 5))
    main(['compare', file, *FAST])
    printed = capsys.readouterr().out
    assert "note: policies 'ACT' and 'act' differ only by case, spaces, - and _, or" in printed
    assert printed.count('differ only by case') == 1


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
