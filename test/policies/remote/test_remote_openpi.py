# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""OpenPI both ways: its client asks our server, our client asks a server that speaks as its does.

The client and the codec are those of the package openpi-client; what observations look like is
from openpi's src/openpi/policies (make_droid_example, make_aloha_example, make_libero_example).
"""

from __future__ import annotations

import traceback
from collections.abc import Callable

import numpy as np
import pytest
from patience import PATIENCE

pytest.importorskip('openpi_client')
from openpi_client import image_tools, msgpack_numpy
from openpi_client.websocket_client_policy import WebsocketClientPolicy
from remote_servers import JOINTS, TokenPolicy, behaving, observation, serving

from frame_ros.core.errors import PolicyError, PolicyFailedError
from frame_ros.policies.base import Policy
from frame_ros.policies.protocol import Inference
from frame_ros.policies.registry import make_policy
from frame_ros.policies.remote import connect_remote_policy
from frame_ros.policies.remote.convention import Convention
from frame_ros.policies.remote.images import resize_with_border
from frame_ros.policies.remote.presets import make_preset

PANDA = (*(f'panda_joint{i}' for i in range(1, 8)), 'panda_finger_joint1')
PANDA_GRIPPER = {'panda_finger_joint1': (0.0, 0.04)}
ALOHA = tuple(
    f'{side}_{part}' for side in ('left', 'right') for part in (*'abcdef', 'gripper')
)  # fmt: skip
ALOHA_GRIPPERS = {name: (-0.5, 1.5) for name in ALOHA if 'gripper' in name}
POSE = np.array((0.5, 0.1, 0.3, 0.0, 0.0, np.sin(0.4), np.cos(0.4)))

pytestmark = pytest.mark.filterwarnings('ignore:connect:DeprecationWarning')


class OpenPIServer:
    """Speaks as openpi's WebsocketPolicyServer does. infer: its policy. seen: the observations."""

    def __init__(self, infer: Callable[[dict], dict]) -> None:
        self.infer, self.seen = infer, []

    def __call__(self, connection) -> None:
        packer = msgpack_numpy.Packer()
        connection.send(packer.pack({'config': 'made-here', 'reset_pose': [0.0]}))
        while True:
            self.seen.append(msgpack_numpy.unpackb(connection.recv()))
            try:
                result = self.infer(self.seen[-1]) | {'server_timing': {'infer_ms': 0.06}}
            except Exception:
                connection.send(traceback.format_exc())
                connection.close(1011, 'Internal server error.')
                return
            connection.send(packer.pack(result))


def ask(preset: str, actions: np.ndarray, joints, grippers, seen, **options):
    """Our client's answer to one observation, and what the server saw."""
    server = OpenPIServer(lambda _: {'actions': actions, 'policy_timing': {'infer_ms': 0.05}})
    with behaving(server) as url:
        policy = connect_remote_policy(
            url, joints, preset, gripper_limits=grippers, deadline=PATIENCE, **options
        )
        answer = policy.infer(seen)
        policy.close()
    return policy, answer, server.seen[-1]


def panda_observation(**fields):
    images = {c: np.full((48, 64, 3), 9, np.uint8) for c in ('front', 'wrist', 'hand')}
    given = {'images': images, 'poses': {'tcp': POSE}, **fields}
    seen = observation(names=PANDA, **given)
    seen.joint_positions[:] = (0.1, 0.2, 0.3, -1.5, 0.5, 1.6, 0.7, 0.01)
    return seen


def test_a_droid_server_gets_its_keys_and_its_velocities_become_positions():
    velocities = np.zeros((4, 8), np.float32)
    velocities[:, 0], velocities[:, 1], velocities[:, 7] = 0.5, -3.0, (0.2, 0.6, 0.4, 0.9)
    camera_names = {'observation/wrist_image_left': 'hand'}
    seen = panda_observation()
    policy, answer, message = ask(
        'droid', velocities, PANDA, PANDA_GRIPPER, seen, camera_names=camera_names
    )
    assert policy.cameras == ('front', 'hand')
    assert {key: np.shape(value) for key, value in message.items()} == {
        'observation/exterior_image_1_left': (224, 224, 3),
        'observation/wrist_image_left': (224, 224, 3),
        'observation/joint_position': (7,),
        'observation/gripper_position': (1,),
        'prompt': (),
    }
    np.testing.assert_array_equal(message['observation/joint_position'], seen.joint_positions[:7])
    np.testing.assert_allclose(message['observation/gripper_position'], [0.75])  # 1 is closed
    assert answer.action_space == 'joint_position' and answer.dt == pytest.approx(1 / 15)
    np.testing.assert_allclose(answer.actions[:, 0], 0.1 + 0.1 * np.arange(1, 5))
    np.testing.assert_allclose(answer.actions[:, 1], 0.2 - 0.2 * np.arange(1, 5))
    np.testing.assert_allclose(answer.actions[:, 7], [0.04, 0.0, 0.04, 0.0], atol=1e-12)
    np.testing.assert_allclose(answer.actions[:, 2], 0.3)
    assert (answer.forward, set(answer.unavailable)) == (
        0.00005, {'tokens', 'samples', 'rephrasings', 'features'},
    )  # fmt: skip
    assert answer.transport > 0
    assert policy.facts[0].endswith('; config made-here') and policy.notes == []  # no lists


