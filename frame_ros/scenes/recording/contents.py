# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The messages of an episode's streams, with the names, types and fields of a recorded run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from frame_ros.bags.fields import FieldWriter
from frame_ros.bags.messages import MessageMaker
from frame_ros.bags.recording.session import ReceivedMessage, RecordedTopic
from frame_ros.bags.streams.form import Stream
from frame_ros.bags.streams.joints import JOINT_TYPE
from frame_ros.bags.streams.poses import ORIENTATION, POSE_TYPE, POSITION
from frame_ros.bags.streams.table import STREAMS
from frame_ros.bags.streams.topic_map import TRUTH
from frame_ros.confidence.inference_uncertainty import CHUNK_VALUES
from frame_ros.episodes.episode import Episode
from frame_ros.policies.protocol import Inference, TokenStatistics
from frame_ros.scenes.recording.details import EpisodeDetails, StepDetails

SIMULATOR = 1  # SOURCE_SIMULATOR of ContactState and Proximity
OF_TRUTH = ('contact', 'proximity', 'object', 'goal')  # as the simulation knows them
NAN = float('nan')
Messages = Iterator[ReceivedMessage]


def topic_of(role: str) -> str:
    """Returns the absolute name of a role's topic in such a bag."""
    name = STREAMS[role].topics[0]
    return f'/{TRUTH}/{name}' if role in OF_TRUTH else f'/{name}'


def stream_messages(episode: Episode, details: EpisodeDetails) -> Messages:
    """Yields the messages of all streams, one stream after the other."""
    streams, base = episode.streams, details.base
    yield from _joints('joint_states', streams['joint_states'], details)
    yield from _poses('pose', streams['pose'], base)
    for role in ('object', 'goal'):
        yield from _targets(role, streams[role], [getattr(s, role) for s in details.steps], base)
    contacts = (_contact(base, step) for step in details.steps)
    yield from _with_values('contact', streams['contact'], contacts, _contact_flags)
    distances = (_proximity(base, step) for step in details.steps)
    yield from _with_values('proximity', streams['proximity'], distances, ('distance',))
    grasp = ({'source': 'contact', 'position': NAN, 'effort': NAN} for _ in streams['grasp'].stamps)
    yield from _with_values('grasp', streams['grasp'], grasp, ('state', 'reason'))
    yield from inference_messages(episode, details)
    yield from _joints('action', streams['action'])


_contact_flags = ('in_contact', 'in_collision', 'force')


def _topic(role: str, maker: MessageMaker) -> RecordedTopic:
    return RecordedTopic(topic_of(role), maker.definition)


def _joints(role: str, stream: Stream, details: EpisodeDetails | None = None) -> Messages:
    """Yields JointStates; with details also velocities and efforts."""
    maker, values = MessageMaker(JOINT_TYPE), stream.values
    if not len(stream):
        return
    zeros = np.zeros(values['positions'].shape[1])
    columns, more = [values['positions']], {}
    if details is not None:
        columns += [np.array([step.velocities for step in details.steps]), values['efforts']]
        more = {'velocity': zeros, 'effort': zeros}
    blank = maker.data(name=values['names'][0], position=zeros, **more)
    writer = FieldWriter(JOINT_TYPE, blank, ('position',), *((name,) for name in more))
    topic = _topic(role, maker)
    for stamp, *rows in zip(stream.stamps.tolist(), *columns, strict=True):
        yield ReceivedMessage(topic, stamp, stamp, writer.data(stamp, *rows))


def _poses(role: str, stream: Stream, base: str) -> Messages:
    poses = np.hstack([stream.values['position'], stream.values['orientation']])
    return _targets(role, stream, poses, base)


def _targets(role: str, stream: Stream, poses: Any, base: str) -> Messages:
    """Yields poses (T, 7) of the stamps of a stream."""
    maker = MessageMaker(POSE_TYPE)
    writer = FieldWriter(
        POSE_TYPE, maker.data(header={'frame_id': base}), (*POSITION, *ORIENTATION)
    )
    topic = _topic(role, maker)
    for stamp, pose in zip(stream.stamps.tolist(), poses, strict=True):
        yield ReceivedMessage(topic, stamp, stamp, writer.data(stamp, pose))


def _with_values(
    role: str, stream: Stream, rows: Iterator[dict[str, Any]], names: Sequence[str]
) -> Messages:
    """Yields messages of details, with the values that the metrics had by these names."""
    maker = MessageMaker(STREAMS[role].message_type)
    topic = _topic(role, maker)
    columns = [stream.values[name].tolist() for name in names]
    for stamp, row, *own in zip(stream.stamps.tolist(), rows, *columns, strict=True):
        header = {'stamp': stamp, 'frame_id': row.pop('frame', '')}
        data = maker.data(header=header, **row, **dict(zip(names, own, strict=True)))
        yield ReceivedMessage(topic, stamp, stamp, data)


