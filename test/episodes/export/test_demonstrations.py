# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Demonstrations as a LeRobotDataset, read back by LeRobot; and a policy that sees poses."""

import numpy as np
import pytest

from frame_ros.core.errors import CheckpointError, FrameRosError, PolicyError, ValueRangeError
from frame_ros.policies.environment_state import environment_state, environment_state_names
from frame_ros.policies.protocol import Observation
from frame_ros.robots import load_robot

pytest.importorskip('lerobot')

from frame_ros.core.lerobot_import import import_lerobot, offline
from frame_ros.episodes.export.demonstrations import DemonstrationDataset
from frame_ros.policies.lerobot import load_lerobot_policy
from frame_ros.robots.joint_units import joint_units

LIMITS = load_robot('so101').joint_limits
JOINTS = tuple(LIMITS)
GRIPPER = {'gripper': LIMITS['gripper']}


def observe(seed: int, **changes) -> Observation:
    random = np.random.default_rng(seed)
    # The joints of a robot may come in another order than the data set's.
    poses = {name: random.normal(0, 0.2, 7) for name in ('goal', 'object')}
    images = {'front': random.integers(0, 256, (8, 12, 3), dtype=np.uint8)}
    given = {'poses': poses, 'images': images, 'instruction': 'pick', **changes}
    return Observation(1, 1, JOINTS[::-1], random.normal(0, 0.3, 6), **given)


@pytest.fixture(scope='module')
def recorded(tmp_path_factory):
    """The observations of two episodes and the folder; an episode between them was dropped."""
    folder = tmp_path_factory.mktemp('data') / 'set'
    dataset = DemonstrationDataset(folder, JOINTS, GRIPPER, cameras={'front': (12, 8)})
    kept = []
    for episode, is_kept in enumerate((True, False, True)):
        for step in range(4 + episode):
            observation = observe(10 * episode + step)
            dataset.add(observation, observation.joint_positions + 0.1)
            if is_kept:
                kept.append(observation)
        dataset.save_episode() if is_kept else dataset.drop_episode()
    dataset.close()
    return kept, folder


def test_lerobot_reads_what_was_recorded(recorded):
    kept, folder = recorded
    with offline():
        from lerobot.datasets.lerobot_dataset import LeRobotDataset

        dataset = LeRobotDataset('local/set', root=folder)
    assert dataset.num_episodes == 2 and len(dataset) == len(kept) == 4 + 6
    units = joint_units('degrees', JOINTS, GRIPPER)
    for item, observation in zip((dataset[i] for i in range(len(dataset))), kept):
        joints = observation.joint_positions[::-1]
        np.testing.assert_allclose(item['observation.state'], units.to_policy(joints), rtol=1e-5)
        np.testing.assert_allclose(item['action'], units.to_policy(joints + 0.1), rtol=1e-5)
        poses = np.concatenate([observation.poses['object'], observation.poses['goal']])
        np.testing.assert_allclose(item['observation.environment_state'], poses, rtol=1e-6)
        image = (item['observation.images.front'].numpy() * 255).round().astype(np.uint8)
        np.testing.assert_array_equal(image.transpose(1, 2, 0), observation.images['front'])
        assert item['task'] == 'pick'


def test_what_does_not_fit_is_named(recorded, tmp_path):
    with pytest.raises(ValueRangeError, match='is there already'):
        DemonstrationDataset(recorded[1], JOINTS, GRIPPER)
    dataset = DemonstrationDataset(tmp_path / 'new', JOINTS, GRIPPER, cameras={'wrist': (12, 8)})
    with pytest.raises(FrameRosError, match="camera 'wrist'"):
        dataset.add(observe(0), np.zeros(6))
    with pytest.raises(PolicyError, match="the pose 'object'"):
        dataset.add(observe(0, poses={}), np.zeros(6))
    few = Observation(1, 1, JOINTS[:5], np.zeros(5), instruction='pick')
    with pytest.raises(FrameRosError, match='gripper'):
        dataset.add(few, np.zeros(5))


def test_environment_state_is_named_in_its_order():
    observation = observe(3)
    values = dict(zip(environment_state_names(), environment_state(observation)))
    assert values['object.z'] == np.float32(observation.poses['object'][2])
    assert values['goal.qw'] == np.float32(observation.poses['goal'][6])
    broken = observe(3, poses={'object': np.full(7, np.nan), 'goal': np.zeros(7)})
    with pytest.raises(PolicyError, match='7 finite numbers'):
        environment_state(broken)


@pytest.fixture(scope='module')
def checkpoint(tmp_path_factory):
    """A small ACT without cameras, random weights, saved by LeRobot."""
    import_lerobot()
    import torch
    from lerobot.configs.types import FeatureType, NormalizationMode, PolicyFeature
    from lerobot.policies.act.configuration_act import ACTConfig
    from lerobot.policies.act.modeling_act import ACTPolicy
    from lerobot.policies.factory import make_pre_post_processors

    folder = tmp_path_factory.mktemp('checkpoint')
    config = ACTConfig(
        input_features={
            'observation.state': PolicyFeature(FeatureType.STATE, (6,)),
            'observation.environment_state': PolicyFeature(FeatureType.ENV, (14,)),
        },
        output_features={'action': PolicyFeature(FeatureType.ACTION, (6,))},
        normalization_mapping=dict.fromkeys(
            ('STATE', 'ENV', 'ACTION'), NormalizationMode.MEAN_STD
        ),
        device='cpu', chunk_size=10, n_action_steps=5, dim_model=32, n_heads=2,
        dim_feedforward=64, n_encoder_layers=1, n_vae_encoder_layers=1, latent_dim=4,
        pretrained_backbone_weights=None,
    )  # fmt: skip
    statistics = {
        name: {'mean': torch.full((width,), 0.1), 'std': torch.full((width,), 0.5)}
        for name, width in (
            ('observation.state', 6),
            ('observation.environment_state', 14),
            ('action', 6),
        )
    }
    torch.manual_seed(0)
    with offline():
        ACTPolicy(config).save_pretrained(folder)
        for processor in make_pre_post_processors(policy_cfg=config, dataset_stats=statistics):
            processor.save_pretrained(folder)
    return folder


def test_a_checkpoint_that_sees_poses_asks_for_them_and_uses_them(checkpoint):
    policy = load_lerobot_policy(checkpoint, JOINTS, gripper_limits=GRIPPER)
    assert policy.poses == ('object', 'goal') and policy.cameras == () and not policy.notes
    policy.warm_up()
    chunk = policy.infer(observe(0)).actions
    assert chunk.shape == (10, 6)
    np.testing.assert_array_equal(chunk, policy.infer(observe(0)).actions)
    moved = dict(observe(0).poses)
    moved['goal'] = moved['goal'] + 0.1
    assert np.abs(policy.infer(observe(0, poses=moved)).actions - chunk).max() > 1e-6


def test_poses_are_normalised_as_lerobot_does(checkpoint):
    policy = load_lerobot_policy(checkpoint, JOINTS, gripper_limits=GRIPPER)
    observation = observe(1)
    batch = policy.preprocessor(policy.inputs.prepare(observation, 'cpu'))
    expected = (environment_state(observation) - 0.1) / 0.5
    np.testing.assert_allclose(batch['observation.environment_state'][0], expected, rtol=1e-5)


def test_poses_that_do_not_fit_the_checkpoint_are_an_error(checkpoint):
    with pytest.raises(CheckpointError, match='environment_state of shape'):
        load_lerobot_policy(checkpoint, JOINTS, gripper_limits=GRIPPER, pose_names=('object',))