def test_a_libero_server_gets_the_pose_and_its_actions_are_changes_of_it():
    actions = np.tile((1.0, -0.5, 0.0, 0.2, 0.0, -1.0, 1.0), (3, 1))
    policy, answer, message = ask('libero', actions, PANDA, PANDA_GRIPPER, panda_observation())
    assert policy.poses == ('tcp',)
    state = message['observation/state']
    np.testing.assert_allclose(state, (0.5, 0.1, 0.3, 0.0, 0.0, 0.8, 0.01, -0.01), atol=1e-12)
    assert message['observation/image'].shape == (224, 224, 3)
    assert answer.action_space == 'ee_delta'
    assert answer.action_names == ('x', 'y', 'z', 'rx', 'ry', 'rz', 'panda_finger_joint1')
    # robosuite's controller clips its input to one, so a larger output asks for no more.
    larger = ask('libero', 3 * actions, PANDA, PANDA_GRIPPER, panda_observation())[1]
    assert np.abs(larger.actions[:, :3]).max() == 0.05
    expected = (0.05, -0.025, 0.0, 0.1, 0.0, -0.5, 0.0)
    np.testing.assert_allclose(answer.actions, np.tile(expected, (3, 1)), atol=1e-12)


def test_a_hand_that_points_down_does_not_jump_by_a_turn():
    convention = Convention(make_preset('libero'), PANDA, PANDA_GRIPPER)
    vectors = []
    for angle in (np.pi - 0.2, np.pi + 0.2):
        pose = np.array((0.5, 0.1, 0.3, np.sin(angle / 2), 0.0, 0.0, np.cos(angle / 2)))
        for sign in (1, -1):  # the same rotation
            seen = panda_observation(poses={'tcp': pose * (1, 1, 1, *(sign,) * 4)})
            vectors.append(convention.to_wire(seen)['observation/state'][3:6])
    np.testing.assert_allclose(
        vectors, [(np.pi + a, 0.0, 0.0) for a in (-0.2, -0.2, 0.2, 0.2)], atol=1e-12
    )


def test_joints_in_another_order_than_the_actions_are_refused():
    with pytest.raises(
        PolicyError, match=r'have the gripper at \[7\].*in the order of its actions'
    ):
        Convention(make_preset('droid'), (PANDA[-1], *PANDA[:-1]), PANDA_GRIPPER)
    swapped = (*ALOHA[:5], ALOHA[6], ALOHA[5], *ALOHA[7:])
    with pytest.raises(PolicyError, match=r'have the gripper at \[6, 13\]'):
        Convention(make_preset('aloha'), swapped, ALOHA_GRIPPERS)


def test_an_aloha_server_gets_nested_images_channels_first():
    images = {
        c: np.full((48, 64, 3), 9, np.uint8)
        for c in ('cam_high', 'cam_left_wrist', 'cam_right_wrist')
    }
    seen = observation(names=ALOHA, images=images)
    seen.joint_positions[[6, 13]] = (-0.5, 0.5)
    actions = np.full((5, 14), 0.25)
    _, answer, message = ask('aloha', actions, ALOHA, ALOHA_GRIPPERS, seen)
    assert {name: image.shape for name, image in message['images'].items()} == dict.fromkeys(
        images, (3, 224, 224)
    )
    np.testing.assert_allclose(message['state'][[6, 13]], (0.0, 0.5), atol=1e-12)  # 1 is open
    np.testing.assert_allclose(answer.actions[:, [0, 6]], np.tile((0.25, 0.0), (5, 1)), atol=1e-12)
    assert answer.dt == 0.02 and answer.action_names == ALOHA


