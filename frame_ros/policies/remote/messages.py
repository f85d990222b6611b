# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The messages between our client and our server.

They are OpenPI's (`state`, `images`, `prompt`; `actions`, `server_timing`, `policy_timing`), with
all that OpenPI has no place for in one map under the key `frame_ros`. Times are s, stamps ns.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np

from frame_ros.core.errors import PolicyError
from frame_ros.policies.protocol import (
    ACTION_SPACES,
    TOKEN_NUMBERS,
    TOKEN_PLACES,
    Inference,
    Observation,
    TokenStatistics,
)
from frame_ros.policies.remote.fields import Fields
from frame_ros.policies.remote.images import as_rgb

NAMESPACE = 'frame_ros'
FAILED = 'the policy failed: '  # begins a server's text where the fault is its policy's own
VERSION = 1
MAX_HISTORY = 16  # observations
MAX_SAMPLES = 1024  # of a batch, which must fit into the server's memory
NAN = float('nan')
PARTS = ('preprocess', 'forward', 'postprocess')


@dataclass(frozen=True)
class Request:
    """The parameters of an observation.

    Attributes:
        id: comes back with the answer.
        reset: the episode is new.
        seed: of it, or None.
        samples: requested number of chunks; 0: the server's own.
        history: earlier observations, for a policy that needs them, oldest first.
        episode: random name of the episode, the same in all its observations, also where the first
            ones failed and where the connection was made again; '': the client gives none.
        start: name of the START that the episode belongs to: after a takeover the episode is
            another one, and this the same.
    """

    id: int = 0
    reset: bool = False
    seed: int | None = None
    samples: int = 0
    history: tuple[Observation, ...] = ()
    episode: str = ''
    start: str = ''


@dataclass(frozen=True)
class Answer:
    """An inference, and how the server made it."""

    inference: Inference
    id: int = 0
    inference_time: float = NAN  # s in the policy, all parts
    waited: float = 0.0  # s until the policy was free
    memory_rss: float = NAN  # bytes, of the server's process
    cpu_time: float = NAN  # CPU s of that process during the inference
    policy: str = ''  # name of the policy that answered, where it can change; '': as described


@dataclass(frozen=True)
class ServerDescription:
    """Our server's description of its policy when a client connects; see protocol.Policy.
    history_steps: observations that it takes at once, history_period (s) apart; 1: no history.
    """

    policy: str
    checkpoint: str = ''
    cameras: tuple[str, ...] = ()
    poses: tuple[str, ...] = ()
    n_action_steps: int = 0
    needs_instruction: bool = False
    history_steps: int = 1
    history_period: float = 0.0
    fingerprint: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = field(default=())

    def to_message(self) -> dict[str, Any]:
        """As the map under NAMESPACE of the metadata."""
        return {'version': VERSION, **{f.name: getattr(self, f.name) for f in fields(self)}}

    @classmethod
    def from_message(cls, metadata: Any) -> ServerDescription | None:
        """From the server's metadata; None if it is not ours.

        Raises:
            PolicyError: it says something unexpected, or speaks another version.
        """
        whole = Fields(metadata, "the server's metadata")
        if not whole.has(NAMESPACE):
            return None
        ours = whole.fields(NAMESPACE)
        _check_version(ours)
        return cls(
            policy=ours.text('policy'),
            checkpoint=ours.text('checkpoint', ''),
            cameras=ours.texts('cameras', ()),
            poses=ours.texts('poses', ()),
            n_action_steps=ours.whole('n_action_steps', 0),
            needs_instruction=ours.is_true('needs_instruction'),
            history_steps=ours.whole('history_steps', 1),
            history_period=ours.number('history_period', 0.0),
            fingerprint=_texts(ours.fields('fingerprint', {})),
            notes=ours.texts('notes', ()),
        )


def observation_to_message(observation: Observation, request: Request) -> dict[str, Any]:
    """Returns the message of an observation."""
    message = _bare_message(observation)
    message[NAMESPACE] |= {
        'id': request.id,
        'reset': request.reset,
        'seed': request.seed,
        'samples': request.samples,
        'history': [_bare_message(earlier) for earlier in request.history],
        'episode': request.episode,
        'start': request.start,
    }
    return message


def _bare_message(observation: Observation) -> dict[str, Any]:
    return {
        'state': observation.joint_positions,
        'images': observation.images,
        'prompt': observation.instruction,
        NAMESPACE: {
            'version': VERSION,
            'stamp': observation.stamp,
            'oldest_stamp': observation.oldest_stamp,
            'joint_names': observation.joint_names,
            'poses': observation.poses,
            'executed': observation.executed,
            'rephrasings': observation.rephrasings,
        },
    }


