# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""pi0, pi0.5, pi0-FAST: what LeRobot's own calls give, samples, tokens, rephrasings.

They need LeRobot 0.6: `make test-policies` runs them in the policy server's environment.
"""

from __future__ import annotations

import itertools
import json
import shutil
from importlib.metadata import PackageNotFoundError, version

import numpy as np
import pytest
from pi_checkpoints import CHUNK, DIMENSIONS, VOCABULARY, make_pi_checkpoint, small_models
from scipy.special import softmax

from frame_ros.core.errors import CheckpointError, PolicyError
from frame_ros.metrics.token_statistics import token_statistics
from frame_ros.policies.lerobot import load_lerobot_policy
from frame_ros.policies.protocol import Observation

try:
    OLD = tuple(map(int, version('lerobot').split('.')[:2])) < (0, 6)
except PackageNotFoundError:
    OLD = True
pytestmark = pytest.mark.skipif(OLD, reason='LeRobot 0.6 is needed: make test-policies')

JOINTS = tuple(f'joint_{i}' for i in range(DIMENSIONS))
FLOWS = ('pi0', 'pi05')


@pytest.fixture(scope='module')
def checkpoints(tmp_path_factory):
    made = {}

    def get(kind):
        if kind not in made:
            made[kind] = make_pi_checkpoint(kind, tmp_path_factory.mktemp(kind))
        return made[kind]

    return get


def load(checkpoints, kind, **options):
    folders = checkpoints(kind)
    if kind == 'pi0_fast':
        options.setdefault('trust_remote_code', True)
        options['action_tokenizer_folder'] = str(folders['action_tokenizer'])
    with small_models(kind):
        return load_lerobot_policy(
            folders['folder'],
            JOINTS,
            tokenizer_folder=str(folders['tokenizer']),
            seed=3,
            **options,
        )


def observation(seed=0, **changes):
    random = np.random.default_rng(seed)
    images = {
        name: random.integers(0, 256, (48, 64, 3), dtype=np.uint8) for name in ('front', 'wrist')
    }
    values = {
        'stamp': 1,
        'oldest_stamp': 1,
        'joint_names': JOINTS,
        'joint_positions': random.uniform(-1, 1, DIMENSIONS),
        'images': images,
        'instruction': 'pick up the cube',
    }
    return Observation(**{**values, **changes})


def lerobot_batch(policy, seen):
    """Returns the result of LeRobot's own preprocessing of an observation."""
    import torch
    from lerobot.policies.utils import prepare_observation_for_inference

    inputs = {f'observation.images.{name}': image for name, image in seen.images.items()}
    inputs['observation.state'] = np.rad2deg(seen.joint_positions).astype(np.float32)
    prepared = prepare_observation_for_inference(inputs, torch.device('cpu'), task=seen.instruction)
    return policy.preprocessor(prepared)


@pytest.mark.parametrize('kind', FLOWS)
def test_a_flow_gives_what_lerobot_gives_for_the_same_noise(checkpoints, kind):
    import torch

    policy, seen = load(checkpoints, kind, samples=4), observation()
    inference = policy.infer(seen)
    assert inference.actions.shape == (CHUNK, DIMENSIONS) and inference.samples.shape[0] == 4
    np.testing.assert_array_equal(inference.samples[0], inference.actions)
    assert inference.samples.std(0).mean() > 1e-3
    policy.reset(3)
    noise = policy.family._noise()
    with torch.inference_mode():
        batch = lerobot_batch(policy, seen)
        singles = [
            policy.postprocessor(policy.family.model.predict_action_chunk(batch, noise=one[None]))
            for one in noise
        ]
    expected = np.deg2rad(torch.cat(singles).double().numpy())
    np.testing.assert_allclose(inference.samples, expected, atol=1e-5)
    assert set(inference.unavailable) == {'tokens', 'rephrasings'}


