# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""A policy in LeRobot's own gRPC server (lerobot.async_inference.policy_server), for trusted
networks only.

Both sides pickle: the server unpickles anything sent to its port, which runs its code
(CVE-2026-25874). Its answers are read here by `lerobot_replies`, which runs nothing; but the server
stays open to others.
"""

from __future__ import annotations

import math
import pickle
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from frame_ros.core.errors import MissingExtraError, PolicyError, install_hint
from frame_ros.core.lerobot_import import import_lerobot
from frame_ros.core.options import option, options
from frame_ros.policies.base import Policy
from frame_ros.policies.checkpoint import open_checkpoint
from frame_ros.policies.lerobot_server.replies import read_actions
from frame_ros.policies.protocol import EXTRAS, Inference, Observation
from frame_ros.policies.remote.server import is_loopback
from frame_ros.robots.joint_units import UNITS, joint_units

CHUNK = 2 * 1024 * 1024  # bytes per message of an observation, as LeRobot's own client has it
IMAGES = 'observation.images.'
STATE = 'observation.state'
LOAD_DEADLINE = 300.0  # s that the server may take to load a policy
RISK = (
    "LeRobot's policy server unpickles what anyone who reaches its port sends, which lets them run "
    'programs as its user (CVE-2026-25874). Use frame-ros serve, which never does; or, if the '
    'server is on this machine or behind a tunnel and everybody there is trusted, set the option '
    'allow_pickle=true'
)
UNAVAILABLE = "LeRobot's gRPC server answers with actions only"


@options
class ServerOptions:
    """Options of a policy in LeRobot's own server."""

    folder: str = option('', 'where the server finds the checkpoint')
    robot_joint_names: tuple[str, ...] = option((), 'joints in the order of state and action')
    address: str = option('127.0.0.1:8080', 'host:port')
    allow_pickle: bool = option(False, 'accept the risk of a server that unpickles')
    allow_remote: bool = option(False, 'the server may be on another machine')
    policy_type: str = option('', 'of a checkpoint that is not on this machine, such as act')
    camera_names: Mapping[str, str] | None = option(
        None, 'image feature -> camera; none: read from a checkpoint on this machine'
    )
    gripper_limits: Mapping[str, tuple[float, float]] | None = option(
        None, 'gripper joint -> closed and open position, rad or m'
    )
    units: str = option('degrees', 'of the joints in state and action', choices=UNITS)
    action_rate: float = option(30.0, 'frame rate of the training data', unit='Hz', above=0.0)
    device: str = option('cpu', 'of the server')
    actions_per_chunk: int = option(50, 'steps of a chunk', at_least=1)
    deadline: float = option(5.0, 'longest inference', unit='s', above=0.0)


