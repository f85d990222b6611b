# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""LeRobot policies: real ACT checkpoints, made by LeRobot, against direct calls of LeRobot."""

import json
import os
import shutil
import struct
import sys

import numpy as np
import pytest

from frame_ros.core.errors import (
    CheckpointError,
    FrameRosError,
    MissingExtraError,
    PolicyError,
    ValueRangeError,
)
from frame_ros.core.lerobot_import import offline
from frame_ros.policies.base import Policy
from frame_ros.policies.checkpoint import open_checkpoint
from frame_ros.policies.lerobot import load_lerobot_policy
from frame_ros.policies.lerobot.configuration import load_config
from frame_ros.policies.protocol import Observation
from frame_ros.policies.registry import make_policy
from frame_ros.robots.joint_units import joint_units

lerobot = pytest.importorskip('lerobot')

from checkpoints import make_act_checkpoint  # noqa: E402
from direct_lerobot import DirectLeRobot  # noqa: E402

JOINTS = ('shoulder_pan', 'shoulder_lift', 'elbow_flex', 'wrist_flex', 'wrist_roll', 'gripper')
GRIPPER = {'gripper': (-0.174533, 1.74533)}
SIZE = (32, 48)
THINGS = {name: np.array((0.2, 0.1, 0.0, 0.0, 0.0, 0.0, 1.0)) for name in ('object', 'goal')}


@pytest.fixture(scope='module')
def checkpoint(tmp_path_factory):
    """With two cameras."""
    return make_act_checkpoint(tmp_path_factory.mktemp('act'), image_size=SIZE, dim_model=16)


@pytest.fixture(scope='module')
def bare(tmp_path_factory):
    """Without cameras, and so 200 times smaller."""
    folder = tmp_path_factory.mktemp('bare')
    return make_act_checkpoint(folder, cameras=(), poses=2, chunk_size=4, dim_model=16)


@pytest.fixture()
def copy(bare, tmp_path):
    return shutil.copytree(bare, tmp_path / 'copy')


@pytest.fixture(scope='module')
def policy(checkpoint):
    return load_lerobot_policy(checkpoint, JOINTS, units='rad')


@pytest.fixture(scope='module')
def bare_policy(bare):
    return load_lerobot_policy(bare, JOINTS, units='rad')


@pytest.fixture(scope='module')
def direct(checkpoint):
    return DirectLeRobot(checkpoint)


def observe(seed: int = 0, joint_names=JOINTS, **changes) -> Observation:
    random = np.random.default_rng(seed)
    images = {
        name: random.integers(0, 256, (*SIZE, 3), dtype=np.uint8) for name in ('front', 'wrist')
    }
    given = {'joint_positions': random.normal(0, 0.3, 6), 'images': images, **changes}
    return Observation(1, 1, tuple(joint_names), **given)


def see_things(positions=None) -> Observation:
    """An observation of a robot without cameras."""
    joints = np.linspace(-0.5, 0.5, 6) if positions is None else positions
    return Observation(1, 1, JOINTS, joints, poses=THINGS)


def direct_chunk(direct, observation: Observation) -> np.ndarray:
    """The chunk of LeRobot's own calls."""
    return direct.finish(direct.model.predict_action_chunk(direct.batch(observation)))[0]


def test_chunk_equals_a_direct_call_of_lerobot_bit_for_bit(policy, direct):
    assert isinstance(policy, Policy)
    for seed in (0, 1):
        inference = policy.infer(observe(seed))
        np.testing.assert_array_equal(inference.actions, direct_chunk(direct, observe(seed)))


def test_an_inference_says_what_it_is(policy, checkpoint):
    inference = policy.infer(observe())
    assert inference.actions.shape == (30, 6)
    assert inference.action_names == JOINTS
    assert inference.action_units == ('rad',) * 6
    assert inference.dt == pytest.approx(1 / 30)
    assert min(inference.preprocess, inference.forward, inference.postprocess) > 0
    assert (inference.transport, inference.memory_device) == (0.0, 0.0)
    assert (policy.name, policy.checkpoint, policy.cameras) == (
        'act',
        str(checkpoint),
        ('front', 'wrist'),
    )
    assert (policy.n_action_steps, policy.notes) == (30, [])


