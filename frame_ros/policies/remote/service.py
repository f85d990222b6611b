# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""A policy behind messages: bytes in, bytes out, whatever carries them."""

from __future__ import annotations

import contextlib
import logging
import math
import os
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from frame_ros.core.errors import FrameRosError, PolicyError
from frame_ros.core.version import package_version
from frame_ros.policies.base import Policy
from frame_ros.policies.execution.action_check import ACTION_SPACE, UNITS
from frame_ros.policies.execution.inference_check import check_own_chunk, with_usable_extras
from frame_ros.policies.own_failures import is_own_failure
from frame_ros.policies.own_policy import raised_text
from frame_ros.policies.protocol import Inference, Observation, for_policy
from frame_ros.policies.remote.codec import MAX_MESSAGE_SIZE, decode, encode
from frame_ros.policies.remote.convention import Convention
from frame_ros.policies.remote.fields import Fields
from frame_ros.policies.remote.messages import (
    FAILED,
    NAMESPACE,
    Answer,
    Request,
    ServerDescription,
    answer_to_fields,
    message_to_observation,
    observation_extras,
    read_request,
)

MEMORY_PERIOD = 0.25  # s
Given = TypeVar('Given')

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Timing:
    """Of one observation.

    Attributes:
        received: time.perf_counter() when its message had come.
        previous_total: s from there until the client's last answer was sent; None for its first.
    """

    received: float
    previous_total: float | None = None


