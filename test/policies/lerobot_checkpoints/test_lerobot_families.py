# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""ACT, Diffusion, VQ-BeT and SmolVLA: small real checkpoints against direct calls of LeRobot."""

import hashlib
import shutil

import numpy as np
import pytest
from scipy.special import softmax

from frame_ros.core.errors import CheckpointError
from frame_ros.policies.lerobot import load_lerobot_policy
from frame_ros.policies.protocol import Observation

lerobot = pytest.importorskip('lerobot')
torch = pytest.importorskip('torch')

from checkpoints import (  # noqa: E402
    make_act_checkpoint,
    make_diffusion_checkpoint,
    make_smolvla_checkpoint,
    make_vlm_folder,
    make_vqbet_checkpoint,
)
from direct_lerobot import DirectLeRobot  # noqa: E402

JOINTS = ('shoulder_pan', 'shoulder_lift', 'elbow_flex', 'wrist_flex', 'wrist_roll', 'gripper')
SIZE = (32, 48)
RATE = 30.0
KINDS = ('act', 'diffusion', 'vqbet', 'smolvla')
# LeRobot, Diffusion: what is denoised beyond the steps that it executes.
HORIZONS = {'act': 12, 'diffusion': 15, 'vqbet': 4, 'smolvla': 10}
STEPS = {'act': 5, 'diffusion': 8, 'vqbet': 4, 'smolvla': 8}
TEMPERATURES = (0.5, 1.0, 2.0)


@pytest.fixture(scope='module')
def checkpoints(tmp_path_factory):
    """A function: kind -> the folder of its checkpoint, made when it is first asked for."""
    made: dict = {}

    def get(kind):
        if kind not in made:
            folder = tmp_path_factory.mktemp(kind)
            make = {
                'act': lambda: make_act_checkpoint(
                    folder, image_size=SIZE, chunk_size=12, n_action_steps=5, dim_model=16
                ),
                'act without latent': lambda: make_act_checkpoint(
                    folder, image_size=SIZE, cameras=('front',), use_vae=False, dim_model=16
                ),
                'diffusion': lambda: make_diffusion_checkpoint(folder, image_size=SIZE),
                'ddim': lambda: make_diffusion_checkpoint(
                    folder, image_size=SIZE, noise_scheduler_type='DDIM'
                ),
                'vqbet': lambda: make_vqbet_checkpoint(folder, image_size=SIZE),
                'vqbet in sequence': lambda: make_vqbet_checkpoint(
                    folder, image_size=SIZE, sequentially_select=True
                ),
                'smolvla': lambda: make_smolvla_checkpoint(
                    folder, make_vlm_folder(folder / 'vlm'), image_size=SIZE
                ),
            }[kind]
            made[kind] = make()
        return made[kind]

    return get


@pytest.fixture(scope='module')
def load(checkpoints):
    """A function: kind and samples -> our policy, loaded once and seeded."""
    loaded: dict = {}

    def get(kind, samples=0, seed=0):
        if (kind, samples) not in loaded:
            loaded[kind, samples] = load_lerobot_policy(
                checkpoints(kind),
                JOINTS,
                units='rad',
                samples=samples,
                temperatures=TEMPERATURES,
            )
        loaded[kind, samples].reset(seed)
        return loaded[kind, samples]

    return get


@pytest.fixture(scope='module')
def direct_of(checkpoints):
    """A function: kind -> the same by LeRobot's own calls, loaded once."""
    loaded: dict = {}

    def get(kind):
        if kind not in loaded:
            loaded[kind] = DirectLeRobot(checkpoints(kind))
        loaded[kind].model.reset()
        return loaded[kind]

    return get


def observe(step: int, cameras, instruction='pick up the cube') -> Observation:
    random = np.random.default_rng(step)
    stamp = round(step * 1e9 / RATE)
    images = {name: random.integers(0, 256, (*SIZE, 3), dtype=np.uint8) for name in cameras}
    positions = random.normal(0, 0.3, len(JOINTS))
    return Observation(stamp, stamp, JOINTS, positions, images, instruction=instruction)


@pytest.mark.parametrize('kind', KINDS)
def test_every_action_is_that_of_lerobots_select_action(kind, load, direct_of):
    """At each step LeRobot sees an observation, and infers when its queue of actions is empty."""
    direct, policy = direct_of(kind), load(kind)
    assert policy.needs_history is (kind in ('diffusion', 'vqbet'))
    torch.manual_seed(7)
    policy.reset(seed=7)
    direct.model.reset()
    for step in range(STEPS[kind] + 2):
        observation = observe(step, policy.cameras)
        expected = direct.select_action(observation)
        if step % STEPS[kind] == 0:
            chunk = policy.infer(observation).actions
        else:
            policy.observe(observation)
        np.testing.assert_array_equal(chunk[step % STEPS[kind]], expected, err_msg=f'step {step}')


