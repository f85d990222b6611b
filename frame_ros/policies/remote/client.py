# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""A policy that runs in a server: ours, or one of OpenPI's."""

from __future__ import annotations

import logging
import math
import secrets
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, NoReturn

import numpy as np

from frame_ros.core.errors import PolicyError, PolicyFailedError
from frame_ros.policies.base import Policy
from frame_ros.policies.execution.observation_history import ObservationHistory
from frame_ros.policies.protocol import EXTRAS, Inference, Observation
from frame_ros.policies.remote.codec import Encoder, decode
from frame_ros.policies.remote.convention import Convention
from frame_ros.policies.remote.fields import Fields
from frame_ros.policies.remote.link import LONGEST_TEXT, LinkOptions, ServerLink
from frame_ros.policies.remote.messages import (
    FAILED,
    NAN,
    Request,
    ServerDescription,
    check_inference,
    message_to_answer,
    observation_to_message,
)
from frame_ros.policies.remote.presets import TCP

UNAVAILABLE = 'the server answers with actions only, as OpenPI has it'

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class RemoteInference(Inference):
    """An inference, and what it cost the server: memory_rss, bytes of its process; cpu_time, s of
    its processors; waited, s until its policy was free. NaN: it does not say.
    """

    memory_rss: float = NAN
    cpu_time: float = NAN
    waited: float = 0.0


class RemotePolicy(Policy):
    """A policy on a server; `RemoteServer` makes it. Called from one thread, but for `observe`.

    metadata: what the server said of itself when it was last connected to; None before.
    connections: how often it was connected to: by then a server that was started again, or has lost
        its client, had forgotten the episode.
    """

    def __init__(
        self,
        settings: LinkOptions,
        convention: Convention | None,
        deadline: float,
        dt: float = 0.0,
        samples: int = 0,
        cameras: tuple[str, ...] = (),
        poses: tuple[str, ...] = (),
        camera_names: Mapping[str, str] | None = None,
    ) -> None:
        """convention: of a server that is not ours; None: ours. deadline: s per inference. dt: s
        between two actions of a server that is not ours. samples: wanted of ours. cameras, poses:
        the inputs; ours says itself what it needs. camera_names: its camera -> ours.
        """
        self.name, self.checkpoint = 'remote', settings.url
        self.cameras, self.poses = cameras, poses
        self.notes: list[str] = []
        self.facts: list[str] = []
        self.metadata: Any = None
        self.connections = 0
        self._convention, self._deadline = convention, deadline
        self._dt, self._samples = dt, samples
        self._max_size = settings.max_message_size
        self._camera_names = dict(camera_names or {})
        self._description: ServerDescription | None = None
        self._history: ObservationHistory | None = None
        self._is_new_episode, self._episode = True, secrets.token_hex(8)
        self._seed: int | None = None
        self._next_id = 1
        self._encoder = Encoder(settings.max_message_size)
        self._link = ServerLink(settings, self._take_metadata)

    def wait(self, timeout: float) -> None:
        """Waits for the server.

        Raises:
            PolicyError: it is not there after `timeout` s.
        """
        self._link.wait(timeout)

    @property
    def is_connected(self) -> bool:
        """True if the server was there at the last look."""
        return self._link.is_connected

    def reset(self, seed: int | None = None) -> None:
        """The next observation begins an episode, with this seed, for the server too."""
        self._is_new_episode, self._seed = True, seed
        self._episode = secrets.token_hex(8)
        if self._history is not None:
            self._history.clear()

    def observe(self, observation: Observation) -> None:
        """Takes note of an observation between two inferences, for a policy that needs a history;
        it goes to the server with the next one.
        """
        if self._history is not None:
            self._history.add(observation)

    def close(self) -> None:
        """Ends the connection."""
        self._link.close()

    def infer(self, observation: Observation) -> Inference:
        """Returns what the server answers.

        Its `transport` is all that being remote costs: the time of the call without that in the
        server's policy, and without waiting for other clients' inferences.

        Raises:
            PolicyError: there is no server, it does not answer in time, it says that something is
            wrong, or what it says is not usable.
            PolicyFailedError: its policy failed by its own fault, or gave actions that are not
            finite.
        """
        begun = time.perf_counter()
        number, self._next_id = self._next_id, self._next_id + 1
        data = self._encoder.encode(self._message(observation, number))
        reply = self._link.exchange(data, self._deadline)
        if isinstance(reply, str):
            self._on_text(reply)
        try:
            content = decode(reply, self._max_size)
            if self._convention is None:
                inference = self._ours(content, number)
            else:
                inference = self._theirs(content, observation, self._convention)
        except PolicyError as error:
            self._link.drop(f'its answer could not be used: {error}')
            raise
        self._is_new_episode = False
        in_server = inference.transport + inference.waited
        transport = time.perf_counter() - begun - in_server
        return replace(inference, transport=transport if transport >= 0.0 else NAN)

    def _message(self, observation: Observation, number: int) -> dict[str, Any]:
        if self._convention is not None:
            return self._convention.to_wire(observation)
        request = Request(
            id=number,
            reset=self._is_new_episode,
            seed=self._seed if self._is_new_episode else None,
            samples=self._samples,
            history=self._earlier(observation),
            episode=self._episode,
            start=observation.start or self._episode,
        )
        return observation_to_message(self._for_server(observation), request)

    def _for_server(self, observation: Observation) -> Observation:
        """With the images that the server needs, under its names."""
        description = self._description
        if description is None:
            return observation
        images = {
            camera: observation.images[ours]
            for camera, ours in zip(description.cameras, self.cameras)
            if ours in observation.images
        }
        return replace(observation, images=images)

    def _earlier(self, observation: Observation) -> tuple[Observation, ...]:
        if self._history is None:
            return ()
        chosen = {id(entry): entry for entry in self._history.before(observation)[:-1]}
        self._history.add(observation)
        return tuple(self._for_server(e) for e in chosen.values() if e is not observation)

    def _ours(self, content: Any, number: int) -> RemoteInference:
        answer = message_to_answer(content)
        if answer.id != number:
            raise PolicyError(f'the server answered observation {answer.id} in place of {number}')
        self.name = answer.policy or self.name
        fields = {name: getattr(answer.inference, name) for name in Inference.__dataclass_fields__}
        return RemoteInference(
            **{**fields, 'transport': answer.inference_time},
            memory_rss=answer.memory_rss,
            cpu_time=answer.cpu_time,
            waited=answer.waited,
        )

    def _theirs(
        self, content: Any, observation: Observation, convention: Convention
    ) -> RemoteInference:
        """The inference of a server that says actions and two durations; while it is put together,
        `transport` is the time in the server.
        """
        whole = Fields(content, "the server's answer")
        actions = whole.numbers('actions', 2)
        if not np.isfinite(actions).all():
            raise PolicyFailedError('the server gave actions that are not finite')
        total = whole.fields('server_timing', {}).number('infer_ms', NAN) / 1000.0
        forward = whole.fields('policy_timing', {}).number('infer_ms', NAN) / 1000.0
        inference = RemoteInference(
            actions=convention.actions_from_wire(actions, observation),
            dt=self._dt,
            action_names=convention.action_names,
            action_units=convention.action_units,
            action_space=convention.action_space,
            forward=total if math.isnan(forward) else forward,
            transport=total,
            unavailable=dict.fromkeys(EXTRAS, UNAVAILABLE),
        )
        check_inference(inference)
        return inference

    def _on_text(self, text: str) -> NoReturn:
        """The server said what was wrong. Ours then goes on; OpenPI's closes."""
        problem = f'the server says: {_shortened(text)}'
        if self._convention is not None:
            self._link.drop(problem)
        kind = PolicyFailedError if text.startswith(FAILED) else PolicyError
        raise kind(problem)

    def _take_metadata(self, metadata: Any) -> None:
        """Takes the server's description, in the link's thread, at every connection. A restarted
        server has forgotten the episode, and may serve something else.
        """
        description = ServerDescription.from_message(metadata)
        if self._convention is None:
            if description is None:
                raise PolicyError(
                    "the server is not one of frame_ros; for one of OpenPI's choose a preset: "
                    'droid, aloha, libero, openpi'
                )
            self._describe(description)
        if self.metadata is None:
            self.facts.append(f'connected to {self.checkpoint}; {_described(metadata)}')
        self.metadata = metadata
        self.connections += 1

    def _describe(self, description: ServerDescription) -> None:
        known = self._description
        if known is not None:
            if replace(known, notes=()) != replace(description, notes=()):
                raise PolicyError(
                    f'the server now serves {_named(description)}, with other inputs or weights '
                    f'than the {_named(known)} that this policy was made for; make it again'
                )
            return
        names = tuple(self._camera_names.get(name, name) for name in description.cameras)
        unknown = [name for name in self._camera_names if name not in description.cameras]
        if unknown or (self.cameras and set(self.cameras) != set(names)):
            raise PolicyError(
                f'the server needs the cameras {list(description.cameras)}; this policy was made '
                f'with cameras {list(self.cameras)} and camera_names {self._camera_names}'
            )
        self.name = description.policy
        self.checkpoint = description.checkpoint or self.checkpoint
        self.cameras, self.poses = names, description.poses
        self._description = description
        self.n_action_steps = description.n_action_steps
        self.needs_instruction = description.needs_instruction
        self.fingerprint = description.fingerprint
        if description.history_steps > 1:
            self.needs_history, self.history_steps = True, description.history_steps
            self.history_period = description.history_period
            self._history = ObservationHistory(self.history_steps, self.history_period)
        self.notes += description.notes


