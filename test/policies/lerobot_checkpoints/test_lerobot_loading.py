# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Checkpoints that need something more than their folder, and what is said when it is missing."""

import json
import sys
from importlib.metadata import version

import numpy as np
import pytest

from frame_ros.core.errors import CheckpointError, FrameRosError, MissingExtraError, PolicyError
from frame_ros.policies.lerobot import load_lerobot_policy
from frame_ros.policies.lerobot.families import FAMILIES, Entry, family_of
from frame_ros.policies.lerobot.policy import whole_ensemble
from frame_ros.policies.protocol import Observation
from frame_ros.policies.registry import make_policy

lerobot = pytest.importorskip('lerobot')

from checkpoints import make_smolvla_checkpoint, make_vlm_folder  # noqa: E402

JOINTS = tuple(f'joint_{i}' for i in range(6))
SIZE = (32, 48)
FRONT, WRIST = 'observation.images.front', 'observation.images.wrist'


@pytest.fixture(scope='module')
def vlm(tmp_path_factory):
    return make_vlm_folder(tmp_path_factory.mktemp('vlm'))


@pytest.fixture(scope='module')
def smolvla(tmp_path_factory, vlm):
    """A checkpoint as one from the hub: it names its model by a repository."""
    folder = make_smolvla_checkpoint(tmp_path_factory.mktemp('smolvla'), vlm, image_size=SIZE)
    for name in ('config.json', 'policy_preprocessor.json'):
        text = (folder / name).read_text().replace(str(vlm), 'nobody/vlm')
        (folder / name).write_text(text)
    return folder


@pytest.fixture(scope='module')
def policy(smolvla, vlm):
    return load_lerobot_policy(smolvla, JOINTS, units='rad', vlm_folder=str(vlm), seed=0)


def observe(size=SIZE, cameras=('front', 'wrist'), instruction='pick up', **changes) -> Observation:
    random = np.random.default_rng(0)
    images = {name: random.integers(0, 256, (*size, 3), dtype=np.uint8) for name in cameras}
    joints = random.normal(0, 0.3, 6)
    return Observation(1, 1, JOINTS, joints, images, instruction=instruction, **changes)


def test_smolvla_takes_its_model_from_a_local_folder(policy):
    assert policy.notes == []
    assert policy.infer(observe()).actions.shape == (10, 6)


def test_the_instruction_counts_and_is_required(policy):
    assert policy.needs_instruction
    chunks = []
    for instruction in ('pick up', 'put it down', 'pick up'):
        policy.reset(seed=1)
        chunks.append(policy.infer(observe(instruction=instruction)).actions)
    np.testing.assert_array_equal(chunks[0], chunks[2])
    assert np.abs(chunks[0] - chunks[1]).max() > 1e-4
    for instruction in ('', ' \n'):
        with pytest.raises(PolicyError, match='acts on an instruction, and none was given'):
            policy.infer(observe(instruction=instruction))


def test_images_of_any_size_are_resized_by_the_network(policy):
    for size in ((48, 48), (96, 32)):
        assert policy.infer(observe(size)).actions.shape == (10, 6)
    with pytest.raises(PolicyError, match=r"camera 'wrist' gives an image of shape \(32, 48\)"):
        policy.infer(gray(observe()))


def gray(observation: Observation) -> Observation:
    images = {**observation.images, 'wrist': observation.images['wrist'][..., 0]}
    joints = observation.joint_positions
    return Observation(1, 1, JOINTS, joints, images, instruction='pick up')


def test_rephrasings_are_unavailable_with_a_reason(policy):
    inference = policy.infer(observe(rephrasings=('lift it', 'grab it')))
    assert inference.rephrasings == () and inference.rephrasing_confidences is None
    assert 'confidence' in inference.unavailable['rephrasings']


def test_an_ensemble_is_whole_or_none():
    """A mean without the rephrasings that failed would be too high."""
    words = ('lift it', 'grab it')
    assert whole_ensemble(words, np.array([0.5, 0.25])) == (words, '')
    assert whole_ensemble(words, np.empty(0)) == ((), '')
    failed = "'grab it': the policy wrote no action"
    assert whole_ensemble(words, np.array([0.5, np.nan])) == ((), failed)


def test_without_the_folder_of_the_model_it_is_said_what_to_copy(smolvla, tmp_path):
    with pytest.raises(
        CheckpointError, match='(?s)Nothing is downloaded.*of nobody/vlm.*vlm_folder'
    ):
        load_lerobot_policy(smolvla, JOINTS, units='rad')
    with pytest.raises(CheckpointError, match='has no config.json.*nobody/vlm'):
        load_lerobot_policy(smolvla, JOINTS, units='rad', vlm_folder=str(tmp_path))


