# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Topics and services of the episode recorder."""

from __future__ import annotations

from frame_ros.core.topics import NodeTopics, Service, Topic
from frame_ros.nodes.runtime.topics import CLOCK, EPISODE_EVENTS, READINESS

EVERYTHING = Topic('{topic}', '', 'what `include`, `exclude` and `also` choose')
START = Service('start_episode', 'frame_ros/srv/StartEpisode', 'starts an episode and its bag')
MARK = Service('mark_episode', 'frame_ros/srv/MarkEpisode', 'adds an event to the episode')
END = Service('end_episode', 'frame_ros/srv/EndEpisode', 'ends the episode and closes its bag')

TOPICS = NodeTopics(
    publishes=(EPISODE_EVENTS,),
    subscribes=(READINESS, CLOCK.when('with `use_sim_time`'), EVERYTHING.when('while active')),
    serves=(START, MARK, END),
)
