# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The end-effector's path in 3D as a plotly.js description, with the robot for orientation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from frame_ros.episodes.bounds import within
from frame_ros.episodes.episode import Episode
from frame_ros.episodes.recorded.robot import known_robot
from frame_ros.reports.html.projections import (
    COLOURS,
    PathMark,
    jerk_limit,
    marked_points,
    round_length,
)
from frame_ros.reports.model.numbers import PATH_POINTS, peak_indices, plot_numbers
from frame_ros.reports.model.series import Path
from frame_ros.robots import Robot
from frame_ros.robots.transforms import product, turned

POSITION = 'x %{x:.4f} m<br>y %{y:.4f} m<br>z %{z:.4f} m'
MOST_MARKS = 200
PADDING = 0.05  # of the largest extent, around what is drawn
LEAST_EXTENT = 0.02  # m
INTERVALS = 5  # of the grid, over the largest extent
# Of the camera: where it looks from, and its distance in radii of what is drawn. Plotly opens 45
# degrees: 2.6 radii just hold the sphere, the rest is for ticks and titles.
DIRECTION = (0.62, -0.68, 0.42)
DISTANCE = 2.6
ROBOT = '#8a939c'


@dataclass(frozen=True)
class RobotOutline:
    """Origins of the links from base to tip, (L, 3) in m, in the frame of the path: in the first
    and in the last posture of an episode.
    """

    robot: str
    start: NDArray[np.float64]
    end: NDArray[np.float64]


def robot_outline(episode: Episode) -> RobotOutline | None:
    """Returns the outline; None where the robot is not known, its joint states were not recorded,
    or the poses are in another frame than that of its base.
    """
    joints, pose = episode.streams.get('joint_states'), episode.streams.get('pose')
    robot = known_robot(episode)
    if robot is None or joints is None or pose is None or 'positions' not in joints.values:
        return None
    if pose.frame_id.split('/')[-1] not in ('', robot.base_link):
        return None
    joints = within(episode, joints)
    if not len(joints):
        return None
    names, positions = joints.values['names'], joints.values['positions']
    drawn = [_links(robot, dict(zip(names[i], positions[i]))) for i in (0, -1)]
    if not all(np.isfinite(points).all() for points in drawn):
        return None
    return RobotOutline(robot.name, *drawn)


def path_figure(path: Path, outline: RobotOutline | None = None) -> dict[str, Any]:
    """The path coloured by jerk, with start, end, contacts and collisions, and the robot's links in
    its first and last posture; axes of equal scale, the camera so that all of it is in view.
    """
    kept = peak_indices(np.nan_to_num(path.jerk), PATH_POINTS)
    robot = [] if outline is None else _robot_traces(outline)
    marks = [_marks_trace(mark, points) for mark, points in marked_points(path)]
    drawn = [path.positions] + ([outline.start, outline.end] if outline else [])
    return {
        'kind': 'path',
        'data': [*robot, _path_trace(path, kept), *marks],
        'layout': {
            'scene': _scene(np.concatenate(drawn)),
            'height': 600,
            'margin': {'l': 0, 'r': 0, 't': 0, 'b': 0},
            'showlegend': False,
        },
    }


def _scene(points: NDArray[np.float64]) -> dict[str, Any]:
    """Axes of equal scale over points (N, 3), and the camera."""
    low, high = points.min(axis=0), points.max(axis=0)
    extent = max(float((high - low).max()), LEAST_EXTENT)
    centre = (low + high) / 2
    half = np.maximum((high - low) / 2, extent / 8) + PADDING * extent
    tick = round_length(extent / INTERVALS)
    ratio = half / half.max()
    radius = float(np.linalg.norm(ratio)) / 2
    eye = np.array(DIRECTION) / np.linalg.norm(DIRECTION) * DISTANCE * radius
    axes = {
        f'{name}axis': {
            'title': {'text': f'{name} (m)'},
            'range': plot_numbers((centre[i] - half[i], centre[i] + half[i])),
            'dtick': tick,
            'tick0': 0,
        }
        for i, name in enumerate('xyz')
    }
    return {
        **axes,
        'domain': {'x': [0, 1], 'y': [0.11, 1]},
        'aspectmode': 'manual',
        'aspectratio': dict(zip('xyz', plot_numbers(ratio))),
        'camera': {
            'eye': dict(zip('xyz', plot_numbers(eye))),
            'center': {'x': 0, 'y': 0, 'z': -0.06},
        },
    }