def test_keys_of_ones_own_and_units_of_lerobot():
    keys = {
        'observation/image': 'images.front',
        'observation/state': 'joints',
        'task': 'instruction',
    }
    seen = observation()
    policy, answer, message = ask(
        'openpi', np.full((2, 6), 90.0), JOINTS, {'gripper': (-0.2, 1.8)}, seen,
        observation_keys=keys, is_in_degrees=True, gripper='percent_open', action_rate=20.0,
    )  # fmt: skip
    assert set(message) == set(keys) and message['task'] == seen.instruction
    np.testing.assert_array_equal(message['observation/image'], seen.images['front'])
    expected = np.rad2deg(seen.joint_positions)
    expected[5] = 100 * (seen.joint_positions[5] + 0.2) / 2.0
    np.testing.assert_allclose(message['observation/state'], expected)
    np.testing.assert_allclose(answer.actions, [[np.pi / 2] * 5 + [1.6]] * 2)
    assert answer.dt == 0.05
    policy.close()


def test_what_an_openpi_server_may_do_wrong():
    actions = {
        'right': np.zeros((2, 8)),
        'narrow': np.zeros((2, 3)),
        'nan': np.full((2, 8), np.nan),
    }

    def infer(message: dict) -> dict:
        return {'actions': actions[message['prompt']]}

    with behaving(OpenPIServer(infer)) as url:
        policy = connect_remote_policy(url, PANDA, 'droid', gripper_limits=PANDA_GRIPPER)
        for prompt, text in (
            ('narrow', '3 values per action; 8 are expected'),
            ('nan', 'not finite'),
            ('unknown', "the server says: .*KeyError: 'unknown'"),
        ):
            with pytest.raises(PolicyError, match=f'(?s){text}') as caught:
                policy.infer(panda_observation(instruction=prompt))
            assert isinstance(caught.value, PolicyFailedError) == (prompt == 'nan')
            policy.wait(PATIENCE)  # it connects again by itself
        assert policy.infer(panda_observation(instruction='right')).actions.shape == (2, 8)
        with pytest.raises(PolicyError, match="lacks camera 'wrist'"):
            policy.infer(panda_observation(images={'front': np.zeros((4, 4, 3), np.uint8)}))
        policy.close()


def test_the_first_call_of_an_openpi_server_is_made_ahead():
    server = OpenPIServer(lambda _: {'actions': np.zeros((2, 8))})
    with behaving(server) as url:
        policy = connect_remote_policy(url, PANDA, 'droid', gripper_limits=PANDA_GRIPPER)
        policy.warm_up()
        policy.close()
    assert server.seen[0]['observation/wrist_image_left'].shape == (224, 224, 3)


def test_openpis_client_asks_our_server():
    policy = make_policy('hold', horizon=4)
    with serving(policy, joint_names=JOINTS) as server:
        client = WebsocketClientPolicy('127.0.0.1', server.port)
        assert client.get_server_metadata()['frame_ros']['policy'] == 'hold'
        message = {'state': np.arange(6.0), 'images': observation().images, 'prompt': 'hold'}
        for number in range(2):
            answer = client.infer(message)
            assert set(answer) == {'actions', 'server_timing', 'policy_timing'}
            np.testing.assert_array_equal(answer['actions'], np.tile(np.arange(6.0), (4, 1)))
            assert ('prev_total_ms' in answer['server_timing']) == bool(number)
            assert answer['policy_timing']['infer_ms'] >= 0
        with pytest.raises(RuntimeError, match="lacks 'state'"):
            client.infer({'prompt': 'nothing else'})
        # It cuts every array of the answer into steps, so the actions must be the only one.
        arrays = [key for key, value in client.infer(message).items() if np.ndim(value)]
        assert arrays == ['actions']
        client._ws.close()


@pytest.mark.parametrize('is_nested', [False, True])
def test_openpis_droid_client_asks_our_server(is_nested):
    convention = Convention(make_preset('droid'), PANDA, PANDA_GRIPPER)
    with serving(make_policy('hold', horizon=3), convention) as server:
        client = WebsocketClientPolicy('127.0.0.1', server.port)
        inner = {
            'exterior_image_1_left': np.zeros((224, 224, 3), np.uint8),
            'wrist_image_left': np.zeros((3, 224, 224), np.float32),
            'joint_position': np.arange(7.0) / 10,
            'gripper_position': np.array([0.25]),
        }
        flat = {f'observation/{key}': value for key, value in inner.items()}
        message = {'observation': inner} if is_nested else flat
        actions = client.infer(message | {'prompt': 'hold'})['actions']
        np.testing.assert_allclose(actions, np.tile((0.0,) * 7 + (0.25,), (3, 1)), atol=1e-12)
        with pytest.raises(RuntimeError, match="lacks 'observation/joint_position'"):
            client.infer({key: v for key, v in flat.items() if 'joint' not in key} | {'prompt': ''})
        with pytest.raises(RuntimeError, match='must hold 7 numbers'):
            client.infer(flat | {'observation/joint_position': np.zeros(6), 'prompt': ''})
        client._ws.close()