def _contact(base: str, step: StepDetails) -> dict[str, Any]:
    """ContactState of an instant; the net wrench is about the tip."""
    contacts = step.contacts
    force = sum((c.net_force for c in contacts), np.zeros(3))
    torque = sum((c.net_torque for c in contacts), np.zeros(3)) - np.cross(step.tip, force)
    return {
        'frame': base,
        'source': SIMULATOR,
        'wrench': {'force': force, 'torque': torque},
        'links': [c.link for c in contacts],
        'others': [c.other for c in contacts],
        'is_expected': [c.is_expected for c in contacts],
        'reasons': [c.reason for c in contacts],
        'forces': [c.force for c in contacts],
        'peak_forces': [c.peak_force for c in contacts],
        'durations': [c.duration for c in contacts],
        'impulses': [c.impulse for c in contacts],
        'positions': [c.position for c in contacts],
        'normals': [c.normal for c in contacts],
    }


def _proximity(base: str, step: StepDetails) -> dict[str, Any]:
    least = step.distance
    points = list(least.link_points.values())
    return {
        'frame': base,
        'source': SIMULATOR,
        'sources': ['simulator'],
        'link': least.link,
        'obstacle': least.obstacle,
        'point_on_robot': least.point_on_robot,
        'point_on_obstacle': least.point_on_obstacle,
        'link_names': list(least.link_distances),
        'link_distances': list(least.link_distances.values()),
        'link_points_on_robot': [pair[:3] for pair in points],
        'link_points_on_obstacle': [pair[3:] for pair in points],
        'valid_fraction': NAN,
        'occluded_fraction': NAN,
        'unobserved_distance': NAN,
    }


OF_INFERENCE = (
    'sequence', 'latency', 'preprocess', 'forward', 'postprocess', 'transport', 'cpu_time',
    'memory_rss', 'memory_device', 'queue_depth', 'stalls', 'chunk_overlap', 'sample_count',
    'vocabulary_size', 'instruction', 'features', 'feature_source', 'policy_fingerprint',
    *CHUNK_VALUES,
)  # fmt: skip


def inference_messages(episode: Episode, details: EpisodeDetails) -> Messages:
    """Yields a PolicyInference for each call; the simulation waited for it, so it was ready at the
    stamp of its observation.
    """
    stream, facts = episode.streams['inference'], episode.attributes
    maker = MessageMaker(stream.message_type)
    topic = _topic('inference', maker)
    columns = [stream.values[name] for name in OF_INFERENCE]
    rows = zip(
        stream.stamps.tolist(), details.observed, details.inferences, *columns, strict=True
    )  # fmt: skip
    for stamp, observed, inference, *values in rows:
        data = maker.data(
            header={'stamp': stamp},
            episode_id=episode.episode_id,
            policy=facts['policy'],
            checkpoint=facts['checkpoint'],
            request_stamp=stamp,
            observation_stamp=observed,
            execution_mode='synchronous',
            **dict(zip(OF_INFERENCE, values, strict=True)),
            **_outputs(inference),
        )
        yield ReceivedMessage(topic, stamp, stamp, data)


def _outputs(inference: Inference) -> dict[str, Any]:
    """The actions of an inference, and what its confidence is computed from."""
    horizon, dimension = inference.actions.shape
    has_words = bool(inference.rephrasings) and inference.rephrasing_confidences is not None
    return {
        'horizon': horizon,
        'action_dimension': dimension,
        'actions': inference.actions,
        'action_dt': inference.dt,
        'action_space': inference.action_space,
        'action_names': inference.action_names,
        'action_units': inference.action_units,
        'samples': None if inference.samples is None else inference.samples,
        **({} if inference.tokens is None else _tokens(inference.tokens)),
        'rephrasings': inference.rephrasings if has_words else (),
        'rephrasing_confidences': inference.rephrasing_confidences if has_words else None,
        'unavailable': [f'{what}: {why}' for what, why in inference.unavailable.items()],
    }


def _tokens(tokens: TokenStatistics) -> Mapping[str, NDArray[Any]]:
    return {
        'token_max_probability': tokens.max_probability,
        'token_second_probability': tokens.second_probability,
        'token_sum_of_squares': tokens.sum_of_squares,
        'token_entropy': tokens.entropy,
        'token_chosen_probability': tokens.chosen_probability,
        'token_step': tokens.step,
        'token_dimension': tokens.dimension,
        'temperatures': tokens.temperatures,
        'token_max_at_temperature': tokens.max_at_temperature,
    }