def test_joints_are_taken_by_name_in_the_order_of_the_checkpoint(policy):
    straight = observe()
    turned = Observation(
        1, 1, JOINTS[::-1], straight.joint_positions[::-1].copy(), images=straight.images
    )
    np.testing.assert_array_equal(policy.infer(straight).actions, policy.infer(turned).actions)


def test_degrees_and_gripper_percent_are_converted_both_ways(bare):
    degrees = load_lerobot_policy(bare, JOINTS, gripper_limits=GRIPPER)
    observation = see_things()
    units = joint_units('degrees', JOINTS, GRIPPER)
    raw = see_things(units.to_policy(observation.joint_positions))
    np.testing.assert_allclose(
        degrees.infer(observation).actions,
        units.to_radians(direct_chunk(DirectLeRobot(bare), raw).astype(float)),
        atol=1e-12,
    )


def test_units_by_hand():
    units = joint_units('degrees', ('elbow', 'gripper'), {'gripper': (-0.5, 1.5)})
    np.testing.assert_allclose(units.to_policy(np.array([np.pi / 2, 0.5])), [90, 50])
    np.testing.assert_allclose(units.to_policy(np.array([-np.pi, -0.5])), [-180, 0])
    np.testing.assert_allclose(units.to_radians(np.array([[180.0, 100.0]])), [[np.pi, 1.5]])
    for arguments in (
        ('turns', JOINTS),
        ('degrees', JOINTS),
        ('degrees', JOINTS, {'hand': (0, 1)}),
    ):
        with pytest.raises(ValueRangeError):
            joint_units(*arguments)
    with pytest.raises(ValueRangeError, match='1.0 to 1.0'):
        joint_units('degrees', ('gripper',), {'gripper': (1.0, 1.0)})


def test_cameras_are_renamed(checkpoint, policy):
    names = {'observation.images.front': 'top', 'observation.images.wrist': 'hand'}
    renamed = load_lerobot_policy(checkpoint, JOINTS, units='rad', camera_names=names)
    assert renamed.cameras == ('top', 'hand')
    images = observe().images
    inference = renamed.infer(observe(images={'hand': images['wrist'], 'top': images['front']}))
    np.testing.assert_array_equal(inference.actions, policy.infer(observe()).actions)


def files(folder) -> list[str]:
    return sorted(os.listdir(folder))


def test_every_missing_file_is_named(copy, tmp_path):
    assert len(files(copy)) == 6
    for name in files(copy):
        (copy / name).rename(tmp_path / 'away')
        with pytest.raises(CheckpointError) as error:
            load_lerobot_policy(copy, JOINTS, units='rad')
        (tmp_path / 'away').rename(copy / name)
        assert f'lacks {name}' in str(error.value)
        assert 'a LeRobot checkpoint has config.json, model.safetensors' in str(error.value)


def test_an_empty_folder_and_no_folder(tmp_path):
    with pytest.raises(
        CheckpointError, match=r'config.json, model.safetensors, policy_preprocessor.json'
    ):
        load_lerobot_policy(tmp_path, JOINTS, units='rad')
    with pytest.raises(CheckpointError, match='no checkpoint folder'):
        load_lerobot_policy(tmp_path / 'absent', JOINTS, units='rad')


def test_a_folder_of_lerobot_0_3_is_told_how_to_convert(copy):
    for name in files(copy):
        if name.startswith('policy_'):
            (copy / name).unlink()
    with pytest.raises(CheckpointError, match='0.3.*migrate_policy_normalization'):
        load_lerobot_policy(copy, JOINTS, units='rad')


def test_the_folder_of_a_training_run_names_the_right_one(bare, tmp_path):
    (tmp_path / 'last').mkdir()
    (tmp_path / 'last' / 'pretrained_model').symlink_to(bare)
    with pytest.raises(CheckpointError, match='the checkpoint is .*pretrained_model'):
        load_lerobot_policy(tmp_path / 'last', JOINTS, units='rad')


def edit_config(folder, **changes) -> None:
    path = folder / 'config.json'
    path.write_text(json.dumps({**json.loads(path.read_text()), **changes}))