class OwnOrder(Policy):
    """A policy that stays where it is, with its columns, units and space as given."""

    name = 'own'

    def __init__(self, names, units=None, space='joint_position'):
        self.names, self.units, self.space = names, units or ('rad',) * len(names), space

    def infer(self, observation):
        at = dict(zip(observation.joint_names, observation.joint_positions))
        row = [at.get(name, 0.0) for name in self.names]
        observation.joint_positions[:] *= 57.3  # which must not come into DROID's velocities
        return Inference(np.array([row, row]), 0.1, self.names, self.units, self.space)


def answered(policy, message, convention=None, names=()):
    """Returns what OpenPI's client gets, or the text of the error that it raises."""
    with serving(policy, convention, joint_names=names) as server:
        client = WebsocketClientPolicy('127.0.0.1', server.port)
        try:
            return client.infer(message)['actions']
        except RuntimeError as error:
            return str(error)
        finally:
            client._ws.close()


def test_clients_without_names_get_the_joints_in_the_order_of_the_server():
    message = {'state': np.arange(6.0)}
    found = answered(OwnOrder(JOINTS[::-1]), message, names=JOINTS)
    np.testing.assert_array_equal(found, [np.arange(6.0)] * 2)
    some = answered(OwnOrder(JOINTS[3:0:-1]), message, names=JOINTS)
    np.testing.assert_array_equal(some, [[1.0, 2.0, 3.0]] * 2)
    assert 'moves elbow, ' in answered(OwnOrder(('elbow', 'gripper')), message, names=JOINTS)
    degrees = answered(OwnOrder(JOINTS, ('degrees',) * 6), message, names=JOINTS)
    assert 'joint_position in degrees; this client takes' in degrees
    pose = OwnOrder(('x', 'y', 'z'), ('m',) * 3, 'ee_delta')
    assert answered(pose, message, names=JOINTS).shape == (2, 3)


def test_a_preset_takes_joint_positions_in_its_order_alone():
    convention = Convention(make_preset('droid'), PANDA, PANDA_GRIPPER)
    message = {
        'observation/exterior_image_1_left': np.zeros((224, 224, 3), np.uint8),
        'observation/wrist_image_left': np.zeros((224, 224, 3), np.uint8),
        'observation/joint_position': np.arange(7.0) / 10,
        'observation/gripper_position': np.array([0.25]),
        'prompt': 'hold',
    }
    found = answered(OwnOrder(PANDA[::-1]), message, convention)
    np.testing.assert_allclose(found, [(0.0,) * 7 + (0.25,)] * 2, atol=1e-12)
    assert 'this client takes panda_joint1' in answered(OwnOrder(PANDA[:7]), message, convention)
    pose = OwnOrder(PANDA, space='joint_delta')
    assert 'gives joint_delta in rad' in answered(pose, message, convention)


def test_actions_go_out_and_come_back_the_same():
    convention = Convention(make_preset('droid', has_binary_gripper=False), PANDA, PANDA_GRIPPER)
    seen = panda_observation()
    steps = np.cumsum(np.random.default_rng(0).uniform(-0.05, 0.05, (6, 8)), axis=0)
    actions = np.clip(seen.joint_positions + steps, -3.0, 3.0)
    actions[:, 7] = np.linspace(0.0, 0.04, 6)
    wire = convention.actions_to_wire(actions, seen)
    np.testing.assert_allclose(convention.actions_from_wire(wire, seen), actions, atol=1e-12)
    message = convention.to_wire(seen)
    back = convention.from_wire(message)
    np.testing.assert_allclose(back['joint_positions'], seen.joint_positions, atol=1e-12)
    assert set(back['images']) == {'front', 'wrist'}


def test_our_own_clients_get_all_from_a_server_with_another_preset():
    keys = {'observation/image': 'images.front', 'observation/state': 'joints'}
    convention = Convention(make_preset('openpi', keys), JOINTS)
    with serving(TokenPolicy(), convention) as server:
        policy = connect_remote_policy(server.url, JOINTS)
        assert policy.infer(observation()).tokens is not None
        policy.close()


@pytest.mark.parametrize(
    'shape', [(480, 640), (640, 480), (224, 224), (100, 1000), (37, 53), (1, 900)]
)
def test_images_are_resized_as_openpi_does(shape):
    image = np.random.default_rng(0).integers(0, 256, (*shape, 3), np.uint8)
    ours = resize_with_border(image, (224, 224))
    if min(shape) > 1:  # theirs fails on an image that vanishes
        np.testing.assert_array_equal(ours, image_tools.resize_with_pad(image, 224, 224))
    assert ours.shape == (224, 224, 3)