@pytest.mark.parametrize('kind', KINDS)
def test_what_a_family_yields(kind, load):
    policy = load(kind, samples=3)
    inference = policy.infer(observe(0, policy.cameras))
    assert inference.actions.shape == (HORIZONS[kind], len(JOINTS))
    assert inference.samples.shape == (3, HORIZONS[kind], len(JOINTS))
    assert inference.dt == pytest.approx(1 / RATE)
    assert policy.n_action_steps == STEPS[kind]
    assert (inference.tokens is not None) is (kind == 'vqbet')
    lacking = {'rephrasings'} if kind == 'vqbet' else {'rephrasings', 'tokens'}
    assert set(inference.unavailable) == lacking
    assert all(len(reason) > 10 for reason in inference.unavailable.values())
    assert policy.name == kind and policy.notes == []
    assert policy.needs_instruction is (kind == 'smolvla')


@pytest.mark.parametrize('kind', KINDS)
def test_samples_change_nothing_that_is_executed(kind, load):
    alone, sampled = load(kind), load(kind, samples=3)
    for policy in (alone, sampled):
        policy.reset(seed=3)
    for step in (0, 8):
        observation = observe(step, alone.cameras)
        one, many = alone.infer(observation), sampled.infer(observation)
        np.testing.assert_allclose(many.actions, one.actions, atol=2e-5)
        assert one.samples is None and 'samples' in one.unavailable
        assert len(np.unique(many.samples.round(9), axis=0)) > 1
        if kind != 'act':
            np.testing.assert_array_equal(many.samples[0], many.actions)


@pytest.mark.parametrize('kind', KINDS)
def test_a_seed_makes_all_of_it_repeatable_and_leaves_torch_alone(kind, load):
    policy = load(kind, samples=3, seed=11)
    observation = observe(0, policy.cameras)
    torch.manual_seed(0)
    before = torch.get_rng_state()
    first = policy.infer(observation)
    torch.testing.assert_close(torch.get_rng_state(), before)
    torch.rand(100)
    second = policy.infer(observation)
    for seed, expected in ((11, first), (12, None)):
        policy.reset(seed=seed)
        policy.warm_up()
        again = policy.infer(observation)
        is_same = np.array_equal(again.samples, first.samples)
        assert is_same is (expected is not None)
    assert not np.array_equal(second.samples, first.samples)


def test_act_samples_are_draws_of_the_latent(load, direct_of):
    policy, direct = load('act', samples=3), direct_of('act')
    draws = torch.Generator()
    draws.set_state(policy.family.others.generator.get_state())
    observation = observe(0, policy.cameras)
    inference = policy.infer(observation)
    latents = torch.randn(3, direct.config.latent_dim, generator=draws)
    for latent, sample in zip(latents, inference.samples, strict=True):
        hook = direct.model.model.encoder_latent_input_proj.register_forward_pre_hook(
            lambda _, __, latent=latent: (latent[None],)
        )
        expected = direct.finish(direct.model.predict_action_chunk(direct.batch(observation)))
        hook.remove()
        np.testing.assert_allclose(sample, expected[0], atol=1e-5)


def test_act_without_a_latent_says_that_it_cannot_be_sampled(load):
    policy = load('act without latent', samples=3)
    inference = policy.infer(observe(0, policy.cameras))
    assert inference.samples is None
    assert 'without a latent' in inference.unavailable['samples']


def test_diffusion_samples_equal_single_calls_with_their_noise(load, direct_of):
    """With DDIM all randomness is in the first noise, which LeRobot takes as an argument."""
    policy, direct = load('ddim', samples=3), direct_of('ddim')
    observation = observe(0, policy.cameras)
    noises = torch.cat([noise_of(policy.family, (1, 16, 6))] + further_noise(policy, (1, 16, 6), 2))
    inference = policy.infer(observation)
    for noise, sample in zip(noises, inference.samples, strict=True):
        direct.model.reset()
        batch = direct.batch(observation)
        chunk = []
        with torch.inference_mode():
            chunk.append(direct.finish(direct.model.select_action(batch, noise=noise[None]))[0])
            while direct.model._queues['action']:
                chunk.append(direct.finish(direct.model._queues['action'].popleft())[0])
        np.testing.assert_allclose(sample[: len(chunk)], chunk, atol=2e-5)
        assert len(chunk) == policy.n_action_steps


