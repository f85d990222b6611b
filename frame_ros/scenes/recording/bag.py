# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The bag of an episode that ran in a scene without ROS."""

from __future__ import annotations

import json
import math
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from frame_ros.bags.messages import MessageMaker
from frame_ros.bags.recording.session import ReceivedMessage, RecordedTopic
from frame_ros.bags.streams.events import EVENT_TEXT_FIELDS, EVENT_TYPE
from frame_ros.bags.streams.topic_map import SETTINGS_TOPIC
from frame_ros.bags.writer import PARTIAL_SUFFIX, BagWriter, TopicQos
from frame_ros.core.errors import BagError
from frame_ros.core.events import Event, EventType, Outcome
from frame_ros.core.version import package_version
from frame_ros.episodes.episode import Episode
from frame_ros.scenes.recording.contents import stream_messages, topic_of
from frame_ros.scenes.recording.details import EpisodeDetails
from frame_ros.scenes.recording.pictures import unzipped

LATCHED = [TopicQos(durability='transient_local', depth=50)]
# Facts that the bag has in another form.
NOT_FACTS = (*EVENT_TEXT_FIELDS, SETTINGS_TOPIC)


def write_episode_bag(
    folder: Path, episode: Episode, details: EpisodeDetails, facts: Mapping[str, str]
) -> None:
    """Writes an episode as a bag like those of the episode recorder; one that is there, finished or
    not, is replaced. Times are those of the simulation. The same episode gives the same messages.

    Args:
        folder: of the bag.
        details: of the same episode.
        facts: further ones, of its START and of the bag; also 'object', what the task is about.

    Raises:
        BagError: it cannot be written; nothing of it is left.
    """
    # As of the episode recorder, an episode has the name of its bag.
    events = [replace(each, episode_id=folder.name) for each in episode.events]
    episode = replace(episode, episode_id=folder.name, events=events)
    known = {**episode.attributes, **facts}
    texts = {name: known.get(name, '') for name in EVENT_TEXT_FIELDS}
    others = {name: value for name, value in known.items() if name not in NOT_FACTS}
    others |= {'frame_ros_version': package_version(), 'namespace': '/'}
    start, end = episode.events[0], episode.events[-1]
    messages = [
        *_events(episode.events, texts, others), _settings(episode), *details.pictures.messages,
        *stream_messages(episode, details),
    ]  # fmt: skip
    messages.sort(key=lambda message: message.received)
    about = {'episode_id': episode.episode_id, **texts, 'notes': '', 'start': str(start.stamp)}
    _remove(folder)
    _write(folder, {**others, **about}, messages, end)


def _write(
    folder: Path, metadata: Mapping[str, str], messages: Sequence[ReceivedMessage], end: Event
) -> None:
    # Parts by size, not by the clock: the same episode gives the same file.
    writer = BagWriter(folder, metadata, flush_period=math.inf)
    try:
        channels: dict[str, int] = {}
        for message in messages:
            topic = message.topic
            if topic.name not in channels:
                channels[topic.name] = writer.add_topic(
                    topic.name, topic.definition.message_type, topic.definition,
                    topic.qos or (TopicQos(),),
                )  # fmt: skip
            data = unzipped(message.data)
            writer.write(channels[topic.name], message.received, data, message.published)
        known = {'outcome': Outcome(end.outcome).name, 'end': str(end.stamp), 'end_notes': ''}
        writer.finish({**known, 'dropped_messages': 0}, dropped={}, outcome=int(end.outcome))
    except (OSError, BagError) as error:
        writer.discard()
        raise BagError(f'the bag {folder} cannot be written: {error}') from error
    except BaseException:
        writer.close()
        raise


def _remove(folder: Path) -> None:
    """Removes a bag of this name, of a trial that was interrupted before its result was written."""
    for each in (folder, folder.with_name(folder.name + PARTIAL_SUFFIX)):
        try:
            shutil.rmtree(each)
        except FileNotFoundError:
            pass
        except OSError as error:
            raise BagError(f'{each} cannot be replaced: {error}') from error


def _events(
    events: Sequence[Event], texts: Mapping[str, str], facts: Mapping[str, str]
) -> Iterator[ReceivedMessage]:
    maker = MessageMaker(EVENT_TYPE)
    topic = RecordedTopic(topic_of('event'), maker.definition, LATCHED)
    pairs = [{'key': key, 'value': value} for key, value in facts.items()]
    for event in events:
        more = {**texts, 'attributes': pairs} if event.type is EventType.START else {}
        data = maker.data(
            header={'stamp': event.stamp}, type=int(event.type), outcome=int(event.outcome),
            episode_id=event.episode_id, source=event.source, text=event.text, **more,
        )  # fmt: skip
        yield ReceivedMessage(topic, event.stamp, event.stamp, data)


def _settings(episode: Episode) -> ReceivedMessage:
    """The settings of the metrics, with the topics that they were computed from."""
    maker = MessageMaker('std_msgs/msg/String')
    roles = ('pose', 'action', 'contact', 'proximity', 'inference', 'object', 'goal', 'grasp')
    settings = json.loads(episode.attributes[SETTINGS_TOPIC])
    settings |= {'topics': {role: topic_of(role) for role in roles}, 'known': {}}
    topic = RecordedTopic(f'/{SETTINGS_TOPIC}', maker.definition, LATCHED)
    stamp = episode.events[0].stamp
    return ReceivedMessage(topic, stamp, stamp, maker.data(data=json.dumps(settings)))