def _path_trace(path: Path, kept: Any) -> dict[str, Any]:
    jerk = plot_numbers(np.nan_to_num(path.jerk[kept]), 4)
    hover = f't %{{customdata:.2f}} s<br>{POSITION}<br>jerk %{{line.color:.4g}} m/s³'
    return {
        'type': 'scatter3d',
        'mode': 'lines',
        'name': 'path',
        **_coordinates(path.positions[kept]),
        'customdata': plot_numbers(path.time[kept]),
        'hovertemplate': hover + '<extra></extra>',
        'line': {
            'width': 6,
            'color': jerk,
            'colorscale': [[i / (len(COLOURS) - 1), colour] for i, colour in enumerate(COLOURS)],
            'cmin': 0,
            'cmax': float(f'{jerk_limit(path):.3g}'),
            'showscale': True,
            'colorbar': {
                'title': {'text': 'jerk (m/s³)', 'side': 'top'},
                'orientation': 'h',
                'thickness': 10,
                'len': 0.7,
                'y': 0,
                'yanchor': 'bottom',
                'nticks': 5,
            },
        },
    }


def _marks_trace(mark: PathMark, points: NDArray[np.float64]) -> dict[str, Any]:
    return {
        'type': 'scatter3d',
        'mode': 'markers',
        'name': mark.name,
        **_coordinates(points[:MOST_MARKS]),
        'marker': {'size': mark.size, 'color': mark.colour, 'symbol': mark.symbol},
        'hovertemplate': f'{mark.name}<br>{POSITION}<extra></extra>',
    }


def _robot_traces(outline: RobotOutline) -> list[dict[str, Any]]:
    """The links at start (solid) and end (dashed) of the episode, and the base."""
    hidden = {'hoverinfo': 'skip'}
    lines = [
        {
            'type': 'scatter3d',
            'mode': 'lines+markers',
            'name': f'{outline.robot} at the {when}',
            **_coordinates(points),
            'line': {'width': 5, 'color': ROBOT, 'dash': dash},
            'marker': {'size': 2.5, 'color': ROBOT},
            'opacity': opacity,
            **hidden,
        }
        for when, points, dash, opacity in (
            ('start', outline.start, 'solid', 0.8),
            ('end', outline.end, 'dash', 0.55),
        )
    ]
    base = {
        'type': 'scatter3d',
        'mode': 'markers',
        'name': 'base',
        **_coordinates(outline.start[:1]),
        'marker': {'size': 6, 'color': ROBOT, 'symbol': 'square'},
        **hidden,
    }
    return [*lines, base]


def _coordinates(points: NDArray[np.float64]) -> dict[str, list[float | None]]:
    return {name: plot_numbers(points[:, i]) for i, name in enumerate('xyz')}


def _links(robot: Robot, positions: dict[str, float]) -> NDArray[np.float64]:
    """Origins of base, links and tip, (L, 3)."""
    chain = [robot.tip_link]
    while (parent := robot.parent_of(chain[-1])) is not None:
        chain.append(parent)
    poses = robot.link_poses({str(name): float(value) for name, value in positions.items()})
    at, rotation = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0, 1.0)
    points = [at]
    for link in chain[-2::-1]:
        translation, quaternion = poses[link]
        x, y, z = turned(rotation, tuple(translation))
        at = at[0] + x, at[1] + y, at[2] + z
        points.append(at)
        rotation = product(rotation, tuple(quaternion))
    return np.array(points)
