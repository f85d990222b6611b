# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Made-up pick-and-place episodes with real metrics: streams of a smooth motion, put through the
real pipeline.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from frame_ros.bags.streams.form import Stream
from frame_ros.bags.streams.inference import INFERENCE_FIELDS
from frame_ros.core.events import Event, EventType, Outcome
from frame_ros.core.time import SECOND
from frame_ros.episodes.episode import Episode
from frame_ros.episodes.metric_pipeline.options import PipelineOptions
from frame_ros.episodes.processing import process_episode, run_pipeline

RATES = {'pose': 60, 'action': 30, 'contact': 50, 'proximity': 25, 'inference': 3}
BEGIN = 1_760_000_000 * SECOND
NAMES = ('shoulder', 'elbow', 'wrist')
WAYPOINTS = np.array(
    [[0.30, 0.00, 0.25], [0.28, -0.12, 0.20], [0.28, -0.12, 0.06], [0.29, -0.10, 0.24],
     [0.24, 0.15, 0.22], [0.24, 0.16, 0.10], [0.28, 0.05, 0.25]]
)  # fmt: skip
SETTINGS = PipelineOptions(
    action_names=NAMES, action_lower=(-2.0,) * 3, action_upper=(2.0,) * 3
).to_json()


def synthetic_episode(
    seed: int = 0,
    outcome: Outcome = Outcome.SUCCESS,
    seconds: float = 8.0,
    roughness: float = 0.0005,
    collides: bool = False,
    path: Path = Path('/nowhere/episode'),
    **attributes: str,
) -> Episode:
    """An episode of `seconds` with poses at 60 Hz, actions at 30 Hz, contact, distance, inferences;
    metrics computed.

    roughness: m, standard deviation of the tremor. collides: whether one contact is not expected.
    """
    random = np.random.default_rng(seed)
    begin = BEGIN + seed * 60 * SECOND
    stamps = {role: _stamps(random, begin, seconds, rate) for role, rate in
              RATES.items()}  # fmt: skip
    pose = positions_at((stamps['pose'] - begin) / SECOND / seconds)
    pose += np.cumsum(random.normal(0, roughness, pose.shape), axis=0) * 0.2
    streams = {
        'pose': _stream('ee_pose', 'geometry_msgs/msg/PoseStamped', stamps['pose'],
                        position=pose, orientation=_orientations(len(pose))),
        'action': _actions(stamps['action'], begin, seconds, random, roughness),
        'contact': _contacts(stamps['contact'], begin, seconds, collides),
        'proximity': _stream('proximity', 'frame_ros/msg/Proximity', stamps['proximity'],
                             distance=_distances((stamps['proximity'] - begin) / SECOND)),
        'inference': _inferences(stamps['inference'], random),
    }  # fmt: skip
    facts = {'policy': 'scripted', 'instruction': 'put the cube into the bin', 'robot': 'so101',
             'metrics_config': SETTINGS, **attributes}  # fmt: skip
    events = _events(begin, seconds, outcome, f'episode_{seed:03d}')
    episode = Episode(path, f'episode_{seed:03d}', facts, events, streams, {})
    process_episode(episode)
    record_live(episode)
    return episode


def record_live(episode: Episode) -> None:
    """Gives the episode live topics that hold exactly what is recomputed."""
    for kind, values in episode.metrics.items():
        fields = {name: column.copy() for name, column in values.items() if name != 'stamp'}
        fields['episode_id'] = np.full(len(values['stamp']), episode.episode_id)
        episode.live[kind] = Stream(
            f'/{kind}_metrics', f'frame_ros/msg/{kind.title()}Metrics', values['stamp'].copy(),
            values['stamp'] + SECOND // 20, fields,
        )  # fmt: skip


def with_late_poses(episode: Episode, steps: range) -> Episode:
    """The episode, with live topics as a node published them that had no pose in time at some
    steps.
    """
    stamps = episode.metrics['quality']['stamp']
    late = {int(stamps[step]): 1 for step in steps}
    columns, _ = run_pipeline(episode, PipelineOptions.from_json(SETTINGS), late)
    shown = episode.metrics
    episode.metrics = columns.metrics()
    record_live(episode)
    episode.metrics = shown
    return episode