def test_smolvla_samples_equal_single_calls_with_their_noise(load, direct_of):
    policy, direct = load('smolvla', samples=3), direct_of('smolvla')
    observation = observe(0, policy.cameras)
    noises = torch.cat([noise_of(policy.family, (1, 10, 8)), *further_noise(policy, (2, 10, 8), 1)])
    inference = policy.infer(observation)
    for noise, sample in zip(noises, inference.samples, strict=True):
        chunk = direct.model.predict_action_chunk(direct.batch(observation), noise=noise[None])
        np.testing.assert_allclose(sample, direct.finish(chunk)[0], atol=2e-5)


def noise_of(family, shape):
    draws = torch.Generator()
    draws.set_state(family.executed.generator.get_state())
    return torch.randn(*shape, generator=draws)


def further_noise(policy, shape, count):
    draws = torch.Generator()
    draws.set_state(policy.family.others.generator.get_state())
    return [torch.randn(*shape, generator=draws) for _ in range(count)]


def codes_of(direct, observation):
    """Logits (2, C) and drawn codes (2,) of the newest observation, by hooks on LeRobot's network,
    and the features that its action head was given.
    """
    head, kept = direct.model.vqbet.action_head, {}
    hooks = [head.register_forward_hook(lambda _, inputs, output: kept.update(output, x=inputs[0]))]
    direct.model.reset()
    direct.select_action(observation)
    for hook in hooks:
        hook.remove()
    row = direct.config.n_obs_steps - 1
    return (
        kept['cbet_logits'][row].numpy().astype(float),
        kept['sampled_centers'][row].numpy(),
        kept['x'][:, row : row + 1],
    )


@pytest.mark.parametrize('kind', ['vqbet', 'vqbet in sequence'])
def test_vqbet_tokens_are_its_two_codes(kind, load, direct_of):
    policy = load(kind, seed=5)
    direct = direct_of(kind)
    observation = observe(0, policy.cameras)
    tokens = policy.infer(observation).tokens
    torch.manual_seed(5)
    logits, codes, _ = codes_of(direct, observation)
    scaled = logits / direct.config.bet_softmax_temperature
    probabilities = softmax(scaled, axis=1)
    ordered = np.sort(probabilities, axis=1)
    assert tokens.vocabulary_size == direct.config.vqvae_n_embed == 8
    np.testing.assert_allclose(tokens.max_probability, ordered[:, -1], rtol=1e-5)
    np.testing.assert_allclose(tokens.second_probability, ordered[:, -2], rtol=1e-5)
    np.testing.assert_allclose(tokens.sum_of_squares, (probabilities**2).sum(1), rtol=1e-5)
    entropy = -(probabilities * np.log(probabilities)).sum(1)
    np.testing.assert_allclose(tokens.entropy, entropy, rtol=1e-5)
    np.testing.assert_allclose(tokens.chosen_probability, probabilities[[0, 1], codes], rtol=1e-5)
    np.testing.assert_array_equal(tokens.temperatures, TEMPERATURES)
    for column, temperature in enumerate(TEMPERATURES):
        largest = softmax(scaled / temperature, axis=1).max(axis=1)
        np.testing.assert_allclose(tokens.max_at_temperature[:, column], largest, rtol=1e-5)
    np.testing.assert_array_equal([tokens.step, tokens.dimension], [[-1, -1], [-1, -1]])


def test_vqbet_samples_are_decoded_codes_drawn_by_their_probabilities(load, direct_of):
    policy, direct = load('vqbet', samples=500, seed=1), direct_of('vqbet')
    observation = observe(0, policy.cameras)
    samples = policy.infer(observation).samples
    logits, _, features = codes_of(direct, observation)
    head, classes = direct.model.vqbet.action_head, direct.config.vqvae_n_embed
    pairs = torch.cartesian_prod(torch.arange(classes), torch.arange(classes))
    with torch.inference_mode():
        offsets = head.map_to_cbet_preds_offset(features[0]).reshape(2, classes, 4, 6)
        embedded = head.vqvae_model.get_embeddings_from_code(pairs)
        chunks = head.vqvae_model.get_action_from_latent(embedded)
        chunks = chunks + offsets[0, pairs[:, 0]] + offsets[1, pairs[:, 1]]
    possible = direct.finish(chunks)
    distances = np.abs(samples[:, None] - possible[None]).max(axis=(2, 3))
    assert distances.min(axis=1).max() < 1e-5
    counts = np.bincount(distances.argmin(axis=1), minlength=64) / len(samples)
    first, second = softmax(logits / direct.config.bet_softmax_temperature, axis=1)
    # Three standard deviations of a share of 500 draws, and a little.
    np.testing.assert_allclose(counts.reshape(8, 8).sum(1), first, atol=0.06)
    np.testing.assert_allclose(counts.reshape(8, 8).sum(0), second, atol=0.06)