class LeRobotServerPolicy(Policy):
    """A policy in LeRobot's policy server, which loads the checkpoint. The server has no notion of
    an episode: `reset` only drops what it holds for us.
    """

    Options = ServerOptions
    needs = {'folder': 'the folder in which the server finds it'}

    def __init__(self, options: ServerOptions) -> None:
        """Connects to the server.

        Raises:
            PolicyError: the risk is not accepted, or an option is missing or wrong.
            MissingExtraError: LeRobot or grpcio is not installed.
        """
        self.check(options)
        kind, cameras = _describe(options.folder, options.policy_type, options.camera_names)
        names = options.robot_joint_names
        self.name, self.checkpoint = kind, options.folder
        self.cameras = tuple(cameras.values())
        self.notes = [f'{options.address}: {RISK.split(". Use")[0]}']
        self._address, self._deadline = options.address, options.deadline
        self._joint_names = names
        self._units = joint_units(options.units, names, options.gripper_limits)
        self._dt, self._features = 1.0 / options.action_rate, dict(cameras)
        self._setup = {
            'policy_type': kind,
            'pretrained_name_or_path': options.folder,
            'actions_per_chunk': options.actions_per_chunk,
            'device': options.device,
            'lerobot_features': _features(names, cameras),
        }
        self._step, self._is_ready = 0, False
        self._grpc, self._messages, self._channel, self._stub = _open(options.address)

    @classmethod
    def check(cls, options: ServerOptions) -> None:
        """Checks that the risk is accepted, and the address.

        Raises:
            PolicyError: it is not, or the address is invalid.
        """
        _check_trust(options)

    def reset(self, seed: int | None = None) -> None:
        """Forgets the last episode; the server takes no seed."""
        self._is_ready = False

    def warm_up(self) -> None:
        """Has the server load the policy.

        Raises:
            PolicyError: it is not there, or cannot.
        """
        self._prepare()

    def close(self) -> None:
        """Ends the connection."""
        self._channel.close()

    def infer(self, observation: Observation) -> Inference:
        """Returns the chunk that the server answers to this observation, and no other.

        Raises:
            PolicyError: the observation lacks something, the server is not there, does not answer
            in time, answers nothing, or something else.
        """
        raw = self._raw(observation)
        self._prepare()
        self._step += 1
        end = time.monotonic() + self._deadline
        self._send(raw, end)
        reply = self._call(self._stub.GetActions, self._messages.Empty(), end - time.monotonic())
        if not reply.data:
            raise PolicyError(
                f"LeRobot's server {self._address} answered nothing; its log says why. It does so "
                'for Diffusion and VQ-BeT policies always: use frame-ros serve for those'
            )
        return Inference(
            actions=self._units.to_radians(self._actions(reply.data)),
            dt=self._dt,
            action_names=self._joint_names,
            action_units=('rad',) * len(self._joint_names),
            transport=math.nan,
            unavailable=dict.fromkeys(EXTRAS, UNAVAILABLE),
        )

    def _prepare(self) -> None:
        """Lets the server load the policy at first, and empties its queue at each episode."""
        from lerobot.async_inference.helpers import RemotePolicyConfig

        if self._is_ready:
            return
        self._call(self._stub.Ready, self._messages.Empty(), self._deadline)
        if self._step == 0:
            setup = pickle.dumps(RemotePolicyConfig(**self._setup))
            request = self._messages.PolicySetup(data=setup)
            self._call(self._stub.SendPolicyInstructions, request, LOAD_DEADLINE)
        self._is_ready = True

    def _send(self, raw: dict[str, Any], end: float) -> None:
        from lerobot.async_inference.helpers import TimedObservation

        # must_go: otherwise the server silently drops observations similar to the last one.
        observation = TimedObservation(
            timestamp=time.time(), timestep=self._step, observation=raw, must_go=True
        )
        data = pickle.dumps(observation)
        self._call(self._stub.SendObservations, self._chunks(data), end - time.monotonic())

    def _chunks(self, data: bytes) -> Iterator[Any]:
        states = self._messages.TransferState
        for start in range(0, len(data), CHUNK):
            is_last = start + CHUNK >= len(data)
            state = states.TRANSFER_BEGIN if start == 0 else states.TRANSFER_MIDDLE
            yield self._messages.Observation(
                transfer_state=states.TRANSFER_END if is_last else state,
                data=data[start : start + CHUNK],
            )

    def _call(self, method: Callable[..., Any], request: Any, timeout: float) -> Any:
        try:
            return method(request, timeout=max(timeout, 0.001))
        except self._grpc.RpcError as error:
            self._is_ready = False
            code = error.code()
            if code == self._grpc.StatusCode.DEADLINE_EXCEEDED:
                text = f'did not answer within {max(timeout, 0.0):.3g} s'
            elif code == self._grpc.StatusCode.UNAVAILABLE:
                text = f'is not there: {error.details()}'
                self._step = 0  # another one will not have loaded the policy
            else:
                text = f'failed: {error.details()} ({code.name})'
            raise PolicyError(f"LeRobot's server {self._address} {text}") from error

    def _raw(self, observation: Observation) -> dict[str, Any]:
        """The observation as a LeRobot robot gives it."""
        index = {name: i for i, name in enumerate(observation.joint_names)}
        if missing := [name for name in self._joint_names if name not in index]:
            raise PolicyError(
                f'the observation lacks joints {missing}; it has {list(observation.joint_names)}'
            )
        if missing := [name for name in self.cameras if name not in observation.images]:
            raise PolicyError(
                f'the observation lacks cameras {missing}; it has {sorted(observation.images)}'
            )
        order = [index[name] for name in self._joint_names]
        values = self._units.to_policy(observation.joint_positions[order])
        raw: dict[str, Any] = {
            f'{name}.pos': float(value)
            for name, value in zip(self._joint_names, values, strict=True)
        }
        raw |= {key: observation.images[camera] for key, camera in self._features.items()}
        return raw | {'task': observation.instruction}

    def _actions(self, data: bytes) -> NDArray[np.float64]:
        """(H, D) in the policy's units."""
        actions = read_actions(data)
        if actions.stamps[0] != self._step:
            raise PolicyError(
                f"LeRobot's server {self._address} answered observation {actions.stamps[0]} in "
                f'place of {self._step}; the answer was not used'
            )
        width = len(self._joint_names)
        if actions.values.shape[1] != width:
            raise PolicyError(
                f'the server gave {actions.values.shape[1]} values per action; {width} are '
                f'expected: {", ".join(self._joint_names)}'
            )
        return actions.values