def test_options_come_through_the_registry(smolvla, vlm):
    offered = {
        'robot_joint_names': JOINTS,
        'units': 'rad',
        'samples': 2,
        'temperatures': (1.0,),
        'seed': 4,
        'joint_limits': {},
        'action_rate': 10.0,
        'camera_names': None,
        'device': 'cpu',
    }
    policy = make_policy(str(smolvla), offered=offered, vlm_folder=str(vlm))
    inference = policy.infer(observe())
    assert inference.samples.shape == (2, 10, 6)
    assert inference.dt == 0.1


def test_a_camera_that_the_robot_lacks_can_be_left_out(smolvla, vlm, policy):
    def load(names):
        return load_lerobot_policy(
            smolvla, JOINTS, units='rad', vlm_folder=str(vlm), camera_names=names
        )

    one = load({WRIST: 'hand'})
    assert one.cameras == ('hand',)
    assert one.notes == [f'{FRONT} get no camera; the policy acts without']
    one.reset(seed=2)
    policy.reset(seed=2)
    alone = one.infer(observe(cameras=('hand',))).actions
    assert np.abs(alone - policy.infer(observe()).actions).max() > 1e-4
    with pytest.raises(PolicyError, match="lacks camera 'hand'"):
        one.infer(observe())
    with pytest.raises(CheckpointError, match='camera_names maps'):
        load({'observation.images.side': 'front'})


def test_empty_cameras_of_the_training_need_none(tmp_path, vlm):
    folder = make_smolvla_checkpoint(tmp_path, vlm, image_size=SIZE, empty_cameras=1)
    assert 'empty_camera_0' in (folder / 'config.json').read_text()
    policy = load_lerobot_policy(folder, JOINTS, units='rad')
    assert policy.cameras == ('front', 'wrist')
    assert policy.infer(observe()).actions.shape == (10, 6)


def test_another_robot(smolvla, vlm):
    with pytest.raises(
        CheckpointError, match='another robot: action has 6 values, the robot has 7'
    ):
        load_lerobot_policy(smolvla, (*JOINTS, 'gripper_2'), units='rad', vlm_folder=str(vlm))


def test_depth_images_are_refused(smolvla, vlm, tmp_path):
    config = json.loads((smolvla / 'config.json').read_text())
    config['input_features'][FRONT]['shape'] = [1, 32, 48]
    copy = tmp_path / 'copy'
    copy.mkdir()
    for path in smolvla.iterdir():
        (copy / path.name).symlink_to(path)
    (copy / 'config.json').unlink()
    (copy / 'config.json').write_text(json.dumps(config))
    with pytest.raises(CheckpointError, match=r'front of shape \(1, 32, 48\); only colour'):
        load_lerobot_policy(copy, JOINTS, units='rad', vlm_folder=str(vlm))


def test_a_family_of_a_newer_lerobot_says_how_to_run_it(monkeypatch):
    monkeypatch.setitem(FAMILIES, 'of_tomorrow', Entry('act', 'Act', (99, 1), 'vla'))
    with pytest.raises(CheckpointError) as error:
        family_of('of_tomorrow', version('lerobot'))
    for text in ('needs LeRobot 99.1', f'here is {version("lerobot")}', "'lerobot[vla]>=99.1'",
                 'frame-ros serve', "'remote'"):  # fmt: skip
        assert text in str(error.value)
    assert {kind for kind, entry in FAMILIES.items() if entry.since == (0, 6)} == {
        'pi0',
        'pi05',
        'pi0_fast',
        'groot',
    }


def test_what_lerobot_lacks_for_a_family_is_named(smolvla, vlm, monkeypatch):
    monkeypatch.setitem(sys.modules, 'lerobot.policies.smolvla.modeling_smolvla', None)
    with pytest.raises(MissingExtraError, match=r"'smolvla'.*pip install 'lerobot\[smolvla\]"):
        load_lerobot_policy(smolvla, JOINTS, units='rad', vlm_folder=str(vlm))


def test_an_adapter_without_its_base_is_told_how_to_merge(tmp_path):
    (tmp_path / 'adapter_config.json').write_text('{"base_model_name_or_path": "some/base"}')
    (tmp_path / 'adapter_model.safetensors').write_bytes(b'')
    (tmp_path / 'config.json').write_text('{"type": "smolvla", "use_peft": true}')
    with pytest.raises(CheckpointError, match=r'adapter .*some/base.*merge_and_unload'):
        load_lerobot_policy(tmp_path, JOINTS, units='rad')


@pytest.mark.parametrize(
    ('options', 'message'),
    [
        ({'samples': 1}, 'samples is 1; it must be 0, or at least 2'),
        ({'samples': -2}, 'samples is -2'),
        ({'temperatures': (1.0, 0.0)}, r'temperatures is \[1.0, 0.0\]; it must be .* each above 0'),
        ({'temperatures': (float('nan'),)}, 'temperatures'),
        ({'sample_temperature': -1.0}, 'sample_temperature is -1.0'),
    ],
)
def test_numbers_out_of_range(smolvla, options, message):
    with pytest.raises(FrameRosError, match=message):
        load_lerobot_policy(smolvla, JOINTS, units='rad', **options)