def test_vqbet_untrained_codes_are_a_note_and_two_cameras_an_error(tmp_path):
    policy = load_lerobot_policy(
        make_vqbet_checkpoint(tmp_path / 'a', image_size=SIZE, is_discretized=False),
        JOINTS,
        units='rad',
    )
    assert any('quantisation was not trained' in note for note in policy.notes)
    edit = (tmp_path / 'a' / 'config.json').read_text()
    two = edit.replace(
        '"observation.images.front"',
        '"observation.images.wrist": {"type": "VISUAL", "shape": [3, 32, 48]},'
        '"observation.images.front"',
    )
    (tmp_path / 'a' / 'config.json').write_text(two)
    with pytest.raises(CheckpointError, match='exactly one camera.*wrist'):
        load_lerobot_policy(tmp_path / 'a', JOINTS, units='rad')


@pytest.mark.parametrize('kind', ['diffusion', 'vqbet'])
def test_without_observations_between_nothing_seems_to_move(kind, load, direct_of):
    """Inferences far apart: the history is the newest observation, as at an episode's start."""
    policy, direct = load(kind), direct_of(kind)
    policy.reset(seed=0)
    policy.infer(observe(0, policy.cameras))
    late = observe(30, policy.cameras)
    policy.family.executed.seed(4)
    torch.manual_seed(4)
    direct.model.reset()
    np.testing.assert_array_equal(policy.infer(late).actions[0], direct.select_action(late))


@pytest.mark.parametrize('kind', KINDS)
def test_features_are_of_the_observation_alone(kind, load):
    alone, sampled = load(kind), load(kind, samples=3)
    first = alone.infer(observe(0, alone.cameras))
    alone.reset(seed=5)
    again = alone.infer(observe(0, alone.cameras))
    beside = sampled.infer(observe(0, sampled.cameras))
    alone.reset(seed=5)
    other = alone.infer(observe(1, alone.cameras))
    assert first.feature_source and first.features.ndim == 1
    assert np.isfinite(first.features).all() and first.features.std() > 0.0
    np.testing.assert_array_equal(again.features, first.features)
    np.testing.assert_allclose(beside.features, first.features, rtol=1e-4, atol=1e-5)
    assert np.linalg.norm(other.features - first.features) > 1e-3


def test_features_of_act_are_the_mean_of_its_encoders_tokens(load, direct_of):
    direct, policy = direct_of('act'), load('act', samples=3)
    kept = []
    hook = direct.model.model.encoder.register_forward_hook(lambda *call: kept.append(call[2]))
    seen = observe(0, policy.cameras)
    with torch.inference_mode():
        direct.model.predict_action_chunk(direct.batch(seen))
    hook.remove()
    expected = kept[0].double().numpy().mean(axis=(0, 1))
    np.testing.assert_allclose(policy.infer(seen).features, expected, rtol=1e-4, atol=1e-6)


def test_features_of_smolvla_leave_padding_out(load):
    policy = load('smolvla')
    batch = policy.preprocessor(policy.inputs.prepare(observe(0, policy.cameras), 'cpu'))
    words, mask = 'observation.language.tokens', 'observation.language.attention_mask'
    batch[mask][:, -3:] = False
    with torch.inference_mode():
        first = policy.family.infer(batch).features
        batch[words] = torch.where(batch[mask], batch[words], 7)
        second = policy.family.infer(batch).features
        batch[words] = torch.where(batch[mask], 7, batch[words])
        third = policy.family.infer(batch).features
    torch.testing.assert_close(second, first, rtol=1e-4, atol=1e-5)
    assert (third - first).abs().max() > 1e-3


def test_a_checkpoint_has_the_fingerprint_of_its_files(checkpoints, load, tmp_path):
    folder = checkpoints('act')
    found = load('act').fingerprint
    weights = (folder / 'model.safetensors').read_bytes()
    assert found['weights'] == hashlib.sha256(weights).hexdigest()
    copy = shutil.copytree(folder, tmp_path / 'copy')
    states = sorted(copy.glob('policy_*.safetensors'))
    changed = bytearray(states[0].read_bytes())
    changed[-1] ^= 1
    states[0].write_bytes(changed)
    other = load_lerobot_policy(copy, JOINTS, units='rad').fingerprint
    assert other['weights'] == found['weights'] and other['normaliser'] != found['normaliser']