def test_unknown_fields_of_a_newer_version_are_left_out_and_said(copy, bare_policy):
    edit_config(copy, field_of_tomorrow=3, device='cuda')
    newer = load_lerobot_policy(copy, JOINTS, units='rad')
    assert any('field_of_tomorrow' in note for note in newer.notes)
    np.testing.assert_array_equal(
        newer.infer(see_things()).actions, bare_policy.infer(see_things()).actions
    )


@pytest.mark.parametrize(
    ('changes', 'message'),
    [
        ({'type': 'tdmpc'}, "'tdmpc'; supported: act, diffusion, vqbet, smolvla, pi0"),
        ({'type': None}, "no 'type'"),
        ({'chunk_size': 'many'}, 'does not fit LeRobot'),
        ({'dim_model': 32}, 'weights of .* do not fit'),
    ],
)
def test_a_config_that_does_not_fit(copy, changes, message):
    edit_config(copy, **changes)
    with pytest.raises(CheckpointError, match=message):
        load_lerobot_policy(copy, JOINTS, units='rad')


def rewrite_weights(folder, change) -> None:
    from safetensors.torch import load_file, save_file

    path = str(folder / 'model.safetensors')
    weights = load_file(path)
    change(weights)
    save_file(weights, path)


def test_missing_weights_are_an_error_and_unexpected_ones_a_note(copy):
    import torch

    rewrite_weights(copy, lambda weights: weights.update(stray=torch.zeros(3)))
    assert load_lerobot_policy(copy, JOINTS, units='rad').notes == [
        '1 weights are not used by this version of LeRobot: stray'
    ]
    rewrite_weights(copy, lambda weights: weights.pop('model.action_head.weight'))
    with pytest.raises(CheckpointError, match='lacks 1 of .* weights.*model.action_head.weight'):
        load_lerobot_policy(copy, JOINTS, units='rad')