def read_request(message: Any) -> Request | None:
    """Returns what goes with an observation; None if the client is not one of ours.

    Raises:
        PolicyError: a value has the wrong type, or the client speaks another version.
    """
    whole = Fields(message, 'the observation')
    if not whole.has(NAMESPACE):
        return None
    ours = whole.fields(NAMESPACE)
    _check_version(ours)
    request = Request(
        id=ours.whole('id', 0),
        reset=ours.is_true('reset'),
        seed=ours.whole('seed') if ours.has('seed') else None,
        samples=ours.whole('samples', 0),
        history=_history(ours.value('history', [])),
        episode=ours.text('episode', ''),
        start=ours.text('start', ''),
    )
    if request.samples not in (0, *range(2, MAX_SAMPLES + 1)):
        raise PolicyError(f'samples is {request.samples}; it is 0, or 2 to {MAX_SAMPLES}')
    return request


def message_to_observation(
    message: Any, now: int, joint_names: tuple[str, ...] = ()
) -> Observation:
    """Returns the observation of a message in our own format.

    Args:
        now: ns, the stamp where the client gives none.
        joint_names: of `state`, where the client does not name them.

    Raises:
        PolicyError: a value is missing, or has the wrong type or length.
    """
    whole = Fields(message, 'the observation')
    positions = whole.numbers('state', 1)
    extras = Fields(whole.value(NAMESPACE, {}), "'frame_ros' of the observation")
    names = extras.texts('joint_names', joint_names)
    if len(names) != len(positions):
        raise PolicyError(
            f'the observation has {len(positions)} joint positions and {len(names)} joint names'
            + ('' if names else '; start the server with --joint-names for clients that send none')
        )
    images = whole.fields('images', {}).items()
    return Observation(
        joint_names=names,
        joint_positions=positions,
        images={name: as_rgb(name, image) for name, image in images},
        instruction=whole.text('prompt', ''),
        **observation_extras(extras, now),
    )


def observation_extras(extras: Fields, now: int) -> dict[str, Any]:
    """Returns the arguments of an Observation that OpenPI's keys have no place for."""
    stamp = extras.whole('stamp', now)
    poses = extras.fields('poses', {})
    read = {name: poses.numbers(name, 1) for name, _ in poses.items()}
    if wrong := [name for name, pose in read.items() if len(pose) != 7]:
        raise PolicyError(
            f'the pose {wrong[0]!r} has {len(read[wrong[0]])} values; 7 are expected: position '
            'and quaternion x, y, z, w'
        )
    return {
        'stamp': stamp,
        'oldest_stamp': extras.whole('oldest_stamp', stamp),
        'poses': read,
        'executed': extras.number('executed', NAN),
        'rephrasings': extras.texts('rephrasings', ()),
    }


def answer_to_fields(answer: Answer) -> dict[str, Any]:
    """Returns the map under NAMESPACE of an answer."""
    inference = answer.inference
    message: dict[str, Any] = {
        'version': VERSION,
        'id': answer.id,
        'policy': answer.policy,
        'inference_time': answer.inference_time,
        'waited': answer.waited,
        'memory_rss': answer.memory_rss,
        'cpu_time': answer.cpu_time,
        'memory_device': float(inference.memory_device),
        'dt': float(inference.dt),
        'action_names': inference.action_names,
        'action_units': inference.action_units,
        'action_space': inference.action_space,
        **{part: float(getattr(inference, part)) for part in PARTS},
        'rephrasings': inference.rephrasings,
        'feature_source': inference.feature_source,
        'unavailable': dict(inference.unavailable),
    }
    optional = {
        'samples': inference.samples,
        'rephrasing_confidences': inference.rephrasing_confidences,
        'features': inference.features,
    }
    message |= {k: np.asarray(v, np.float64) for k, v in optional.items() if v is not None}
    if (tokens := inference.tokens) is not None:
        message['tokens'] = {f.name: getattr(tokens, f.name) for f in fields(tokens)}
    return message