@pytest.mark.parametrize('kind', (*FLOWS, 'pi0_fast'))
def test_features_are_of_the_observation_alone(checkpoints, kind):
    alone = load(checkpoints, kind).infer(observation())
    beside = load(checkpoints, kind, samples=3).infer(observation())
    other = load(checkpoints, kind).infer(observation(seed=1))
    assert alone.feature_source and np.isfinite(alone.features).all()
    np.testing.assert_allclose(beside.features, alone.features, rtol=1e-4, atol=1e-5)
    assert np.abs(other.features - alone.features).max() > 1e-3


@pytest.mark.parametrize('kind', FLOWS)
def test_asking_for_samples_does_not_change_what_is_executed(checkpoints, kind):
    alone = load(checkpoints, kind).infer(observation())
    beside = load(checkpoints, kind, samples=3).infer(observation())
    np.testing.assert_allclose(alone.actions, beside.actions, atol=1e-5)
    assert alone.samples is None and 'samples' in alone.unavailable


def test_fast_tokens_are_those_that_lerobot_writes(checkpoints):
    import torch

    policy, seen = load(checkpoints, 'pi0_fast', temperatures=(1.0, 2.0)), observation()
    logits = []
    network = policy.family.model.model.paligemma_with_expert.paligemma
    hook = network.lm_head.register_forward_hook(lambda m, a, out: logits.append(out[0, -1]))
    inference = policy.infer(seen)
    hook.remove()
    with torch.inference_mode():
        own = policy.family.model.predict_action_chunk(lerobot_batch(policy, seen))
        own = policy.postprocessor(own)
    expected = np.deg2rad(own[0].double().numpy())
    np.testing.assert_allclose(inference.actions, expected, atol=1e-6)
    tokens, rows = inference.tokens, np.stack([row.numpy() for row in logits])
    assert tokens.vocabulary_size == VOCABULARY and len(tokens.entropy) == len(rows) == 12
    probabilities = softmax(rows.astype(np.float64), axis=1)
    np.testing.assert_allclose(tokens.chosen_probability, probabilities.max(1), rtol=1e-5)
    plain = token_statistics(rows, rows.argmax(1), (1.0, 2.0))
    np.testing.assert_allclose(tokens.entropy, plain.entropy)
    np.testing.assert_allclose(tokens.max_at_temperature, plain.max_at_temperature)
    assert set(tokens.step) == set(tokens.dimension) == {-1}


def test_only_tokens_that_hold_actions_count(checkpoints):
    """'Action', ':' before and what is behind '|' say nothing about the action."""
    policy = load(checkpoints, 'pi0_fast')
    written = iter([4, 5, 801, 802, 803, 6, 804])
    network = policy.family.model.model.paligemma_with_expert.paligemma
    stock = network.lm_head.forward

    def steered(hidden):
        logits = stock(hidden)
        logits[:, -1, next(written)] += 100.0
        return logits

    network.lm_head.forward = steered
    tokens = policy.infer(observation()).tokens
    assert len(tokens.entropy) == 3
    assert (tokens.chosen_probability > 0.99).all()


def test_a_chunk_without_action_tokens_is_an_error(checkpoints):
    policy = load(checkpoints, 'pi0_fast')
    network = policy.family.model.model.paligemma_with_expert.paligemma
    stock = network.lm_head.forward

    def ends(hidden):
        logits = stock(hidden)
        logits[:, -1, 6] += 100.0
        return logits

    network.lm_head.forward = ends
    with pytest.raises(PolicyError, match='wrote no action'):
        policy.infer(observation())


def test_tokens_that_are_no_actions_are_an_error_and_not_the_mean_action(checkpoints):
    policy = load(checkpoints, 'pi0_fast')
    network = policy.family.model.model.paligemma_with_expert.paligemma
    stock = network.lm_head.forward

    def words(hidden):
        logits = stock(hidden)
        logits[:, -1, 20] += 100.0
        return logits

    network.lm_head.forward = words
    with pytest.raises(PolicyError, match='no compressed actions'):
        policy.infer(observation())


def test_samples_of_fast_are_drawn_and_the_executed_chunk_stays_greedy(checkpoints):
    greedy = load(checkpoints, 'pi0_fast').infer(observation())
    policy = load(checkpoints, 'pi0_fast', samples=4)
    inference = policy.infer(observation())
    np.testing.assert_allclose(inference.actions, greedy.actions)
    assert 2 <= len(inference.samples) <= 4
    assert inference.samples.shape[1:] == (CHUNK, DIMENSIONS)
    assert np.ptp(inference.samples, axis=0).max() > 0
    assert len(inference.tokens.entropy) == len(greedy.tokens.entropy)
    assert policy.family.config.temperature == 0.0


