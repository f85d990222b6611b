# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""`frame-ros correlate`: tables, JSON and page from bags and a file of labels."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from bag_making import pose
from robot_bags import commands, inference, robot_bag, step_stamp

from frame_ros.cli import main

STEPS = 40
LEVELS = ('high', 'medium', 'low')


def shaky_poses(size: float, seed: int) -> list[tuple]:
    """A pose at each step that moves on, and shakes by `size` m."""
    rng = np.random.default_rng(seed)
    places = 0.01 * np.arange(STEPS) + rng.normal(0, size, STEPS)
    return [
        ('/ee_pose', step_stamp(i) - 500_000, pose(step_stamp(i) - 500_000, float(x)))
        for i, x in enumerate(places)
    ]


@pytest.fixture(scope='module')
def study(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """(labels, folder of bags): the poses shake the more the worse the label, most in failures."""
    folder = tmp_path_factory.mktemp('study')
    rows = ['episode,label,rater']
    wanted = commands(STEPS)
    samples = np.random.default_rng(0).normal(size=(3, 6, 6))
    chunk = inference(5, wanted[5:11], sample_count=3, samples=samples.ravel(), latency=0.02)
    for i in range(16):
        level = i % 4
        extra = shaky_poses(1e-4 * 4**level * (1 + 0.02 * i), i)
        robot_bag(
            folder / 'runs' / f'e{i}', [*extra, chunk], {'policy': 'act'}, count=STEPS,
            cameras=(), episode_id=f'e{i}', outcome=2 if level == 3 else 1,
        )  # fmt: skip
        if level < 3:
            rows += [f'e{i},{LEVELS[level]},ann', f'e{i},{LEVELS[level if i else 1]},bo']
    labels = folder / 'labels.csv'
    labels.write_text('\n'.join([*rows, 'e0,high,cy', 'gone,low,ann']))
    return labels, folder / 'runs'


def test_json(study: tuple[Path, Path], capsys: pytest.CaptureFixture[str]):
    labels, bags = study
    assert main(['correlate', str(labels), str(bags), '--json', '-q']) == 0
    data = json.loads(capsys.readouterr().out)
    assert data['format'] == 'frame_ros discrimination 1'
    (group,) = data['groups']
    assert (group['high'], group['medium'], group['low'], group['failures']) == (4, 4, 4, 4)
    by_metric = {row['metric']: row for row in data['correlations']}
    assert by_metric['ti']['rho'] > 0.9 and by_metric['ti']['strength'] == 'strong'
    assert by_metric['ti']['p_holm'] >= by_metric['ti']['p'] > 0.0
    effects = {(row['metric'], row['level']): row for row in data['effects']}
    assert effects['ti', 'high']['a12'] == 0.0 and effects['ti', 'high']['magnitude'] == 'large'
    # 4 against 4, completely apart: 2 of 70 divisions are as far.
    assert effects['ti', 'high']['p'] == pytest.approx(2 / 70)
    pairs = {(a['first'], a['second']): a for a in data['agreement']}
    assert pairs['ann', 'bo']['episodes'] == 12 and pairs['ann', 'bo']['same'] == 11 / 12
    (times,) = data['inference_times']
    assert (times['samples'], times['count'], times['mean']) == (3, 16, pytest.approx(0.02))
    costs = {row['family']: row for row in data['metric_times']}
    assert costs['AI']['count'] and costs['TCP']['count'] and costs['TI']['mean'] > 0
    assert costs['EV']['count'] == 16 and costs['TB']['remark'] == 'no token statistics in a bag'
    assert data['remarks'] == ['labelled, but not among the bags: gone']


def test_tables_and_page(
    study: tuple[Path, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    labels, bags = study
    page = tmp_path / 'page.html'
    given = ['correlate', str(labels), str(bags), '-o', str(page), '--title', 'A <b> study', '-q']
    assert main(given) == 0
    out = capsys.readouterr().out
    assert 'pick: act' in out and 'raters ann and bo: kappa' in out and f'the page: {page}' in out
    text = page.read_text()
    assert '<title>A &lt;b&gt; study</title>' in text
    for words in ('quality (RQ2)', 'RMS jerk', '"type":"violin"', 'Overhead (RQ4)'):
        assert words in text
    assert 'http://' not in text.split('<script>')[0]


def test_metrics_can_be_named(study: tuple[Path, Path], capsys: pytest.CaptureFixture[str]):
    labels, bags = study
    assert main(['correlate', str(labels), str(bags), '--json', '-q', '--metrics', 'ti,pl']) == 0
    data = json.loads(capsys.readouterr().out)
    assert [row['metric'] for row in data['correlations']] == ['ti', 'pl']


@pytest.mark.parametrize(
    ('change', 'words'),
    [
        (lambda given, folder: given.__setitem__(1, str(folder / 'no.csv')), 'cannot be read'),
        (lambda given, folder: given.__setitem__(2, str(folder)), 'is not a bag'),
        (lambda given, folder: given.extend(['--metrics', 'nosuch']), "no metric 'nosuch'"),
        (lambda given, folder: given.extend(['-o', given[1]]), 'labels.csv'),
        (lambda given, folder: given.extend(['--least', '1']), 'least'),
    ],
)
def test_bad_input_is_named(study, tmp_path, capsys, change, words):
    given = ['correlate', str(study[0]), str(study[1]), '-q']
    change(given, tmp_path)
    before = study[0].read_text()
    assert main(given) == 2
    assert words in capsys.readouterr().err
    assert study[0].read_text() == before


def test_episodes_that_are_left_out_are_named_with_the_reason(study, tmp_path, capsys):
    labels, bags = study
    other = tmp_path / 'labels.csv'
    other.write_text(labels.read_text() + '\ne3,low,ann\ne7,low,ann')
    assert main(['correlate', str(other), str(bags), '-o', str(tmp_path / 'x.html'), '-q']) == 0
    out = capsys.readouterr().out
    assert 'left out, pick: act: 2: recorded as a failure, labelled as a success' in out


def test_files_of_the_bags_are_not_overwritten(study, capsys: pytest.CaptureFixture[str]):
    labels, bags = study
    file = bags / 'e3' / 'metadata.yaml'
    before = file.read_text()
    assert main(['correlate', str(labels), str(bags), '-o', str(file), '-q']) == 2
    assert f'is a file that is read: {file}' in capsys.readouterr().err
    assert file.read_text() == before


def test_a_bag_that_is_given_twice_counts_once(study, capsys: pytest.CaptureFixture[str]):
    labels, bags = study
    given = [
        'correlate',
        str(labels),
        str(bags / 'e3'),
        str(bags),
        '--json',
        '-q',
        '--metrics',
        'ti',
    ]
    assert main(given) == 0
    (group,) = json.loads(capsys.readouterr().out)['groups']
    assert (group['episodes'], group['failures']) == (16, 4)


def test_a_copied_bag_counts_once_and_may_be_labelled_by_its_name(
    study, tmp_path, capsys: pytest.CaptureFixture[str]
):
    labels, bags = study
    for place in (0, 3):
        shutil.copytree(bags / f'e{place}', tmp_path / f'copy_{place}')
    renamed = tmp_path / 'labels.csv'
    renamed.write_text(labels.read_text().replace('e0,high,cy', 'copy_0,high,cy'))
    found = []
    for given in ([labels, bags], [renamed, bags, tmp_path / 'copy_0', tmp_path / 'copy_3']):
        words = [*map(str, given), '--json', '-q', '--metrics', 'ti']
        assert main(['correlate', *words]) == 0
        found.append(json.loads(capsys.readouterr().out))
    remarks = [each.pop('remarks') for each in found]
    assert [text for text in remarks[1] if text not in remarks[0]] == [
        f'recorded twice, counted once: {tmp_path / "copy_0"} (as {bags / "e0"}), '
        f'{tmp_path / "copy_3"} (as {bags / "e3"})'
    ]
    assert found[0]['groups'] == found[1]['groups'] and found[0]['effects'] == found[1]['effects']
    assert [each['samples'] for each in found[0]['inference_times']] == [
        each['samples'] for each in found[1]['inference_times']
    ]


def test_the_star_of_the_tables_is_that_of_the_page(study, capsys, tmp_path: Path):
    """Of 4 against 4 episodes no comparison is significant among three: exact p = 2 / 70 each."""
    labels, bags = study
    page = tmp_path / 'page.html'
    given = ['correlate', str(labels), str(bags), '-q', '--metrics', 'ti', '-o', str(page)]
    assert main(given) == 0
    out = capsys.readouterr().out
    row = next(
        line.split() for line in out.splitlines() if line.startswith('ti ') and ' strong ' in line
    )
    assert row[1].endswith('*') and row[4:] == ['0', '0', '0']
    assert "* p < 0.05 after Holm's adjustment" in out
    assert '0.00*' not in page.read_text()


def test_token_statistics_are_timed(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    """Inferences of different numbers of tokens."""
    labels = tmp_path / 'labels.csv'
    labels.write_text('episode,label\ne0,high\n')
    sizes = {'max_probability': 0.5, 'second_probability': 0.2, 'entropy': 1.0}
    chunks = [
        inference(
            step, commands(STEPS)[step : step + 6], vocabulary_size=8, latency=0.02,
            token_sum_of_squares=np.full(count, 0.3),
            **{f'token_{name}': np.full(count, value) for name, value in sizes.items()},
        )
        for step, count in ((5, 4), (11, 6))
    ]  # fmt: skip
    robot_bag(tmp_path / 'e0', chunks, {'policy': 'act'}, count=STEPS, cameras=(), episode_id='e0')
    assert main(['correlate', str(labels), str(tmp_path / 'e0'), '--json', '-q']) == 0
    data = json.loads(capsys.readouterr().out)
    assert data['metric_times'][0]['family'] == 'TB' and data['metric_times'][0]['count'] == 2
    assert [(row['has_tokens'], row['count']) for row in data['inference_times']] == [(True, 2)]


@pytest.mark.parametrize(
    'fields',
    [
        {'sample_count': 3, 'samples': np.zeros(20)},
        {
            'vocabulary_size': 8, 'token_max_probability': np.array([0.5, 2.0]),
            'token_second_probability': np.array([0.1]), 'token_entropy': np.array([0.5, -1.0]),
            'token_sum_of_squares': np.array([0.3, 0.3]),
        },
    ],
)  # fmt: skip
def test_damaged_inferences_are_no_reason_to_fail(fields, tmp_path: Path, capsys):
    """Fewer samples than the shape says; token statistics of different lengths, out of range."""
    chunk = inference(5, commands(STEPS)[5:11], latency=0.02, **fields)
    labels = tmp_path / 'labels.csv'
    labels.write_text('episode,label\ne0,high\n')
    robot_bag(tmp_path / 'e0', [chunk], {'policy': 'act'}, count=STEPS, cameras=(), episode_id='e0')
    assert main(['correlate', str(labels), str(tmp_path / 'e0'), '--json', '-q']) == 0
    costs = {row['family']: row for row in json.loads(capsys.readouterr().out)['metric_times']}
    assert costs['EV']['count'] == 0