def message_to_answer(message: Any) -> Answer:
    """Returns what our server answered.

    Raises:
        PolicyError: a value is missing, or has the wrong type or shape.
    """
    whole = Fields(message, "the server's answer")
    actions, ours = whole.numbers('actions', 2), whole.fields(NAMESPACE)
    _check_version(ours)
    confidences = (
        ours.numbers('rephrasing_confidences', 1) if ours.has('rephrasing_confidences') else None
    )
    inference = Inference(
        actions=actions,
        dt=ours.number('dt'),
        action_names=ours.texts('action_names'),
        action_units=ours.texts('action_units'),
        action_space=ours.text('action_space'),
        **{part: ours.number(part, NAN) for part in PARTS},
        memory_device=ours.number('memory_device', 0.0),
        tokens=_tokens(ours.fields('tokens')) if ours.has('tokens') else None,
        samples=ours.numbers('samples', 3) if ours.has('samples') else None,
        rephrasings=ours.texts('rephrasings', ()),
        rephrasing_confidences=confidences,
        features=ours.numbers('features', 1) if ours.has('features') else None,
        feature_source=ours.text('feature_source', ''),
        unavailable=_texts(ours.fields('unavailable', {})),
    )
    check_inference(inference)
    return Answer(
        inference=inference,
        id=ours.whole('id', 0),
        inference_time=ours.number('inference_time', NAN),
        waited=ours.number('waited', 0.0),
        memory_rss=ours.number('memory_rss', NAN),
        cpu_time=ours.number('cpu_time', NAN),
        policy=ours.text('policy', ''),
    )


def check_inference(inference: Inference) -> None:
    """Raises PolicyError where parts of an inference from elsewhere do not fit each other."""
    shape, names = inference.actions.shape, inference.action_names
    if shape[0] == 0 or shape[1] != len(names) or len(names) != len(inference.action_units):
        raise PolicyError(
            f'the server gave actions of shape {shape} with {len(names)} names and '
            f'{len(inference.action_units)} units; (steps, {len(names)}) is expected'
        )
    if not (math.isfinite(inference.dt) and inference.dt > 0):
        raise PolicyError(f'the server gave dt {inference.dt} s; it must be positive')
    if inference.action_space not in ACTION_SPACES:
        raise PolicyError(
            f'the server gave the action space {inference.action_space!r}; known: '
            f'{", ".join(ACTION_SPACES)}'
        )
    if inference.samples is not None and inference.samples.shape[1:] != shape:
        raise PolicyError(
            f'the server gave samples of shape {inference.samples.shape}; (N, {shape[0]}, '
            f'{shape[1]}) is expected'
        )
    confidences = inference.rephrasing_confidences
    if confidences is not None and len(confidences) != len(inference.rephrasings):
        raise PolicyError(
            f'the server gave {len(confidences)} confidences for {len(inference.rephrasings)} '
            'rephrasings'
        )


def _history(messages: Any) -> tuple[Observation, ...]:
    if not isinstance(messages, list) or len(messages) > MAX_HISTORY:
        raise PolicyError(f'the history must be a list of at most {MAX_HISTORY} observations')
    return tuple(message_to_observation(message, now=0) for message in messages)


def _tokens(ours: Fields) -> TokenStatistics:
    tokens = TokenStatistics(
        vocabulary_size=ours.whole('vocabulary_size'),
        max_probability=ours.numbers('max_probability', 1),
        second_probability=ours.numbers('second_probability', 1),
        sum_of_squares=ours.numbers('sum_of_squares', 1),
        entropy=ours.numbers('entropy', 1),
        chosen_probability=ours.numbers('chosen_probability', 1),
        temperatures=ours.numbers('temperatures', 1),
        max_at_temperature=ours.numbers('max_at_temperature', 2),
        step=ours.numbers('step', 1).astype(np.int32),
        dimension=ours.numbers('dimension', 1).astype(np.int32),
    )
    count = len(tokens.max_probability)
    lengths = {name: len(getattr(tokens, name)) for name in (*TOKEN_NUMBERS, *TOKEN_PLACES)}
    shape, expected = tokens.max_at_temperature.shape, (count, len(tokens.temperatures))
    if set(lengths.values()) != {count} or shape != expected:
        raise PolicyError(
            f'the server gave token statistics of lengths {lengths}, and of shape {shape} at '
            f'{expected[1]} temperatures; they must be of as many tokens'
        )
    return tokens


def _texts(ours: Fields) -> Mapping[str, str]:
    return {name: ours.text(name) for name, _ in ours.items()}


def _check_version(ours: Fields) -> None:
    version = ours.whole('version')
    if version != VERSION:
        raise PolicyError(
            f'the other side speaks version {version} of our messages, this one {VERSION}; install '
            'the same version of frame_ros on both'
        )