class OpenPIPolicy(RemotePolicy):
    """A policy on one of OpenPI's servers, whose first inference takes long: it compiles."""

    warm_up_deadline = 300.0  # s

    def warm_up(self) -> None:
        """Makes a first call on black images and the joints' zero.

        Raises:
            PolicyError: as `infer`.
        """
        convention = self._convention
        assert convention is not None
        size = convention.preset.image_size or (480, 640)
        observation = Observation(
            stamp=0,
            oldest_stamp=0,
            joint_names=convention.joint_names,
            joint_positions=np.zeros(len(convention.joint_names)),
            images={camera: np.zeros((*size, 3), np.uint8) for camera in self.cameras},
            poses={TCP: np.array((0.4, 0.0, 0.4, 0.0, 0.0, 0.0, 1.0))},
        )
        usual, self._deadline = self._deadline, self.warm_up_deadline
        try:
            self.infer(observation)
        finally:
            self._deadline = usual
            self.reset()


def _named(description: ServerDescription) -> str:
    """Returns policy and, where it has one, checkpoint."""
    return ' '.join(filter(None, (description.policy, description.checkpoint)))


def _shortened(value: Any) -> str:
    text = str(value).strip()
    # The last lines of a traceback say what happened.
    return text if len(text) <= LONGEST_TEXT else f'... {text[-LONGEST_TEXT:]}'


def _described(metadata: Any) -> str:
    """Returns facts that a server reports of itself, as text: no lists, no nested tables."""
    tables = [metadata] if isinstance(metadata, Mapping) else []
    tables += [value for table in tables for value in table.values() if isinstance(value, Mapping)]
    facts = [
        f'{key} {value}'
        for table in tables
        for key, value in table.items()
        if isinstance(value, (str, int, float)) and value != ''
    ]
    return _shortened(', '.join(facts)) or 'it says nothing of itself'
