# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The streams of a rolled-out episode, row by row, in the form that a bag's have."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from frame_ros.bags.streams.form import Stream, column_of
from frame_ros.bags.streams.grasp import decided_grasp
from frame_ros.bags.streams.table import STREAMS
from frame_ros.confidence.dimension_confidence import TEMPERATURE_FIELDS, recalibration_values
from frame_ros.confidence.inference_uncertainty import (
    CHOSEN_FIELDS,
    TOKEN_FIELDS,
    chosen_confidence,
    chunk_values,
    ensemble_values,
    is_delta,
    sample_values,
    token_uncertainty,
)
from frame_ros.core.time import SECOND
from frame_ros.policies.execution.action_queue import Arrival
from frame_ros.policies.execution.inference_check import with_usable_extras
from frame_ros.policies.fingerprint import FingerprintText
from frame_ros.policies.protocol import Inference, Observation, TokenStatistics
from frame_ros.scenes.simulation.contacts import Contact
from frame_ros.sensing.contact.grasp import GraspOptions

COLUMNS = ('joints', 'efforts', 'position', 'orientation', 'action', 'places', 'object', 'goal')
NAN = float('nan')
GRASP = GraspOptions(source='contact')


class RolloutRecord:
    """The streams of one episode, growing. Stamps are ns. A step's `rows` are COLUMNS -> value:
    joints, action (D,) rad, efforts (D,) N m, position (3,) m and orientation (4,) xyzw of the TCP,
    places (G, 12) of a simulation, object and goal (7,).
    """

    def __init__(self, joint_names: Sequence[str], fingerprint: FingerprintText) -> None:
        self._names, self._fingerprint = tuple(joint_names), fingerprint
        self._stamps: list[int] = []
        self._rows: dict[str, list[Any]] = {name: [] for name in COLUMNS}
        self._contacts: list[list[Contact]] = []
        self._inferences: list[tuple[int, dict[str, Any]]] = []

    def add_step(self, stamp: int, contacts: list[Contact], rows: dict[str, Any]) -> None:
        """One control step."""
        self._stamps.append(stamp)
        self._contacts.append(contacts)
        for name in COLUMNS:
            self._rows[name].append(rows[name])

    def add_inference(
        self,
        observation: Observation,
        inference: Inference,
        arrival: Arrival,
        latency: float,
        cpu_time: float,
    ) -> None:
        """Adds one call of the policy, without the training machine's memory; durations in s."""
        inference = with_usable_extras(inference, observation)
        samples, tokens = inference.samples, inference.tokens
        values: dict[str, Any] = {
            'sequence': len(self._inferences),
            'latency': latency,
            'preprocess': inference.preprocess,
            'forward': inference.forward,
            'postprocess': inference.postprocess,
            'transport': inference.transport,
            'cpu_time': cpu_time,
            'memory_rss': NAN,
            'memory_device': inference.memory_device,
            'observation_age': (observation.stamp - observation.oldest_stamp) / SECOND,
            'queue_depth': arrival.queue_depth,
            'stalls': arrival.stalls,
            'chunk_overlap': arrival.compared.overlap,
            **chunk_values(arrival.compared.consistency, arrival.compared.shift),
            'is_delta': is_delta(inference.action_space),
            # The policy may write the next ones over these.
            'features': np.zeros(0) if inference.features is None else inference.features.copy(),
            'feature_source': inference.feature_source,
            'policy_fingerprint': self._fingerprint.of(observation),
            'instruction': observation.instruction,
            'action_names': np.array(inference.action_names),
            'action_units': np.array(inference.action_units),
            'sample_count': 0 if samples is None else len(samples),
            'token_count': 0 if tokens is None else len(tokens.step),
            'vocabulary_size': 0 if tokens is None else tokens.vocabulary_size,
        }
        arrays, confidences = _token_arrays(tokens), inference.rephrasing_confidences
        values.update(token_uncertainty(arrays, values['vocabulary_size']))
        values.update(chosen_confidence(arrays, values['token_count']))
        values.update(recalibration_values(arrays))
        values.update(ensemble_values(() if confidences is None else confidences))
        flat = np.zeros(0) if samples is None else np.ravel(samples)
        values.update(sample_values(flat, values['sample_count'], *inference.actions.shape))
        self._inferences.append((observation.stamp, values))

    def streams(self, distances: Callable[[list[Any]], NDArray[np.float64]]) -> dict[str, Stream]:
        """Role -> Stream.

        Args:
            distances: places of all steps -> (T,) m.
        """
        rows = {name: np.array(values) for name, values in self._rows.items() if name != 'places'}
        joints, action = (_joint_values(self._names, rows[name]) for name in ('joints', 'action'))
        joints.update(efforts=rows['efforts'], efforts_count=joints['positions_count'])
        pose = {'position': rows['position'], 'orientation': rows['orientation']}
        contacts = self._stream('contact', self._grasp_values())
        return {
            'inference': self._inference_stream(),
            'contact': self._stream('contact', self._contact_values()),
            'grasp': decided_grasp(contacts, GRASP, self._stamps[:1]),
            'proximity': self._stream('proximity', {'distance': distances(self._rows['places'])}),
            'object': self._stream('object', _target_values(rows['object'])),
            'goal': self._stream('goal', _target_values(rows['goal'])),
            'pose': self._stream('pose', pose),
            'joint_states': self._stream('joint_states', joints),
            'action': self._stream('action', action),
        }

    def _stream(self, role: str, values: dict[str, NDArray]) -> Stream:
        stamps = np.array(self._stamps, np.int64)
        return Stream('', STREAMS[role].message_type, stamps, stamps, values)

    def _inference_stream(self) -> Stream:
        stamps = np.array([stamp for stamp, _ in self._inferences], np.int64)
        names = self._inferences[0][1]
        values = {name: column_of([row[name] for _, row in self._inferences]) for name in names}
        return Stream('', STREAMS['inference'].message_type, stamps, stamps, values)

    def _contact_values(self) -> dict[str, NDArray]:
        forces = [sum((c.net_force for c in step), np.zeros(3)) for step in self._contacts]
        return {
            'in_contact': np.array([bool(step) for step in self._contacts]),
            'in_collision': np.array(
                [not all(c.is_expected for c in step) for step in self._contacts]
            ),
            'force': np.linalg.norm(forces, axis=1),
            **self._each_contact('forces', 'force', NAN),
            **self._each_contact('peak_forces', 'peak_force', NAN),
            **self._each_contact('is_expected', 'is_expected', False),
        }

    def _grasp_values(self) -> dict[str, NDArray]:
        """Returns the contacts one by one; shorter rows are padded."""
        return {
            **self._contact_values(),
            **self._each_contact('links', 'link', ''),
            **self._each_contact('others', 'other', ''),
        }

    def _each_contact(self, name: str, attribute: str, empty: Any) -> dict[str, NDArray]:
        width = max(1, *map(len, self._contacts))
        values = [
            [getattr(c, attribute) for c in step] + [empty] * (width - len(step))
            for step in self._contacts
        ]
        counts = np.array([len(step) for step in self._contacts])
        return {name: np.array(values), f'{name}_count': counts}


def _joint_values(names: tuple[str, ...], positions: NDArray[np.float64]) -> dict[str, NDArray]:
    count = np.full(len(positions), len(names))
    return {
        'names': np.tile(np.array(names), (len(positions), 1)),
        'names_count': count,
        'positions': positions,
        'positions_count': count,
    }


def _target_values(poses: NDArray[np.float64]) -> dict[str, NDArray]:
    return {'position': poses[:, :3], 'frame': np.full(len(poses), '')}


def _token_arrays(tokens: TokenStatistics | None) -> dict[str, Any]:
    names = (*TOKEN_FIELDS, *CHOSEN_FIELDS, *TEMPERATURE_FIELDS)
    if tokens is None:
        return dict.fromkeys(names, ())
    return {name: np.ravel(getattr(tokens, name.removeprefix('token_'))) for name in names}
