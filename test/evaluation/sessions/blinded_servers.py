# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Two policies that name themselves wherever they can, and sessions of them."""

from __future__ import annotations

import contextlib
import hashlib
import json
import re
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from patience import PATIENCE
from remote_servers import JOINTS, serving

from frame_ros.core.errors import PolicyError
from frame_ros.evaluation.sessions.blinded_policy import BlindedPolicy, connected
from frame_ros.evaluation.sessions.blinding_options import BlindingOptions
from frame_ros.evaluation.sessions.folder import SessionFolder
from frame_ros.evaluation.sessions.journal import BEFORE, trials_of
from frame_ros.evaluation.sessions.plan import SessionOptions
from frame_ros.evaluation.sessions.running import SessionRun, mark, open_trial
from frame_ros.evaluation.sessions.service import SessionService
from frame_ros.policies.base import Policy
from frame_ros.policies.protocol import Inference, Observation
from frame_ros.policies.remote import connect_remote_policy

NAMES = ('alphanet', 'betaformer')
LEVELS = dict(zip(NAMES, (0.25, 0.5)))  # rad: what each commands
HORIZON = {'alphanet': 3, 'betaformer': 5}
OBJECTS = ('cube', 'cup')


class NamedPolicy(Policy):
    """Commands its level; says its name in all that it yields."""

    n_action_steps = 2
    needs_history, history_period = True, 0.1

    def __init__(self, name: str) -> None:
        self.name, self.checkpoint = name, f'/weights/{name}'
        self.fingerprint = {'weights': name}
        self.notes, self.facts = [f'{name} is untested'], [f'{name} is new']
        self.cameras = ('front',) if name == NAMES[0] else ('wrist',)
        self.seeds: list[int | None] = []
        self.seen: list[Observation] = []
        self.error: Exception | None = None

    def reset(self, seed: int | None = None) -> None:
        self.seeds.append(seed)
        self.seen.clear()

    def observe(self, observation: Observation) -> None:
        self.seen.append(observation)

    def infer(self, observation: Observation) -> Inference:
        if self.error is not None:
            raise self.error
        assert set(observation.images) == set(self.cameras)
        return Inference(
            actions=np.full((HORIZON[self.name], 6), LEVELS[self.name]),
            dt=0.05,
            action_names=JOINTS,
            action_units=('rad',) * 6,
            forward=0.001 if self.name == NAMES[0] else 0.002,
            memory_device=5e6 if self.name == NAMES[0] else 6e6,
            features=np.ones(4),
            feature_source=f'the last layer of {self.name}',
            unavailable={'tokens': f'{self.name} has none'},
        )


def refused(policy: NamedPolicy) -> PolicyError:
    """Returns an error that is not the policy's own, and names it."""
    return PolicyError(f'{policy.name} at {policy.checkpoint} lacks a camera')


@contextlib.contextmanager
def two_servers(**of_first: Any) -> Iterator[tuple[dict[str, NamedPolicy], dict[str, Any]]]:
    """Yields the policies, and their servers: name -> server. of_first: attributes of the first."""
    policies = {name: NamedPolicy(name) for name in NAMES}
    for name, value in of_first.items():
        setattr(policies[NAMES[0]], name, value)
    with contextlib.ExitStack() as stack:
        yield policies, {n: stack.enter_context(serving(p)) for n, p in policies.items()}


def make_session(
    path: Path, servers: Mapping[str, Any], cells: tuple[str, ...] = OBJECTS, **options: Any
) -> SessionFolder:
    """Draws a session of the servers."""
    patient = {'wait': PATIENCE, 'deadline': PATIENCE}
    policies = {name: {'url': server.url, **patient} for name, server in servers.items()}
    return SessionFolder.make(path, policies, SessionOptions(cells=cells, **options))


def unserved_session(path: Path, cells: tuple[str, ...] = OBJECTS, **options: Any) -> SessionFolder:
    """Draws a session of servers that nobody needs."""
    policies = {name: {'url': 'ws://127.0.0.1:9'} for name in NAMES}
    return SessionFolder.make(path, policies, SessionOptions(cells=cells, **options))


@contextlib.contextmanager
def blinding(folder: SessionFolder, **options: Any) -> Iterator[tuple[Any, list[str]]]:
    """Yields a running session server, as the command runs it, and what it says."""
    said: list[str] = []
    run = SessionRun(folder, said.append)
    made = connected(run)
    try:
        policy = BlindedPolicy(made, run, BlindingOptions(**options))
        with folder.served(), serving(policy, kind=SessionService) as server:
            run.start()
            if open_trial(trials_of(folder.journal.events())) is None:
                wait_until(lambda: said)  # a trial that begins before is not announced any more
            yield server, said
            run.stop()
    finally:
        run.stop()
        for each in (policy,) if 'policy' in locals() else made.values():
            each.close()


def wait_until(condition: Callable[[], Any]) -> None:
    """Waits until the condition holds."""
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.02)


def client_of(server: Any) -> Any:
    """Returns a client that waits for as long as a busy machine may need."""
    return connect_remote_policy(server.url, wait=PATIENCE, deadline=PATIENCE)


def key_of(folder: SessionFolder) -> dict[str, str]:
    """Returns id -> policy of the first attempts of all trials, in their order."""
    key = folder.key()
    return {key.trial_id(i, 0): slot.policy for i, slot in enumerate(key.slots)}


def rewrite(folder: SessionFolder, change: Callable[[str], str]) -> None:
    """Changes the lines of a journal, and their digests, so that it is not noticed."""
    lines: list[str] = []
    for line in folder.journal.path.read_text().splitlines():
        before = hashlib.sha256(lines[-1].encode()).hexdigest() if lines else ''
        lines.append(json.dumps({**json.loads(change(line)), BEFORE: before}))
    folder.journal.path.write_text('\n'.join(lines) + '\n')


def last_trial(folder: SessionFolder) -> str:
    """Returns the id of the trial that began last."""
    return list(trials_of(folder.journal.events()))[-1]


def play(folder: SessionFolder, outcomes: Mapping[str, list[str]] | None = None) -> list[str]:
    """Runs a session on paper to its end: its trials begin in their order and are marked; returns
    their ids. outcomes: policy -> the marks of its trials, in turn; else all succeed.
    """
    run = SessionRun(folder, lambda text: None)
    left = {name: list(marks) for name, marks in (outcomes or {}).items()}
    ids = []
    with contextlib.suppress(PolicyError):
        while True:
            attempt = run.begin('')
            ids.append(attempt.id)
            marks = left.get(attempt.what.policy)
            mark(folder, attempt.id, marks.pop(0) if marks else 'success', 'seen', 'operator')
    return ids


def events_of(folder: SessionFolder, kind: str) -> list[Mapping[str, Any]]:
    """Returns the events of a kind."""
    return [event for event in folder.journal.events() if event['event'] == kind]


def public_text(folder: SessionFolder) -> str:
    """Returns all that is in the folder of a session, but for its private part."""
    return '\n'.join(path.read_text() for path in folder.path.iterdir() if path.is_file())


def names_in(text: str | bytes, servers: Mapping[str, Any] | None = None) -> list[str]:
    """Returns what of the policies a text names: names, weights, addresses."""
    found = text if isinstance(text, bytes) else text.encode()
    words = [word for word in (*NAMES, 'weights', 'last layer') if word.encode() in found]
    ports = [str(server.port) for server in (servers or {}).values()]
    # A stamp, an id or a measured value may have the digits of a port in it.
    number = r'(?<!\w)(?<!\d\.){}(?!\w|\.\d)'
    return words + [port for port in ports if re.search(number.format(port).encode(), found)]