def test_rephrasings_in_one_batch_equal_one_call_each(checkpoints):
    others = ('grab the cube', 'lift up the block', 'pick it up')
    inference = load(checkpoints, 'pi0_fast').infer(observation(rephrasings=others))
    assert inference.rephrasings == others
    alone = load(checkpoints, 'pi0_fast')
    single = [
        alone.infer(observation(instruction=text)).tokens.chosen_probability.mean()
        for text in others
    ]
    np.testing.assert_allclose(inference.rephrasing_confidences, single, rtol=1e-4)
    assert len(set(np.round(single, 9))) == 3


# Tokens of the text tokenizer, and the steps after which writing ends.
ACTION, COLON, END, FIRST, WORD = 4, 5, 6, 801, 20
STEPS = 12


def steer(policy, monkeypatch, choose):
    """Has the network write, at each step, the token that `choose` returns for each sequence."""
    network = policy.family.model.model.paligemma_with_expert.paligemma
    stock, step = network.lm_head.forward, itertools.cycle(range(STEPS))

    def steered(hidden):
        logits, now = stock(hidden), next(step)
        for row in range(len(logits)):
            logits[row, -1, choose(row, len(logits), now)] += 100.0
        return logits

    monkeypatch.setattr(network.lm_head, 'forward', steered)


def test_a_rephrasing_that_gives_no_action_costs_the_ensemble_and_not_the_chunk(
    checkpoints, monkeypatch
):
    """In the batch of three the first ends at once, the second writes words."""
    policy = load(checkpoints, 'pi0_fast')
    rows = {0: END, 1: WORD}
    steer(policy, monkeypatch, lambda row, count, _: rows.get(row, FIRST) if count > 1 else FIRST)
    inference = policy.infer(observation(rephrasings=('grab', 'lift', 'pick it up')))
    assert inference.rephrasings == () and inference.rephrasing_confidences is None
    assert inference.unavailable['rephrasings'] == "'grab': the policy wrote no action"
    assert inference.actions.shape == (CHUNK, DIMENSIONS)


def test_without_a_drawn_action_there_are_no_samples_and_it_is_said(checkpoints, monkeypatch):
    policy = load(checkpoints, 'pi0_fast', samples=3)
    steer(policy, monkeypatch, lambda _, count, __: WORD if count > 1 else FIRST)
    inference = policy.infer(observation())
    assert inference.samples is None
    assert inference.unavailable == {'samples': 'none of the 2 drawn sequences was an action'}


def test_a_prefix_that_the_checkpoint_demands(checkpoints, monkeypatch, tmp_path):
    """LeRobot raises an AssertionError for the batch; here only the sequence counts."""
    folders = dict(checkpoints('pi0_fast'))
    folders['folder'] = shutil.copytree(folders['folder'], tmp_path / 'copy')
    path = folders['folder'] / 'config.json'
    path.write_text(
        path.read_text().replace(
            '"validate_action_token_prefix": false', '"validate_action_token_prefix": true'
        )
    )
    policy = load(lambda _: folders, 'pi0_fast', samples=4)
    begins = (ACTION, COLON)
    steer(policy, monkeypatch, lambda row, _, t: begins[t] if t < 2 and row < 2 else FIRST + t)
    inference = policy.infer(observation())
    assert len(inference.samples) == 3  # of three drawn, two begin as they should
    policy = load(lambda _: folders, 'pi0_fast')
    with pytest.raises(PolicyError, match='no compressed actions'):
        policy.infer(observation())


def test_rephrasings_do_not_move_the_stream_of_what_is_executed(checkpoints):
    policy = load(checkpoints, 'pi0_fast')
    policy.family.config.temperature = 1.0
    before = policy.family.executed.generator.get_state()
    batch = lerobot_batch(policy, observation())
    policy.family.rephrased_confidences([batch, batch])
    assert bool((policy.family.executed.generator.get_state() == before).all())


