# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The adapter to LeRobot's own policy server, against that server."""

from __future__ import annotations

import io
import logging
import os
import pickle
import socket
from concurrent import futures

import numpy as np
import pytest

from frame_ros.core.errors import PolicyError
from frame_ros.core.options import OptionError
from frame_ros.policies.base import Policy
from frame_ros.policies.protocol import Observation
from frame_ros.policies.registry import make_policy

pytest.importorskip('torch')
pytest.importorskip('lerobot')
pytest.importorskip('grpc')

from checkpoints import make_act_checkpoint

from frame_ros.core.lerobot_import import import_lerobot
from frame_ros.policies.lerobot_server.replies import read_actions

JOINTS = ('shoulder_pan', 'shoulder_lift', 'elbow_flex', 'wrist_flex', 'wrist_roll', 'gripper')


@pytest.fixture(scope='module')
def checkpoint(tmp_path_factory):
    return make_act_checkpoint(tmp_path_factory.mktemp('act'), chunk_size=10)


@pytest.fixture(scope='module')
def address(tmp_path_factory):
    """LeRobot's PolicyServer, as its `serve` sets it up; its `logs` folder goes aside."""
    import_lerobot()
    handlers, level, here = list(logging.root.handlers), logging.root.level, os.getcwd()
    os.chdir(tmp_path_factory.mktemp('server'))
    try:
        import grpc
        from lerobot.async_inference.configs import PolicyServerConfig
        from lerobot.async_inference.policy_server import PolicyServer
        from lerobot.transport import services_pb2_grpc
    finally:
        os.chdir(here)
    logging.root.handlers[:] = handlers  # it takes the root logger for itself
    logging.root.setLevel(level)
    config = PolicyServerConfig(obs_queue_timeout=1, inference_latency=0.0001)
    server = grpc.server(futures.ThreadPoolExecutor(max_workers=4))
    services_pb2_grpc.add_AsyncInferenceServicer_to_server(PolicyServer(config), server)
    port = server.add_insecure_port('127.0.0.1:0')
    server.start()
    yield f'127.0.0.1:{port}'
    server.stop(None).wait()


def observe(seed: int = 0) -> Observation:
    rng = np.random.default_rng(seed)
    images = {c: rng.integers(0, 256, (96, 128, 3), np.uint8) for c in ('front', 'wrist')}
    return Observation(seed + 1, seed + 1, JOINTS, rng.uniform(-0.3, 0.3, 6), images)


def make(address: str, folder, **options):
    offered = {'robot_joint_names': JOINTS, 'folder': str(folder), 'units': 'rad', 'device': 'cpu'}
    return make_policy('lerobot_grpc', offered, address=address, allow_pickle=True, **options)


def test_the_server_answers_what_the_policy_in_process_does(address, checkpoint):
    policy = make(address, checkpoint, actions_per_chunk=10)
    assert isinstance(policy, Policy)
    assert (policy.name, policy.cameras) == ('act', ('front', 'wrist'))
    assert 'CVE-2026-25874' in policy.notes[0]
    policy.warm_up()
    direct = make_policy(
        'lerobot', {'robot_joint_names': JOINTS, 'folder': checkpoint, 'units': 'rad'}
    )
    for seed in (0, 1, 1):  # the same observation again is not dropped
        policy.reset(seed)
        remote, expected = policy.infer(observe(seed)), direct.infer(observe(seed))
        np.testing.assert_allclose(remote.actions, expected.actions, atol=1e-6)
    assert remote.action_names == JOINTS and remote.action_units == ('rad',) * 6
    assert np.isnan([remote.transport, remote.forward]).all()
    assert set(remote.unavailable) == {'tokens', 'samples', 'rephrasings', 'features'}
    with pytest.raises(PolicyError, match=r"lacks cameras \['front', 'wrist'\]"):
        policy.infer(Observation(1, 1, JOINTS, np.zeros(6)))
    policy.close()


def test_a_checkpoint_that_the_server_cannot_load_is_told(address):
    policy = make(address, '/nowhere/at-all', policy_type='act')
    with pytest.raises(PolicyError, match='failed: '):
        policy.infer(observe())
    policy.close()


