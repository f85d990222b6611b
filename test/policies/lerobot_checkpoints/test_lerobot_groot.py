# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""GR00T: what LeRobot's own call gives, and samples from one encoding.

It needs LeRobot 0.6: `make test-policies` runs it in the policy server's environment.
"""

from __future__ import annotations

import shutil
from dataclasses import replace
from importlib.metadata import PackageNotFoundError, version

import numpy as np
import pytest
from groot_checkpoints import DIMENSIONS, HORIZON, make_groot_checkpoint

from frame_ros.core.errors import CheckpointError, PolicyError
from frame_ros.policies.lerobot import load_lerobot_policy
from frame_ros.policies.protocol import Observation

try:
    OLD = tuple(map(int, version('lerobot').split('.')[:2])) < (0, 6)
except PackageNotFoundError:
    OLD = True
pytestmark = pytest.mark.skipif(OLD, reason='LeRobot 0.6 is needed: make test-policies')

JOINTS = tuple(f'joint_{i}' for i in range(DIMENSIONS))


@pytest.fixture(scope='module')
def folders(tmp_path_factory):
    return make_groot_checkpoint(tmp_path_factory.mktemp('groot'))


def load(folders, **options):
    options = {'base_model_folder': str(folders['base']), **options}
    return load_lerobot_policy(
        folders['folder'], JOINTS, vlm_folder=str(folders['vlm']), seed=3, **options
    )


def observation(instruction='pick up the cube'):
    random = np.random.default_rng(0)
    images = {
        name: random.integers(0, 256, (48, 64, 3), dtype=np.uint8) for name in ('front', 'wrist')
    }
    joints = random.uniform(-1, 1, DIMENSIONS)
    return Observation(1, 1, JOINTS, joints, images, instruction=instruction)


def test_it_gives_what_lerobot_gives(folders):
    import torch
    from lerobot.policies.utils import prepare_observation_for_inference

    policy, seen = load(folders), observation()
    inference = policy.infer(seen)
    assert inference.actions.shape == (HORIZON, DIMENSIONS) and inference.samples is None
    inputs = {f'observation.images.{name}': image for name, image in seen.images.items()}
    inputs['observation.state'] = np.rad2deg(seen.joint_positions).astype(np.float32)
    prepared = prepare_observation_for_inference(inputs, torch.device('cpu'), task=seen.instruction)
    torch.manual_seed(3)
    with torch.inference_mode():
        own = policy.family.model.predict_action_chunk(policy.preprocessor(prepared))
        own = policy.postprocessor(own)[0].double().numpy()
    np.testing.assert_allclose(inference.actions, np.deg2rad(own), atol=1e-6)
    assert set(inference.unavailable) == {'tokens', 'samples', 'rephrasings'}
    assert np.isfinite(inference.features).all() and inference.features.std() > 0
    beside = load(folders, samples=3).infer(seen).features
    np.testing.assert_allclose(inference.features, beside, rtol=1e-4, atol=1e-5)
    dark = {name: np.zeros_like(image) for name, image in seen.images.items()}
    other = policy.infer(replace(seen, images=dark)).features
    assert np.abs(other - inference.features).max() > 1e-3


def test_samples_come_from_one_encoding_and_leave_the_executed_chunk_alone(folders):
    alone, policy = load(folders).infer(observation()), load(folders, samples=4)
    calls = []
    backbone = policy.family.model._groot_model.backbone
    backbone.visual.register_forward_hook(lambda *_: calls.append(1))
    inference = policy.infer(observation())
    np.testing.assert_allclose(inference.actions, alone.actions, atol=1e-6)
    np.testing.assert_array_equal(inference.samples[0], inference.actions)
    assert inference.samples.shape == (4, HORIZON, DIMENSIONS) and len(calls) == 1
    assert inference.samples.std(0).mean() > 1e-3
    again = load(folders, samples=4).infer(observation())
    np.testing.assert_allclose(again.samples, inference.samples, atol=1e-6)


def test_every_sample_is_a_chunk_that_its_noise_alone_would_give(folders):
    """The further samples share the encoding, so each must equal a call with its row of noise."""
    import torch

    policy = load(folders, samples=3)
    inference = policy.infer(observation())
    policy.reset(3)
    with policy.family.others.installed():
        noise = torch.randn(2, HORIZON, 8)
    real = torch.randn
    for row, expected in zip(noise, inference.samples[1:], strict=True):
        single = load(folders)
        torch.randn = lambda *_, row=row, **__: row[None].clone()
        try:
            actions = single.infer(observation()).actions
        finally:
            torch.randn = real
        np.testing.assert_allclose(actions, expected, atol=1e-5)


def test_every_chunk_is_postprocessed_alone(folders):
    """LeRobot's decoding of relative poses takes a batch as large as the observation's."""
    policy, sizes = load(folders, samples=3), []
    own = policy.postprocessor

    def noting(chunks):
        sizes.append(len(chunks))
        return own(chunks)

    policy.postprocessor = noting
    assert policy.infer(observation()).samples.shape == (3, HORIZON, DIMENSIONS)
    assert set(sizes) == {1}


def test_bad_input(folders, tmp_path):
    with pytest.raises(PolicyError, match='instruction'):
        load(folders).infer(observation(instruction=''))
    with pytest.raises(CheckpointError, match='base_model_folder'):
        load(folders, base_model_folder=str(tmp_path))
    copy = shutil.copytree(folders['folder'], tmp_path / 'copy')
    whole = (copy / 'model.safetensors').read_bytes()
    (copy / 'model.safetensors').write_bytes(whole[: len(whole) // 2])
    with pytest.raises(CheckpointError):
        load({**folders, 'folder': copy})