def test_cut_weights(copy):
    size = (copy / 'model.safetensors').stat().st_size
    for length in (size - 1, size // 2, 100, 5, 0):
        os.truncate(copy / 'model.safetensors', length)
        with pytest.raises(CheckpointError, match='is cut'):
            load_lerobot_policy(copy, JOINTS, units='rad')


def test_files_that_are_something_else(copy):
    (copy / 'model.safetensors').write_bytes(struct.pack('<Q', 4) + b'[1 2')
    with pytest.raises(CheckpointError, match='not a safetensors file'):
        load_lerobot_policy(copy, JOINTS, units='rad')
    (copy / 'config.json').write_text('[]')
    with pytest.raises(CheckpointError, match='JSON list'):
        load_lerobot_policy(copy, JOINTS, units='rad')
    (copy / 'policy_preprocessor.json').write_text('{"steps')
    with pytest.raises(CheckpointError, match='not readable as JSON'):
        load_lerobot_policy(copy, JOINTS, units='rad')
    (copy / 'policy_preprocessor.json').write_text('{}')
    with pytest.raises(CheckpointError, match="no list of 'steps'"):
        load_lerobot_policy(copy, JOINTS, units='rad')


def test_missing_statistics_are_a_note(copy):
    from safetensors.torch import load_file, save_file

    path = str(copy / 'policy_postprocessor_step_0_unnormalizer_processor.safetensors')
    save_file(
        {name: value for name, value in load_file(path).items() if not name.startswith('action')},
        path,
    )
    assert any(
        'no statistics for action' in note
        for note in load_lerobot_policy(copy, JOINTS, units='rad').notes
    )


@pytest.mark.parametrize(
    ('options', 'message'),
    [
        (
            {'camera_names': {'observation.images.top': 'front'}},
            r"\['observation.images.top'\].*are \['observation.images.front'",
        ),
        (
            {'camera_names': {'observation.images.front': 'a', 'observation.images.wrist': 'a'}},
            'one camera for two',
        ),
        ({'robot_joint_names': JOINTS[:5]}, 'another robot: action has 6 values, the robot has 5'),
        ({'device': 'abacus'}, "'abacus'"),
        ({'device': 'cuda'}, 'no CUDA device'),
        ({'action_rate': 0.0}, 'action_rate'),
    ],
)
def test_options_that_do_not_fit(checkpoint, options, message):
    import torch

    if options.get('device') == 'cuda' and torch.cuda.is_available():
        pytest.skip('a CUDA device is there')
    with pytest.raises(FrameRosError, match=message):
        load_lerobot_policy(checkpoint, **{'robot_joint_names': JOINTS, 'units': 'rad', **options})


@pytest.mark.parametrize(
    ('changes', 'message'),
    [
        ({'images': {}}, "lacks camera 'front'"),
        (
            {'images': {'front': np.zeros((24, 48, 3), np.uint8)}},
            "camera 'front' gives an image of 48x24; .*48x32",
        ),
        (
            {'images': {'front': np.zeros((*SIZE, 3), np.float32)}},
            "camera 'front' gives an image of shape .* type float32; .* uint8",
        ),
        ({'images': {'front': np.zeros(SIZE, np.uint8)}}, r'shape \(32, 48\) .* \(H, W, 3\)'),
        ({'images': {'front': np.zeros((*SIZE, 4), np.uint8)}}, r'\(32, 48, 4\) .* \(H, W, 3\)'),
        ({'images': {'front': np.zeros((0, 48, 3), np.uint8)}}, r'\(0, 48, 3\) .* \(H, W, 3\)'),
        ({'images': {'front': [[[0, 0, 0]]]}}, r'type list; .* uint8'),
        ({'joint_names': ('a', *JOINTS[1:])}, r"lacks joints \['shoulder_pan'\]"),
        ({'joint_names': JOINTS[1:]}, r'5 joint names and positions of shape \(6,\)'),
        ({'joint_positions': np.array([0, 0, np.nan, 0, 0, 0])}, 'not finite'),
    ],
)
def test_observations_that_do_not_fit(policy, changes, message):
    with pytest.raises(PolicyError, match=message):
        policy.infer(observe(**changes))


def test_warm_up_leaves_no_trace(policy):
    before = policy.infer(observe()).actions
    policy.warm_up()
    np.testing.assert_array_equal(policy.infer(observe()).actions, before)


def test_the_network_is_kept_out_and_the_environment_put_back(monkeypatch):
    from huggingface_hub import constants

    monkeypatch.delenv('HF_HUB_OFFLINE', raising=False)
    monkeypatch.setenv('TRANSFORMERS_OFFLINE', '0')
    with offline():
        assert os.environ['HF_HUB_OFFLINE'] == os.environ['TRANSFORMERS_OFFLINE'] == '1'
        assert constants.HF_HUB_OFFLINE is True
    assert 'HF_HUB_OFFLINE' not in os.environ
    assert os.environ['TRANSFORMERS_OFFLINE'] == '0'
    assert constants.HF_HUB_OFFLINE is False


def test_without_lerobot_the_extra_is_named(checkpoint, monkeypatch):
    monkeypatch.setitem(sys.modules, 'lerobot', None)
    monkeypatch.delitem(sys.modules, 'lerobot.policies')
    with pytest.raises(MissingExtraError, match=r'lerobot.*pip install .lerobot>='):
        load_lerobot_policy(checkpoint, JOINTS, units='rad')


def test_registry(bare):
    policy = make_policy(str(bare), robot_joint_names=JOINTS, units='rad')
    assert policy.name == 'act'
    same = make_policy('lerobot', folder=bare, robot_joint_names=JOINTS, units='rad')
    seen = see_things()
    np.testing.assert_array_equal(same.infer(seen).actions, policy.infer(seen).actions)
    with pytest.raises(PolicyError, match='does not take .wheels.; it takes: .* folder, robot'):
        make_policy('lerobot', folder=bare, wheels=4)


def test_the_configuration_is_that_of_lerobots_own_loading(bare):
    from lerobot.configs.policies import PreTrainedConfig

    config, notes = load_config(open_checkpoint(bare), 'cpu')
    assert config == PreTrainedConfig.from_pretrained(bare) and notes == []


def test_nothing_of_an_observation_is_changed(policy):
    observation = observe()
    before = [observation.joint_positions.copy(), *(i.copy() for i in observation.images.values())]
    policy.infer(observation)
    after = [observation.joint_positions, *observation.images.values()]
    for was, now in zip(before, after, strict=True):
        np.testing.assert_array_equal(now, was)
