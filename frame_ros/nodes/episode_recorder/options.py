# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The episode recorder's options."""

from __future__ import annotations

import os

from frame_ros.bags.recording.options import RecordingOptions
from frame_ros.core.options import group, option, options, rule
from frame_ros.nodes.runtime.options import ManagedOptions

# Markers only serve the display, and so do the proximity node's cloud and the overlay's images,
# which are large.
DISPLAY = (
    '.*/(transition_event|metric_markers)', '.*/proximity/points', '.*/scene_overlay/image',
)  # fmt: skip


@options
class TopicOptions:
    """Recorded topics. A regular expression is matched against the whole name of a topic, absolute
    or relative to the namespace.
    """

    include: tuple[str, ...] = option(
        (),
        "regular expressions; empty: all topics in this node's namespace, and /tf, /tf_static, "
        '/clock, /diagnostics',
    )
    also: tuple[str, ...] = option((), 'further names, of any namespace')
    exclude: tuple[str, ...] = option(
        ('/rosout', '/parameter_events', '.*/_.*', *DISPLAY),
        'regular expressions of what is left out, whatever the others say',
    )
    expected: tuple[str, ...] = option(
        (),
        'names of topics that must send in every episode; one that does not is warned of and noted '
        "in episode.json, as is a sensor's stream that has sent before",
    )
    discovery_period: float = option(
        0.5, 'time between two looks for new topics', unit='s', above=0.0
    )


@options
class EpisodeRecorderOptions(RecordingOptions, ManagedOptions):
    """Episode recorder (lifecycle node): a bag per episode; what is live holds from the next on."""

    enabled: bool = option(True, 'write bags; false: services and events only')
    directory: str = option('runs', 'folder for the bags, one folder per episode', live=True)
    prefix: str = option(
        'episode',
        'bags are named <namespace>_<prefix>_<date>_<time>_<number>',
        live=True,
    )
    robot_name: str = option(
        '',
        "robot's name, profile or URDF, written in each episode's facts where start_episode names "
        "none; '': not written",
        live=True,
    )
    nodes: tuple[str, ...] = option(
        (),
        'names of nodes, relative to the namespace, without which an episode does not begin; '
        'others are waited for once they run',
    )
    ready_timeout: float = option(
        5.0,
        'time that start_episode waits until every node is connected to its inputs, and its steady '
        'inputs deliver',
        unit='s',
        at_least=0.0,
        live=True,
    )
    require_ready: bool = option(
        False,
        'start_episode refuses when they are not ready; false: it begins with a warning, and the '
        'attribute not_ready',
        live=True,
    )
    announce: float = option(
        0.1,
        'time ahead of START and END at which they are published',
        unit='s',
        at_least=0.0,
        live=True,
    )
    post_roll: float = option(
        1.0,
        'time behind END that is still recorded; the metrics node publishes the summary up to '
        '0.6 s behind',
        unit='s',
        at_least=0.0,
        live=True,
    )
    late_wait: float = option(
        3.0,
        'time after that for which ee_pose, contact and proximity are recorded while their stamps '
        'have not come up to END, as on a busy computer',
        unit='s',
        at_least=0.0,
        live=True,
    )
    poll_period: float = option(
        0.004, 'time between two looks for new messages', unit='s', above=0.0, at_most=0.1
    )
    video_topic: str = option(
        'front/image_raw',
        "image topic of which an MP4 is made next to each bag; '': none",
        live=True,
    )
    topics: TopicOptions = group(TopicOptions)

    @rule('directory', 'a folder; ~ stands for the home of a user that there is')
    def _has_home(self) -> bool:
        return not os.path.expanduser(self.directory).startswith('~')

    @rule('prefix', 'a part of a file name, without /')
    def _is_name(self) -> bool:
        return '/' not in self.prefix