class InferenceService:
    """Answers clients with one policy. All of it is called from one thread at a time.

    Args:
        convention: what clients that are not ours send and expect; None: our own format, of joint
            positions in rad.
        joint_names: of `state`, where a client does not name them.

    A client is whatever identifies a connection: the policy is reset when another than the last
    one asks, because an episode's state must not go from one robot to another.
    """

    def __init__(
        self,
        policy: Policy,
        convention: Convention | None = None,
        joint_names: tuple[str, ...] = (),
        max_message_size: int = MAX_MESSAGE_SIZE,
    ) -> None:
        self.policy = policy
        self._convention, self._joint_names = convention, joint_names
        self._max_size = max_message_size
        self._own_samples = policy.samples
        self._client: object = None
        self._memory = ResidentMemory()

    def describe(self) -> bytes:
        """The message that a client gets when it connects: what is served."""
        description = ServerDescription(
            policy=self.policy.name,
            checkpoint=self.policy.checkpoint,
            cameras=tuple(self.policy.cameras),
            poses=tuple(self.policy.poses),
            n_action_steps=self.policy.n_action_steps,
            needs_instruction=self.policy.needs_instruction,
            history_steps=self.policy.history_steps if self.policy.needs_history else 1,
            history_period=float(self.policy.history_period),
            fingerprint=dict(self.policy.fingerprint),
            notes=tuple(self.policy.notes),
        )
        server = {'name': 'frame_ros', 'version': package_version()}
        return encode({'server': server, NAMESPACE: description.to_message()}, self._max_size)

    def answer(self, client: object, data: bytes | memoryview, timing: Timing) -> bytes:
        """Returns the answer to an observation. client: who asks.

        Raises:
            PolicyError: the message or the observation is wrong, or the policy failed; the text
            is for the client.
        """
        begun = time.perf_counter()
        try:
            message = decode(data, self._max_size)
            request = read_request(message)
            observation = self._observation(message, request)
            self._prepare(client, request or Request())
            answer = self._infer(observation, request or Request(), begun - timing.received)
            reply = self._reply(answer, observation, request)
            if timing.previous_total is not None:
                reply['server_timing']['prev_total_ms'] = 1000.0 * timing.previous_total
            return encode(reply, self._max_size)
        except FrameRosError as error:
            raise PolicyError(str(error)) from error
        except (Exception, SystemExit) as error:  # whatever a policy raises, the server goes on
            logger.error('%s', traceback.format_exc())
            raise PolicyError(f'the policy {raised_text(error)}') from error

    def _observation(self, message: Any, request: Request | None) -> Observation:
        now = time.time_ns()
        if self._convention is None or (request is not None and 'state' in message):
            return message_to_observation(message, now, self._joint_names)
        Fields(message, 'the observation')
        extras = Fields(message.get(NAMESPACE, {}), "'frame_ros' of the observation")
        return Observation(**self._convention.from_wire(message), **observation_extras(extras, now))

    def _prepare(self, client: object, request: Request) -> None:
        """Resets the policy where an episode begins, and shows it what was before."""
        if self._begins_episode(client, request):
            if self._own_samples is not None:
                self.policy.samples = request.samples or self._own_samples
            self.policy.reset(request.seed)
            self._client = client
        for earlier in request.history:
            self._asked(self.policy.observe, earlier)

    def _begins_episode(self, client: object, request: Request) -> bool:
        """Returns whether the policy is to be reset before an observation."""
        return client is not self._client or request.reset

    def _infer(self, observation: Observation, request: Request, waited: float) -> Answer:
        cpu, begun = time.process_time(), time.perf_counter()
        inference = self._asked(self.policy.infer, for_policy(observation))
        duration = time.perf_counter() - begun
        try:
            check_own_chunk(inference)
        except PolicyError as error:
            raise PolicyError(f'{FAILED}{error}') from error
        inference = with_usable_extras(inference, observation, request.samples)
        return Answer(
            inference=inference,
            id=request.id,
            inference_time=duration,
            waited=max(waited, 0.0),
            memory_rss=self._memory.value(),
            cpu_time=time.process_time() - cpu,
            policy=self.policy.name,
        )

    def _asked(self, call: Callable[[Observation], Given], observation: Observation) -> Given:
        """Returns what a call of the policy gives; PolicyError begins with FAILED if it raised by
        its own fault.
        """
        try:
            return call(observation)
        except (Exception, SystemExit) as error:
            if not is_own_failure(error):
                raise
            logger.error('%s', traceback.format_exc())
            raise PolicyError(f'{FAILED}it {raised_text(error)}') from error

    def _reply(
        self, answer: Answer, observation: Observation, request: Request | None
    ) -> dict[str, Any]:
        """An OpenPI answer; a client of ours gets all the rest too."""
        actions = answer.inference.actions
        if request is None:
            actions = self._for_others(answer.inference, observation)
        forward = answer.inference.forward
        reply: dict[str, Any] = {
            'actions': actions,
            'server_timing': {'infer_ms': 1000.0 * answer.inference_time},
            'policy_timing': {
                'infer_ms': 1000.0 * (answer.inference_time if np.isnan(forward) else forward)
            },
        }
        # Further arrays would confuse OpenPI's clients, which cut them into steps.
        if request is not None:
            reply[NAMESPACE] = answer_to_fields(answer)
        return reply

    def _for_others(self, inference: Inference, observation: Observation) -> NDArray[np.float64]:
        """The actions for a client that gets no names: in the order of `joint_names`. Those that
        are no joint positions go as they are, where no preset says what they should be.

        Raises:
            PolicyError: the client would take them for something else.
        """
        names, convention = inference.action_names, self._convention
        if convention is None and (inference.action_space != ACTION_SPACE or not self._joint_names):
            return inference.actions
        expected = self._joint_names if convention is None else convention.joint_names
        if inference.action_space != ACTION_SPACE or not set(inference.action_units) <= set(UNITS):
            raise PolicyError(
                f'the policy gives {inference.action_space} in '
                f'{", ".join(sorted(set(inference.action_units)))}; this client takes '
                f'{ACTION_SPACE} in {" or ".join(UNITS)}'
            )
        if set(names) - set(expected) or (convention is not None and len(names) < len(expected)):
            raise PolicyError(
                f'the policy moves {", ".join(names)}; this client takes {", ".join(expected)} '
                '(--joint-names of frame-ros serve)'
            )
        order = [names.index(name) for name in expected if name in names]
        actions = inference.actions[:, order]
        if convention is not None:
            actions = convention.actions_to_wire(actions, observation)
        return actions


class ResidentMemory:
    """Of this process; looked up a few times a second at most."""

    def __init__(self) -> None:
        self._looked, self._value = -math.inf, math.nan

    def value(self) -> float:
        """Bytes; NaN if the system does not report them as Linux does."""
        now = time.monotonic()
        if now - self._looked > MEMORY_PERIOD:
            self._looked = now
            with contextlib.suppress(OSError, ValueError, IndexError):
                pages = Path('/proc/self/statm').read_text(encoding='ascii').split()[1]
                self._value = float(int(pages) * os.sysconf('SC_PAGE_SIZE'))
        return self._value
