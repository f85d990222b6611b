# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Servers in threads, for the tests of remote policies: ours, and ones that behave in any way."""

from __future__ import annotations

import contextlib
import ssl
import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from patience import PATIENCE

from frame_ros.metrics.token_statistics import token_statistics
from frame_ros.policies.base import Policy
from frame_ros.policies.protocol import Inference, Observation, TokenStatistics
from frame_ros.policies.remote import InferenceService, PolicyServer
from frame_ros.policies.remote.serving_options import NetworkOptions

JOINTS = ('shoulder_pan', 'shoulder_lift', 'elbow_flex', 'wrist_flex', 'wrist_roll', 'gripper')


class TokenPolicy(Policy):
    """Two binned joints with a vocabulary of 16, from logits that depend on the observation; as
    many confidences as there are rephrasings; a history of 3 observations.
    """

    name, checkpoint, cameras, poses = 'binned', 'made-here', ('front',), ('object',)
    notes = ['made for a test']
    n_action_steps, needs_instruction = 2, True
    needs_history, history_steps, history_period = True, 3, 0.1

    def __init__(self) -> None:
        self.seeds: list[int | None] = []
        self.seen: list[Observation] = []
        self.duration = threading.Event()  # set: infer returns at once
        self.duration.set()

    def reset(self, seed: int | None = None) -> None:
        self.seeds.append(seed)
        self.seen.clear()

    def observe(self, observation: Observation) -> None:
        self.seen.append(observation)

    def infer(self, observation: Observation) -> Inference:
        self.duration.wait(10.0)
        self.seen.append(observation)
        rng = np.random.default_rng(int(observation.images['front'].sum()) + observation.stamp)
        logits = rng.standard_normal((6, 16))
        chosen = logits.argmax(axis=1)
        reduced = token_statistics(logits, chosen, temperatures=(0.5, 2.0))
        places = np.arange(6, dtype=np.int32)
        return Inference(
            actions=chosen.reshape(3, 2) / 16.0,
            dt=0.05,
            action_names=JOINTS[:2],
            action_units=('rad', 'rad'),
            preprocess=0.001,
            forward=0.002,
            postprocess=0.003,
            memory_device=5e6,
            tokens=TokenStatistics(**vars(reduced), step=places // 2, dimension=places % 2),
            rephrasings=observation.rephrasings,
            rephrasing_confidences=rng.uniform(size=len(observation.rephrasings)),
            unavailable={'samples': 'one chunk is decoded greedily'},
        )


@contextlib.contextmanager
def serving(policy: Policy, convention: Any = None, **options: Any) -> Iterator[PolicyServer]:
    """Our server with this policy, on a free port."""
    names = options.pop('joint_names', ())
    service = options.pop('kind', InferenceService)(policy, convention, names)
    key = options.pop('api_key', '')
    server = PolicyServer(service, NetworkOptions(**{'port': 0, **options}), key)
    thread = threading.Thread(target=server.run)
    thread.start()
    assert server.wait_until_ready(PATIENCE)
    try:
        yield server
    finally:
        server.stop()
        thread.join(PATIENCE)
        assert not thread.is_alive()


@contextlib.contextmanager
def behaving(
    handle: Callable[[Any], None], port: int = 0, ssl: ssl.SSLContext | None = None
) -> Iterator[str]:
    """A websocket server whose connections are given to `handle`; yields its address."""
    from websockets.exceptions import ConnectionClosed
    from websockets.sync.server import serve

    def run(connection: Any) -> None:
        with contextlib.suppress(ConnectionClosed):
            handle(connection)

    with serve(run, '127.0.0.1', port, compression=None, max_size=None, ssl=ssl) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f'ws://127.0.0.1:{server.socket.getsockname()[1]}'
        finally:
            server.shutdown()
            thread.join(PATIENCE)


def observation(seed: int = 0, names: tuple[str, ...] = JOINTS, **fields: Any) -> Observation:
    """Random, with the cameras front and wrist and the poses of the scripted policy."""
    rng = np.random.default_rng(seed)
    given = {
        'stamp': 10**9 + seed * 10**8,
        'oldest_stamp': 10**9,
        'images': {c: rng.integers(0, 256, (48, 64, 3), np.uint8) for c in ('front', 'wrist')},
        'poses': {
            'object': np.array((0.25, 0.05, 0.015, 0.0, 0.0, 0.0, 1.0)),
            'goal': np.array((0.2, -0.12, 0.0, 0.0, 0.0, 0.0, 1.0)),
        },
        'instruction': 'put the cube into the bin',
        'executed': 0.1 * seed,
    }
    positions = rng.uniform(-0.2, 0.2, len(names))
    return Observation(joint_names=names, joint_positions=positions, **{**given, **fields})
