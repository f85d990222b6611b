# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The pictures of one episode: path, time series, cameras."""

from __future__ import annotations

from typing import Any

from frame_ros.episodes.episode import Episode
from frame_ros.reports.html.figures import PANEL_HEIGHT, SURROUND, is_thinned, series_figure
from frame_ros.reports.html.media import Still, camera_stills
from frame_ros.reports.html.page_frame import as_json_script
from frame_ros.reports.html.path_figure import path_figure, robot_outline
from frame_ros.reports.html.projections import jerk_limit, marked_points, view_svg
from frame_ros.reports.model.series import contact_sensing, operator_spans, panels, path

TOP, SIDE = (0, 1), (0, 2)


def episode_pictures(episode: Episode) -> dict[str, Any]:
    """Returns what the template draws of an episode, figures as the JSON of the page: as numbers
    they would take ten times the memory.
    """
    drawn, made, outline = path(episode), panels(episode), robot_outline(episode)
    bag, cameras = episode.open_bag(), dict[str, list[Still]]()
    for picture in camera_stills(episode, bag) if bag else ():
        cameras.setdefault(picture.camera, []).append(picture)
    return {
        'path': drawn and as_json_script(path_figure(drawn, outline)),
        'path_marks': [mark for mark, _ in marked_points(drawn)] if drawn else [],
        'outline': outline,
        'top_view': drawn and view_svg(drawn, TOP, 'Top view'),
        'side_view': drawn and view_svg(drawn, SIDE, 'Side view'),
        'jerk_limit': drawn and jerk_limit(drawn),
        'series': (figure := series_figure(episode, made)) and as_json_script(figure),
        'series_height': PANEL_HEIGHT * sum(not panel.is_empty for panel in made) + SURROUND,
        'is_thinned': is_thinned(made),
        'empty_panels': [panel.title for panel in made if panel.is_empty],
        'is_contact_lost': contact_sensing(episode).lost > 0,
        'has_operator': bool(operator_spans(episode)),
        'cameras': list(cameras.items()),
    }
