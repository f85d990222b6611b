# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The policy that a session serves: whichever's turn it is, without its name.

Of an answer only what acts and what the metrics need goes on; see docs/sessions.md for what of it
still distinguishes policies.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import fields
from typing import Any

from frame_ros.core.errors import FrameRosError, PolicyError, PolicyFailedError, SetupError
from frame_ros.evaluation.sessions.blinding_options import BlindingOptions
from frame_ros.evaluation.sessions.journal import INVALID, now
from frame_ros.evaluation.sessions.running import AGAIN, EpisodeRefusedError, SessionRun
from frame_ros.policies.base import Policy
from frame_ros.policies.own_failures import is_own_failure
from frame_ros.policies.protocol import Inference, Observation
from frame_ros.policies.remote.connecting import RemoteServer

BLINDED = 'blinded'
START_WAIT = 10.0  # s
HIDDEN = 'it is not available from the policy of this trial'
NAN = float('nan')
BROKEN_OFF = 'a policy server did not answer as it should'
ABSENT = (
    'a policy server cannot be reached, so that no trial begins; whoever set the session up finds '
    'more in its private folder'
)
FAILED = 'it raised an error, or gave actions that cannot be used'
# What of an inference goes on as it is. The parts of the latency and the memory do not: they are as
# good as a name.
PASSED = (
    'actions', 'dt', 'action_names', 'action_units', 'action_space', 'tokens', 'samples',
    'rephrasings', 'rephrasing_confidences', 'features',
)  # fmt: skip


