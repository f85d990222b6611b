# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The path's pictures: the robot for orientation, one symbol for one thing, what an axis leaves
out.
"""

import re
from dataclasses import replace
from importlib.resources import files

import numpy as np
import pytest
from synthetic_episodes import BEGIN, synthetic_episode

from frame_ros.bags.streams.form import Stream
from frame_ros.core.time import SECOND
from frame_ros.reports.html.figures import series_figure
from frame_ros.reports.html.page import build_report
from frame_ros.reports.html.path_figure import path_figure, robot_outline
from frame_ros.reports.html.projections import MARKS, SHAPES, view_svg
from frame_ros.reports.model.series import panels, path
from frame_ros.robots import load_robot


def with_joints(robot: str, first: float, last: float):
    """An episode whose arm moves every joint from `first` to `last`, rad."""
    episode = synthetic_episode(0)
    names = load_robot(robot).joint_names
    stamps = BEGIN + np.array([-1, 0, 4, 8, 9]) * SECOND
    values = np.array([0.9, first, 0.0, last, 0.9])[:, None] * np.ones(len(names))
    columns = {'names': np.array([names] * 5), 'positions': values}
    joints = Stream('/joint_states', 'sensor_msgs/msg/JointState', stamps, stamps, columns)
    episode.streams['joint_states'] = joints
    episode.streams['pose'] = replace(episode.streams['pose'], frame_id='base_link')
    episode.attributes['robot'] = robot
    return episode


def test_the_outline_goes_from_the_base_to_the_tip_in_both_postures():
    robot = load_robot('so101')
    outline = robot_outline(with_joints('so101', 0.1, -0.2))
    for points, value in ((outline.start, 0.1), (outline.end, -0.2)):
        np.testing.assert_array_equal(points[0], 0.0)
        tip, _ = robot.forward(np.full(len(robot.joint_names), value))
        np.testing.assert_allclose(points[-1], tip, atol=1e-9)


def test_no_robot_is_drawn_where_it_would_not_be_true():
    episode = with_joints('so101', 0.1, -0.2)
    episode.streams['pose'] = replace(episode.streams['pose'], frame_id='camera')
    assert robot_outline(episode) is None
    assert 'The robot is not drawn' in build_report([episode])
    episode = with_joints('so101', 0.1, -0.2)
    episode.attributes['robot'] = 'of nobody'
    assert robot_outline(episode) is None
    assert robot_outline(synthetic_episode(0)) is None


def test_the_camera_holds_path_and_robot():
    episode = with_joints('so101', 0.1, -0.2)
    outline = robot_outline(episode)
    figure = path_figure(path(episode), outline)
    scene = figure['layout']['scene']
    drawn = np.concatenate([outline.start, outline.end, path(episode).positions])
    for i, axis in enumerate('xyz'):
        low, high = scene[f'{axis}axis']['range']
        assert low < drawn[:, i].min() and drawn[:, i].max() < high
    eye = np.array(list(scene['camera']['eye'].values()))
    ratio = np.array(list(scene['aspectratio'].values()))
    # Plotly's camera opens 45 degrees: the sphere around the box is within it.
    assert np.linalg.norm(eye) > np.linalg.norm(ratio) / 2 / np.sin(np.radians(22.5)) * 0.99
    assert {'base', 'so101 at the start', 'so101 at the end'} <= {t['name'] for t in figure['data']}


def test_one_thing_has_one_symbol_in_every_view():
    drawn = path(synthetic_episode(0))
    traces = {t['name']: t for t in path_figure(drawn)['data'] if t['mode'] == 'markers'}
    views = [view_svg(drawn, axes, 'view') for axes in ((0, 1), (0, 2))]
    shown = [mark for mark in MARKS if mark.name in traces]
    assert {mark.name for mark in shown} >= {'start', 'end', 'contact begins'}
    for mark in shown:
        assert traces[mark.name]['marker']['symbol'] == mark.symbol
        for view in views:
            assert f'class="mark {mark.kind}"' in view and SHAPES[mark.symbol] in view
    assert len({mark.symbol for mark in MARKS}) == len(MARKS)


def test_names_of_upright_axes_are_not_cut_where_texts_are_large():
    """A turned text reaches as far to the left of its baseline as its size says."""
    css = files('frame_ros.reports').joinpath('html', 'page_assets', 'report.css').read_text()
    sizes = re.findall(r'\.view (?:text|\.heading)[^{]*\{[^}]*font-size: (\d+)px', css)
    svg = str(view_svg(path(with_joints('fr3', 0.1, 0.2)), (0, 1), 'Top view'))
    (baseline,) = re.findall(r'rotate\(-90 (\d+) ', svg)
    assert int(baseline) >= max(map(int, sizes)) == 18


@pytest.mark.parametrize(('zeros', 'text'), [(1, 'without 1 zero<'), (12, 'without 12 zeros<')])
def test_a_logarithmic_axis_says_how_many_zeros_it_leaves_out(zeros, text):
    episode = synthetic_episode(0)
    for name in ('tcp_pi', 'tcp_vi', 'tcp_ai'):
        values = episode.metrics['quality'][name]
        values[values == 0] = 1e-3
    episode.metrics['quality']['tcp_pi'][20 : 20 + zeros] = 0.0
    notes = series_figure(episode, panels(episode))['layout']['annotations']
    (heading,) = [n['text'] for n in notes if 'TCP instability' in n['text']]
    assert 'log axis' in heading and text in heading
    (speed,) = [n['text'] for n in notes if 'TCP speed' in n['text']]
    assert 'log axis' not in speed