def test_fast_tokens_are_decoded_over_the_steps_of_the_training(checkpoints, tmp_path):
    """LeRobot decodes them over n_action_steps, which makes another movement of them."""
    folders = dict(checkpoints('pi0_fast'))
    folders['folder'] = shutil.copytree(folders['folder'], tmp_path / 'copy')
    path = folders['folder'] / 'config.json'
    path.write_text(
        path.read_text().replace(f'"n_action_steps": {CHUNK}', f'"n_action_steps": {CHUNK // 2}')
    )
    policy = load(lambda _: folders, 'pi0_fast')
    assert policy.n_action_steps == CHUNK // 2
    whole = load(checkpoints, 'pi0_fast').infer(observation()).actions
    np.testing.assert_array_equal(policy.infer(observation()).actions, whole)


@pytest.mark.parametrize('kind', FLOWS)
def test_relative_actions_come_out_as_positions(checkpoints, kind, tmp_path):
    """LeRobot adds the observed state in the postprocessor: to the chunk and to every sample."""
    folders = dict(checkpoints(kind))
    folders['folder'] = shutil.copytree(folders['folder'], tmp_path / 'copy')
    plain = load(checkpoints, kind, samples=3).infer(observation())
    for name in ('policy_preprocessor.json', 'policy_postprocessor.json'):
        path = folders['folder'] / name
        content = json.loads(path.read_text())
        for step in content['steps']:
            if step['registry_name'] in (
                'relative_actions_processor',
                'absolute_actions_processor',
            ):
                step['config']['enabled'] = True
        path.write_text(json.dumps(content))
    seen = observation()
    relative = load(lambda _: folders, kind, samples=3).infer(seen)
    np.testing.assert_allclose(relative.actions, plain.actions + seen.joint_positions, atol=1e-5)
    np.testing.assert_allclose(relative.samples, plain.samples + seen.joint_positions, atol=1e-5)


def test_joints_in_the_order_of_another_robot_are_an_error(checkpoints, tmp_path):
    folders = dict(checkpoints('pi0'))
    folders['folder'] = shutil.copytree(folders['folder'], tmp_path / 'copy')
    path = folders['folder'] / 'config.json'
    for names in ([f'{name}.pos' for name in JOINTS[::-1]], ['ee.x', 'ee.y', *JOINTS[:4]]):
        path.write_text(json.dumps({**json.loads(path.read_text()), 'action_feature_names': names}))
        with pytest.raises(CheckpointError, match='give action_names, state_names'):
            load(lambda _: folders, 'pi0')


def test_the_code_of_the_action_tokenizer_must_be_allowed(checkpoints):
    with pytest.raises(CheckpointError, match='trust_remote_code=true'):
        load(checkpoints, 'pi0_fast', trust_remote_code=False)


def test_weights_of_another_shape_are_an_error_though_lerobot_goes_on(checkpoints, tmp_path):
    from safetensors.torch import load_file, save_file

    folders = checkpoints('pi0')
    copy = shutil.copytree(folders['folder'], tmp_path / 'pi0')
    weights = load_file(copy / 'model.safetensors')
    name = next(name for name in weights if 'action_in_proj.weight' in name)
    weights[name] = weights[name][:, :-1].contiguous()
    save_file(weights, copy / 'model.safetensors')
    with small_models('pi0'), pytest.raises(CheckpointError, match='do not fit'):
        load_lerobot_policy(copy, JOINTS, tokenizer_folder=str(folders['tokenizer']))


@pytest.mark.parametrize('kind', (*FLOWS, 'pi0_fast'))
def test_an_instruction_is_needed_and_cameras_may_be_fewer(checkpoints, kind):
    policy = load(checkpoints, kind)
    with pytest.raises(PolicyError, match='instruction'):
        policy.infer(observation(instruction=''))
    one = load(checkpoints, kind, camera_names={'observation.images.front': 'front'})
    assert one.cameras == ('front',) and any('wrist' in note for note in one.notes)
    assert one.infer(observation()).actions.shape == (CHUNK, DIMENSIONS)