def empty_episode(path: Path = Path('/nowhere/empty'), **facts: object) -> Episode:
    """An episode of which nothing was recorded."""
    episode = Episode(path, 'empty', {}, [], {}, {}, **facts)
    process_episode(episode)
    return episode


def positions_at(phase: np.ndarray) -> np.ndarray:
    """(T, 3) positions on the way over the waypoints at phases in [0, 1], each stretch with minimum
    jerk.
    """
    place = np.clip(phase, 0, 1 - 1e-9) * (len(WAYPOINTS) - 1)
    index = place.astype(int)
    s = (place - index)[:, None]
    blend = s**3 * (10 - 15 * s + 6 * s**2)
    return WAYPOINTS[index] + (WAYPOINTS[index + 1] - WAYPOINTS[index]) * blend


def _stamps(random: np.random.Generator, begin: int, seconds: float, rate: float) -> np.ndarray:
    times = np.arange(int((seconds + 0.4) * rate)) / rate - 0.2
    times += random.uniform(0, 0.1 / rate, len(times))
    return (begin + times * SECOND).astype(np.int64)


def _stream(topic: str, message_type: str, stamps: np.ndarray, **values: np.ndarray) -> Stream:
    return Stream(f'/{topic}', message_type, stamps, stamps + 3_000_000, values)


def _distances(time: np.ndarray) -> np.ndarray:
    return 0.02 + 0.1 * np.abs(np.sin(time))


def _orientations(count: int) -> np.ndarray:
    half = np.linspace(0, 0.4, count)
    return np.stack([np.zeros(count), np.zeros(count), np.sin(half), np.cos(half)], axis=1)


def _actions(
    stamps: np.ndarray, begin: int, seconds: float, random: np.random.Generator, roughness: float
) -> Stream:
    positions = positions_at((stamps - begin) / SECOND / seconds) * 4
    positions += random.normal(0, roughness * 2, positions.shape)
    return _stream(
        'joint_commands',
        'sensor_msgs/msg/JointState',
        stamps,
        names=np.tile(np.array(NAMES), (len(stamps), 1)),
        names_count=np.full(len(stamps), 3),
        positions=positions,
        positions_count=np.full(len(stamps), 3),
    )


def _contacts(stamps: np.ndarray, begin: int, seconds: float, collides: bool) -> Stream:
    phase = (stamps - begin) / SECOND / seconds
    is_holding = (phase > 0.36) & (phase < 0.82)
    hits = collides & (phase > 0.6) & (phase < 0.63)
    force = np.where(is_holding, 2.0 + np.sin(phase * 40), 0.0) + np.where(hits, 9.0, 0.0)
    return _stream(
        'contact',
        'frame_ros/msg/ContactState',
        stamps,
        in_contact=is_holding | hits,
        in_collision=hits,
        force=force,
    )


def _inferences(stamps: np.ndarray, random: np.random.Generator) -> Stream:
    values = {name: np.zeros(len(stamps)) for name in INFERENCE_FIELDS}
    values['sequence'] = np.arange(len(stamps), dtype=float)
    values['forward'] = random.gamma(8, 0.006, len(stamps))
    values['preprocess'] = np.full(len(stamps), 0.004)
    values['postprocess'] = np.full(len(stamps), 0.001)
    values['latency'] = values['forward'] + 0.006
    values['cpu_time'] = values['latency'] * 0.9
    values['memory_rss'] = np.full(len(stamps), 5.2e8)
    values['queue_depth'] = np.full(len(stamps), 4.0)
    values['chunk_overlap'] = np.abs(random.normal(0.02, 0.005, len(stamps)))
    values['observation_age'] = np.full(len(stamps), 0.021)
    values['token_count'] = np.zeros(len(stamps))
    return _stream('policy_inference', 'frame_ros/msg/PolicyInference', stamps, **values)


def _events(begin: int, seconds: float, outcome: Outcome, episode_id: str) -> list[Event]:
    events = [Event(begin, EventType.START, episode_id)]
    if outcome is Outcome.SUCCESS:
        done = begin + int(0.86 * seconds * SECOND)
        events.append(Event(done, EventType.SUCCESS, episode_id, source='simulator'))
    events.append(
        Event(begin + int(0.5 * seconds * SECOND), EventType.NOTE, episode_id, text='lift')
    )
    events.append(Event(begin + int(seconds * SECOND), EventType.END, episode_id, outcome=outcome))
    return sorted(events, key=lambda event: event.stamp)