def test_a_server_that_is_not_there(checkpoint):
    with socket.socket() as free:
        free.bind(('127.0.0.1', 0))
        policy = make(f'127.0.0.1:{free.getsockname()[1]}', checkpoint, deadline=2.0)
        with pytest.raises(PolicyError, match='is not there|did not answer within'):
            policy.infer(observe())
        policy.close()


def test_the_risk_must_be_accepted(checkpoint):
    offered = {'robot_joint_names': JOINTS, 'folder': str(checkpoint)}
    with pytest.raises(PolicyError, match='CVE-2026-25874.*frame-ros serve.*allow_pickle=true'):
        make_policy('lerobot_grpc', offered)
    with pytest.raises(PolicyError, match='10.1.2.3 is another machine.*ssh -L.*allow_remote=true'):
        make('10.1.2.3:8080', checkpoint)
    with pytest.raises(PolicyError, match='must be like 127.0.0.1:8080'):
        make('localhost', checkpoint)
    with pytest.raises(PolicyError, match='not on this machine.*policy_type'):
        make('127.0.0.1:1', 'elsewhere/checkpoint')
    with pytest.raises(OptionError, match='deadline is 0'):
        make('127.0.0.1:1', checkpoint, deadline=0.0)


class Program:
    """An object that an attacker would send in place of actions."""

    def __init__(self, path: str) -> None:
        self.path = path

    def __reduce__(self):
        return os.mkdir, (self.path,)


def test_a_servers_answer_runs_nothing(tmp_path):
    import torch

    ran = tmp_path / 'ran'
    with pytest.raises(PolicyError, match='posix.mkdir, which no list of actions has'):
        read_actions(pickle.dumps([Program(str(ran))]))
    # The same inside the storage of a tensor, which torch would load without limits.
    torch.save(Program(str(ran)), stream := io.BytesIO(), _use_new_zipfile_serialization=False)
    wrapped = pickle.dumps(Storage(stream.getvalue()))
    with pytest.raises(PolicyError, match='posix.mkdir, which no list of actions has'):
        read_actions(wrapped)
    assert not ran.exists()
    pickle.loads(pickle.dumps(Program(str(ran))))  # noqa: S301
    assert ran.exists(), 'the attack works where nothing is refused'


class Storage:
    def __init__(self, data: bytes) -> None:
        self.data = data

    def __reduce__(self):
        import torch

        return torch.storage._load_from_bytes, (self.data,)


def action(values) -> object:
    from lerobot.async_inference.helpers import TimedAction

    return TimedAction(timestamp=0.0, timestep=7, action=values)


def test_actions_of_all_floating_types_are_read():
    import torch

    chunk = torch.arange(60.0).reshape(10, 6)
    for actions in (chunk, chunk.double(), chunk.half(), chunk.T.contiguous().T):
        read = read_actions(pickle.dumps([action(row) for row in actions]))
        np.testing.assert_array_equal(read.values, chunk.numpy())
        assert read.stamps == [7] * 10


class Rebuilt:
    """A tensor with any place, size and stride in a storage of six numbers."""

    def __init__(self, *place) -> None:
        self.place = place

    def __reduce__(self):
        import torch

        storage = torch.zeros(6).storage()
        return torch._utils._rebuild_tensor_v2, (storage, *self.place, False, {})


@pytest.mark.filterwarnings('ignore:TypedStorage is deprecated')
@pytest.mark.parametrize(
    'place',
    [(0, (10**9,), (0,)), (0, (7,), (1,)), (5, (2,), (1,)), (-6, (6,), (1,)), (0, (6, 1), (1, 1))],
)
def test_actions_beyond_what_was_sent_are_refused(place):
    with pytest.raises(PolicyError, match='not a list of actions'):
        read_actions(pickle.dumps([action(Rebuilt(*place))]))


def test_actions_that_are_not_finite_are_refused():
    import torch

    with pytest.raises(PolicyError, match='finite'):
        read_actions(pickle.dumps([action(torch.tensor([0.0, float('nan')]))]))


@pytest.mark.parametrize('data', [b'', b'garbage', pickle.dumps([]), pickle.dumps(5)])
def test_answers_that_are_no_actions(data):
    with pytest.raises(PolicyError, match='not a list of actions'):
        read_actions(data)