def _check_trust(options: ServerOptions) -> None:
    if not options.allow_pickle:
        raise PolicyError(RISK)
    host, _, port = options.address.rpartition(':')
    host = host.strip('[]')
    if not host or not port.isdecimal():
        raise PolicyError(f'the address is {options.address!r}; it must be like 127.0.0.1:8080')
    if not is_loopback(host) and not options.allow_remote:
        raise PolicyError(
            f'{host} is another machine: nothing on the way is encrypted, and {RISK[0].lower()}'
            f'{RISK[1:].split(". Use")[0]}. Reach it through a tunnel (ssh -L 8080:127.0.0.1:8080 '
            f'{host}), or set the option allow_remote=true'
        )


def _describe(
    folder: str, policy_type: str, camera_names: Mapping[str, str] | None
) -> tuple[str, dict[str, str]]:
    """Returns the kind of policy, and image feature without its prefix -> camera."""
    names = dict(camera_names or {})
    if Path(folder).expanduser().is_dir():
        checkpoint = open_checkpoint(folder)
        policy_type = policy_type or checkpoint.policy_type
        found = [f for f in checkpoint.config.get('input_features', {}) if f.startswith(IMAGES)]
        names = names or {feature: feature[len(IMAGES) :] for feature in found}
    if not policy_type:
        raise PolicyError(
            f'{folder} is not on this machine; say what it is by the options policy_type (such as '
            'act) and camera_names'
        )
    if wrong := [feature for feature in names if not feature.startswith(IMAGES)]:
        raise PolicyError(f'camera_names has {wrong[0]!r}; image features begin with {IMAGES!r}')
    return policy_type, {feature[len(IMAGES) :]: camera for feature, camera in names.items()}


def _features(names: Sequence[str], cameras: Mapping[str, str]) -> dict[str, dict[str, Any]]:
    """The robot's features as LeRobot's data sets describe them. The server resizes images."""
    state = {
        'dtype': 'float32',
        'shape': (len(names),),
        'names': [f'{name}.pos' for name in names],
    }
    axes = ['height', 'width', 'channels']
    image = {'dtype': 'image', 'shape': (480, 640, 3), 'names': axes}
    return {STATE: state, **{IMAGES + key: dict(image) for key in cameras}}


def _open(address: str) -> tuple[Any, Any, Any, Any]:
    """grpc, the messages, the channel and the stub."""
    import_lerobot()
    try:
        import grpc
        import lerobot.async_inference.helpers
        from lerobot.transport import services_pb2, services_pb2_grpc
    except ImportError as error:
        raise MissingExtraError(
            f"LeRobot's server cannot be spoken to: {error}: {install_hint('lerobot')}"
        ) from error
    assert lerobot
    channel = grpc.insecure_channel(address)
    return grpc, services_pb2, channel, services_pb2_grpc.AsyncInferenceStub(channel)