class BlindedPolicy(Policy):
    """Passes each episode to the policy of the trial that is due. Its name is that of the trial.

    policies: name -> policy; all must be there, and agree in what a caller learns of them once.
    start: the client's name of the START of the episode that runs; '' where it has none.

    Raises:
        SetupError: they do not agree.
    """

    name, start = BLINDED, ''

    def __init__(
        self,
        policies: Mapping[str, Policy],
        run: SessionRun,
        options: BlindingOptions | None = None,
    ) -> None:
        self._policies, self._run = dict(policies), run
        self._options = options or BlindingOptions()
        made = self._policies.values()
        # Sorted: the order in which they were given says nothing.
        self.cameras = tuple(sorted({name for each in made for name in each.cameras}))
        self.poses = tuple(sorted({name for each in made for name in each.poses}))
        self.needs_instruction = any(each.needs_instruction for each in made)
        self.n_action_steps = self._options.action_steps or _common(
            {each.n_action_steps for each in made},
            'execute different numbers of steps per chunk; give --action-steps for all',
        )
        with_history = [each for each in made if each.needs_history]
        self.needs_history = bool(with_history)
        if with_history:
            self.history_steps = max(each.history_steps for each in with_history)
            self.history_period = _common(
                {each.history_period for each in with_history},
                'need histories with different periods',
            )
        self._columns: tuple[Any, ...] | None = None
        self._policy: Policy | None = None
        self._connections = 0
        self._seed: int | None = None
        self._is_new, self._problem, self._last = True, '', ''
        # Before a trial begins; a node that asks again and again brings its history each time.
        self._earlier: deque[Observation] = deque(maxlen=max(1, self.history_steps - 1))

    def reset(self, seed: int | None = None) -> None:
        """The next observation begins a trial."""
        self._is_new, self._seed, self._problem = True, seed, ''
        self._earlier.clear()

    def observe(self, observation: Observation) -> None:
        """Passes an observation on."""
        if self._is_new:
            self._earlier.append(observation)
        elif self._policy is not None and self._policy.needs_history:
            self._policy.observe(observation)

    def infer(self, observation: Observation) -> Inference:
        """Returns what the policy of the trial answers, without what names it.

        Raises:
            PolicyError: no trial can begin, or it was broken off and is invalid.
            PolicyFailedError: the policy failed by its own fault, and the trial goes on.
        """
        begun = time.monotonic()
        if self._is_new:
            self._begin(observation)
        if self._problem:
            raise PolicyError(self._problem)
        inference, is_failure = self._asked(observation)
        time.sleep(max(0.0, begun + self._options.latency - time.monotonic()))
        if inference is None and is_failure:
            raise PolicyFailedError(FAILED)
        if inference is None:
            raise PolicyError(self._problem)
        self._last = now()
        return self._blinded(inference)

    def close(self) -> None:
        """Notes the end of the last trial, and closes the policies."""
        self._end()
        for policy in self._policies.values():
            policy.close()

    def _begin(self, observation: Observation) -> None:
        earlier = tuple(self._earlier)
        self._earlier.clear()
        # Before a trial begins: after one has, the missing server would name its policy.
        if not all(getattr(each, 'is_connected', True) for each in self._policies.values()):
            raise PolicyError(ABSENT)
        try:
            attempt = self._run.begin(observation.instruction, self.start)
        except EpisodeRefusedError as error:
            # Else the arm would move at the moment in which the operator marks the trial before.
            self._is_new, self._policy, self._problem = False, None, str(error)
            return
        self._end()
        self.name, self._is_new = attempt.id, False
        self._policy = self._policies[attempt.what.policy]
        self._connections = self._policy_connections
        try:
            self._policy.reset(self._seed)
            for each in earlier:
                self.observe(each)
        except (Exception, SystemExit) as error:
            self._break_off(BROKEN_OFF, error)

    def _end(self) -> None:
        if self._last:
            self._run.end(self.name, self._last)
        self._last = ''

    def _asked(self, observation: Observation) -> tuple[Inference | None, bool]:
        """Returns the inference; or None, and whether the policy itself is to blame."""
        assert self._policy is not None
        try:
            inference = self._policy.infer(observation)
            self._check(inference)
            self._look_at_connection()
            return (None if self._problem else inference), False
        except (Exception, SystemExit) as error:  # each would name the policy in its words
            if is_own_failure(error):
                self._look_at_connection()
                self._run.folder.note(f'trial {self.name}: the policy failed: {error!r}')
                return None, True
            self._break_off(BROKEN_OFF, error)
            return None, False

    @property
    def _policy_connections(self) -> int:
        """Number of connections to the server of the trial's policy so far."""
        return int(getattr(self._policy, 'connections', 0))

    def _look_at_connection(self) -> None:
        """Notes a connection that was made again since the last look."""
        before, self._connections = self._connections, self._policy_connections
        if self._connections == before:
            return
        self._run.note_reconnection(self.name)
        if self._options.reconnected == INVALID:
            self._break_off(AGAIN)

    def _break_off(self, why: str, problem: BaseException | None = None) -> None:
        """Marks the trial as invalid. problem: for those who may know the policy."""
        self._run.break_off(self.name, why)
        self._problem = f'trial {self.name} is invalid: {why}'
        if problem is not None:
            self._run.folder.note(f'trial {self.name}: {type(problem).__name__}: {problem}')

    def _check(self, inference: Inference) -> None:
        """Raises PolicyError where the policies move different joints: the robot's node takes the
        columns of the first chunk for those of all.
        """
        columns = (inference.action_space, inference.action_names, inference.action_units)
        self._columns = self._columns or columns
        if columns != self._columns:
            raise PolicyError(f'it gives {columns}, and the first policy {self._columns}')

    def _blinded(self, inference: Inference) -> Inference:
        """Returns an inference without what names its policy."""
        return Inference(
            **{name: getattr(inference, name) for name in PASSED},
            # Features are compared with those of one source: here, of one trial.
            feature_source=f'trial {self.name}' if inference.features is not None else '',
            memory_device=NAN,
            unavailable=dict.fromkeys(inference.unavailable, HIDDEN),
        )


assert {*PASSED} <= {field.name for field in fields(Inference)}


def connected(run: SessionRun) -> dict[str, Policy]:
    """Returns the policies of a session, connected.

    Raises:
        SetupError: a server cannot be used; the log has the reason.
    """
    made: dict[str, Policy] = {}
    missing = 0
    for name, values in run.policies.items():
        try:
            server = RemoteServer.make(RemoteServer.read_options(**values), is_logged=False)
            made[name] = server
            server.wait(START_WAIT)  # also with wait 0: what it says of itself must be known
            says = {'policy': server.name, 'checkpoint': server.checkpoint}
            run.folder.recognise(name, {**says, 'fingerprint': dict(server.fingerprint)})
            for note in made[name].notes:
                run.folder.note(f'{name}: {note}')
            made[name].warm_up()
        except FrameRosError as error:
            run.folder.note(f'{name}: {error}')
            missing += 1
    if missing:
        for policy in made.values():
            policy.close()
        raise SetupError(
            f'{missing} of {len(run.policies)} policy servers cannot be used; whoever set the '
            f'session up finds the reason in {run.folder.log_name}'
        )
    return made


def _common(values: Iterable[Any], problem: str) -> Any:
    """Returns the one value. Raises SetupError: there are several."""
    found = list(values)
    if len(found) > 1:
        raise SetupError(f'the policies {problem}')
    return found[0]
