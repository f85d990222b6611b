# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Token VLAs end to end, on small models of transformers' own classes, against `generate` with all
scores kept and scipy's softmax.
"""

import hashlib
import shutil
import weakref
from dataclasses import replace

import numpy as np
import pytest

torch = pytest.importorskip('torch')
pytest.importorskip('transformers')

import vla_models  # noqa: E402
from scipy.special import softmax  # noqa: E402
from scipy.stats import entropy, gmean  # noqa: E402
from vla_models import STATISTICS, make_vla, picture, save_vla, teach  # noqa: E402

from frame_ros.core.errors import PolicyError  # noqa: E402
from frame_ros.policies.base import Policy  # noqa: E402
from frame_ros.policies.protocol import Observation  # noqa: E402
from frame_ros.policies.registry import make_policy  # noqa: E402
from frame_ros.policies.token_vla import load_token_vla  # noqa: E402
from frame_ros.policies.token_vla.generation import Generated, Generator, LogitsReducer  # noqa: E402
from frame_ros.policies.token_vla.model import import_transformers  # noqa: E402

import_transformers()  # with torchvision, before its classes are asked for

INSTRUCTION = 'Pick up the cube.'
REPHRASINGS = ('lift it', 'take the cube and put it into the red box', 'move the cube')
PROMPT = 'In: What action should the robot take to {}?\nOut:'
TEMPERATURES = (0.5, 2.0)
KINDS = ('llava', 'paligemma', 'qwen', 'llama')


@pytest.fixture(scope='module')
def made(tmp_path_factory):
    """kind -> model, processor and the folder they were written to; made when asked for."""
    found = {}

    def make(kind):
        if kind not in found:
            model, processor = make_vla(kind)
            folder = save_vla(tmp_path_factory.mktemp(kind), model, processor)
            found[kind] = (model, processor, folder)
        return found[kind]

    return make


def tokenizer_of(processor):
    return getattr(processor, 'tokenizer', processor)


def bins(processor, **changes):
    zero = tokenizer_of(processor).convert_tokens_to_ids('<act255>')
    return {'kind': 'bins', 'zero_token': zero, **changes}


def load(made, kind, **options):
    _, processor, folder = made(kind)
    if kind == 'llama':
        options = {'cameras': [], **options}
    if kind == 'qwen':
        options = {'is_chat': True, 'prompt': PROMPT.format('{instruction}'), **options}
    return load_token_vla(
        folder, 'openvla_bins', **{'token_map': bins(processor), 'temperatures': TEMPERATURES}
        | options,
    )  # fmt: skip


def observed(instruction=INSTRUCTION, rephrasings=(), **images):
    return Observation(
        0, 0, (), np.zeros(0), images or {'front': picture()}, {}, instruction,
        rephrasings=rephrasings,
    )  # fmt: skip


def by_hand(made, kind, instruction):
    """Inputs of the prompt, straight from the processor."""
    _, processor, _ = made(kind)
    prompt = PROMPT.format(instruction.lower().rstrip('.'))
    if kind == 'llama':
        return dict(processor([prompt], return_tensors='pt', return_token_type_ids=False))
    if kind == 'qwen':
        content = [{'type': 'image'}, {'type': 'text', 'text': prompt}]
        prompt = processor.apply_chat_template(
            [{'role': 'user', 'content': content}], tokenize=False, add_generation_prompt=True
        )
    else:
        prompt = '<image>' + prompt
    return dict(processor(text=[prompt], images=[picture()], return_tensors='pt'))


def all_scores(model, inputs, count=7):
    """Generated ids (count,) and every logit (count, V)."""
    if 'PaliGemma' not in type(model).__name__:
        inputs.pop('token_type_ids', None)
    out = model.generate(
        **inputs, max_new_tokens=count, do_sample=False, output_scores=True, output_logits=True,
        return_dict_in_generate=True,
    )  # fmt: skip
    logits = torch.cat(out.logits).double().numpy()
    assert np.array_equal(logits, torch.cat(out.scores).double().numpy())
    return out.sequences[0, -count:].numpy(), logits


def expected_actions(processor, ids):
    zero = tokenizer_of(processor).convert_tokens_to_ids('<act255>')
    edges = np.linspace(-1, 1, 256)
    values = ((edges[:-1] + edges[1:]) / 2)[np.clip(zero - ids, 0, 254)]
    low, high = np.array(STATISTICS['q01']), np.array(STATISTICS['q99'])
    return np.where(STATISTICS['mask'], 0.5 * (values + 1) * (high - low) + low, values)


@pytest.mark.parametrize('kind', KINDS)
def test_actions_and_statistics_are_those_of_all_scores(made, kind):
    policy = load(made, kind)
    assert isinstance(policy, Policy)
    policy.warm_up()
    policy.reset(0)
    inference = policy.infer(observed())
    model, processor, _ = made(kind)
    ids, logits = all_scores(model, by_hand(made, kind, INSTRUCTION))
    np.testing.assert_allclose(inference.actions, [expected_actions(processor, ids)], rtol=1e-9)
    p, tokens = softmax(logits, axis=1), inference.tokens
    ordered = np.sort(p, axis=1)
    hot = np.array([softmax(logits / t, axis=1).max(axis=1) for t in TEMPERATURES]).T
    for name, values in (
        ('max_probability', ordered[:, -1]),
        ('second_probability', ordered[:, -2]),
        ('sum_of_squares', (p * p).sum(axis=1)),
        ('entropy', entropy(p, axis=1)),
        ('chosen_probability', p[np.arange(7), ids]),
        ('max_at_temperature', hot),
    ):
        np.testing.assert_allclose(getattr(tokens, name), values, rtol=2e-4, err_msg=name)
    assert tokens.vocabulary_size == logits.shape[1]
    assert tokens.step.tolist() == [0] * 7 and tokens.dimension.tolist() == list(range(7))
    assert inference.action_space == 'ee_delta'
    assert inference.action_names == ('x', 'y', 'z', 'roll', 'pitch', 'yaw', 'gripper')
    assert inference.action_units == ('m', 'm', 'm', 'rad', 'rad', 'rad', '1')
    assert inference.dt == pytest.approx(0.2) and inference.unavailable == {}
    assert inference.forward > 0 and inference.preprocess > 0 and inference.postprocess >= 0


@pytest.mark.parametrize('kind', ['llava', 'paligemma', 'qwen'])
@pytest.mark.parametrize('limit', [0, 2])
def test_a_batch_of_rephrasings_is_as_many_calls(made, kind, limit):
    policy = load(made, kind, rephrasing_batch=limit)
    together = policy.infer(observed(rephrasings=REPHRASINGS))
    alone = [policy.infer(observed(text)) for text in REPHRASINGS]
    expected = [one.tokens.chosen_probability.mean() for one in alone]
    assert together.rephrasings == REPHRASINGS
    np.testing.assert_allclose(together.rephrasing_confidences, expected, rtol=1e-3)
    assert np.ptp(expected) > 1e-3
    plain = policy.infer(observed())
    np.testing.assert_allclose(together.actions, plain.actions, rtol=1e-9)
    np.testing.assert_allclose(together.tokens.entropy, plain.tokens.entropy, rtol=1e-3)
    assert plain.rephrasings == () and plain.rephrasing_confidences is None


@pytest.mark.parametrize(
    ('aggregate', 'formula'), [('geometric', gmean), ('min', np.min), ('dimension_mean', np.mean)]
)
def test_the_confidence_of_a_rephrasing_can_be_another_aggregate(made, aggregate, formula):
    policy = load(made, 'llava', rephrasing_aggregate=aggregate)
    found = policy.infer(observed(rephrasings=REPHRASINGS)).rephrasing_confidences
    alone = [policy.infer(observed(text)).tokens.chosen_probability for text in REPHRASINGS]
    np.testing.assert_allclose(found, [formula(p) for p in alone], rtol=1e-3)


def test_probabilities_can_be_over_the_action_tokens_alone(made):
    whole, restricted = load(made, 'llava'), load(made, 'llava', restrict_vocabulary=True)
    model, processor, _ = made('llava')
    ids, logits = all_scores(model, by_hand(made, 'llava', INSTRUCTION))
    first = tokenizer_of(processor).convert_tokens_to_ids('<act000>')
    p = softmax(logits[:, first : first + 256], axis=1)
    found = restricted.infer(observed(rephrasings=REPHRASINGS))
    assert found.tokens.vocabulary_size == 256
    np.testing.assert_allclose(found.tokens.entropy, entropy(p, axis=1), rtol=1e-4)
    chosen = p[np.arange(7), ids - first]
    np.testing.assert_allclose(found.tokens.chosen_probability, chosen, rtol=1e-4)
    over_all = whole.infer(observed(rephrasings=REPHRASINGS))
    assert (found.tokens.chosen_probability > over_all.tokens.chosen_probability).all()
    assert (found.rephrasing_confidences > over_all.rephrasing_confidences).all()
    np.testing.assert_array_equal(found.actions, over_all.actions)


@pytest.mark.parametrize('dtype', ['bfloat16', 'float16'])
def test_half_precision_gives_its_own_statistics(made, dtype):
    policy = load(made, 'llama', dtype=dtype)
    _, processor, folder = made('llama')
    model = type(made('llama')[0]).from_pretrained(folder, dtype=getattr(torch, dtype))
    ids, logits = all_scores(model, by_hand(made, 'llama', INSTRUCTION))
    tokens = policy.infer(observed()).tokens
    p = softmax(logits, axis=1)
    np.testing.assert_allclose(tokens.entropy, entropy(p, axis=1), rtol=1e-4)
    np.testing.assert_allclose(tokens.chosen_probability, p[np.arange(7), ids], rtol=1e-4)


def test_a_rephrasing_whose_logits_overflow_takes_the_ensemble_and_not_the_action(made):
    policy = load(made, 'llama')
    first = tokenizer_of(made('llama')[1]).convert_tokens_to_ids('<act000>')
    ids, fine = np.arange(first, first + 7), np.full(7, 0.5)
    parts = [Generated([ids, ids], [fine, np.full(7, np.nan)], None, None)]
    reasons = {}
    assert policy._ensemble(('lift it',), parts, reasons) == ((), None)
    assert reasons['rephrasings'].startswith("'lift it': probabilities: 7 of the values are not")


def test_images_are_of_the_models_precision(made):
    policy = load(made, 'llava', dtype='bfloat16')
    inputs = policy._prompts.inputs(['lift it'] * 2, [picture()])
    assert inputs['pixel_values'].dtype == torch.bfloat16
    assert inputs['input_ids'].dtype == inputs['attention_mask'].dtype == torch.int64


def test_a_processor_that_wants_it_is_told_the_data_set(made):
    policy = load(made, 'llava', unnorm_key='bridge', names_data_set=True)
    processor, given = policy._prompts._processor, []

    class Listening:
        def __call__(self, *, unnorm_key, **options):
            given.append(unnorm_key)
            return processor(**options)

    policy._prompts._processor = Listening()
    policy.infer(observed())
    assert given == ['bridge']


def test_samples_are_drawn_from_the_action_tokens_and_repeat_with_the_seed(made):
    policy = load(made, 'llama', samples=8, rephrasing_batch=3)
    policy.reset(5)
    first = policy.infer(observed()).samples
    assert first.shape == (8, 1, 7) and first.std(axis=0).min() > 0
    policy.reset(5)
    np.testing.assert_array_equal(policy.infer(observed()).samples, first)
    cold = load(made, 'llama', samples=4, sampling_temperature=1e-4)
    found = cold.infer(observed())
    np.testing.assert_array_equal(found.samples, np.broadcast_to(found.actions, (4, 1, 7)))


def test_several_cameras_are_seen_in_their_order(made):
    policy = load(made, 'llava', camera_names={'primary': 'top', 'wrist': 'hand'})
    assert policy.cameras == ('top', 'hand')
    images = {'top': picture(1), 'hand': picture(2)}
    found = policy.infer(observed(**images))
    model, processor, _ = made('llava')
    prompt = '<image><image>' + PROMPT.format('pick up the cube')
    inputs = processor(text=[prompt], images=[[picture(1), picture(2)]], return_tensors='pt')
    ids, _ = all_scores(model, dict(inputs))
    np.testing.assert_allclose(found.actions, [expected_actions(processor, ids)], rtol=1e-9)
    other = policy.infer(observed(top=picture(2), hand=picture(1)))
    assert not np.allclose(other.tokens.entropy, found.tokens.entropy, rtol=1e-4)


def test_joint_chunks_are_in_rad_and_for_the_joints_of_the_robot(made, tmp_path):
    joints = ('shoulder', 'elbow', 'gripper')
    model, processor, _ = made('llama')
    statistics = {'q01': [-90.0, 0.0, 0.0], 'q99': [90.0, 45.0, 100.0]}
    folder = save_vla(tmp_path / 'joints', model, processor, statistics)
    offered = {
        'robot_joint_names': joints, 'gripper_limits': {'gripper': (-0.2, 1.8)},
        'units': 'degrees', 'action_rate': 10.0, 'device': 'cpu', 'folder': folder, 'samples': 0,
        'temperatures': (), 'seed': 3,
    }  # fmt: skip
    policy = make_policy(
        'token_vla', offered=offered, preset='openvla_bins', action_space='joint_position',
        token_map=bins(processor, horizon=2, dimensions=3), cameras=[],
    )  # fmt: skip
    found = policy.infer(observed())
    assert found.action_names == joints and found.action_units == ('rad',) * 3
    assert found.actions.shape == (2, 3) and found.dt == pytest.approx(0.1)
    ids, _ = all_scores(model, by_hand(made, 'llama', INSTRUCTION), 6)
    zero = tokenizer_of(processor).convert_tokens_to_ids('<act255>')
    share = (np.clip(zero - ids, 0, 254) + 0.5).reshape(2, 3) / 255
    low, high = np.deg2rad([-90, 0]), np.deg2rad([90, 45])
    np.testing.assert_allclose(found.actions[:, :2], low + share[:, :2] * (high - low), rtol=1e-9)
    np.testing.assert_allclose(found.actions[:, 2], -0.2 + share[:, 2] * 2.0, rtol=1e-9)


@pytest.fixture(scope='module')
def taught(tmp_path_factory):
    """Writes a language model that follows WANTED with `pieces`, and other prompts with others;
    `extra` are tokens of its own.
    """

    def make(name, extra, pieces, **others):
        model, tokenizer = make_vla('llama', extra)
        lessons = []
        for prompt, answer in {WANTED: pieces, **others}.items():
            inputs = tokenizer([prompt], return_tensors='pt', return_token_type_ids=False)
            target = [*tokenizer.convert_tokens_to_ids(answer), tokenizer.eos_token_id]
            lessons.append((dict(inputs), target))
        teach(model, lessons)
        return save_vla(tmp_path_factory.mktemp(name), model, tokenizer), lessons[0][1]

    return make


WANTED = PROMPT.format('pick up the cube')


def test_a_list_of_names_of_bins_after_reasoning(taught):
    """As MolmoAct's: numbers of a trace first, items of a varying number of tokens."""
    names = ['é', 'éé', 'éàé']  # the last three of the vocabulary that it writes by name
    pieces = ['[', 'é', 'é', ',', 'é', 'à', 'é', ',', 'é', ']', '.']
    extra = ('[', ']', ',', '1', 'é', 'à', *names[1:])
    folder, _ = taught('list', extra, ['[', '1', ',', '1', ',', '1', ']', *pieces])
    options = {
        'cameras': [], 'normalisation': 'none', 'action_names': ['x', 'y', 'gripper'],
        'prompt': PROMPT.format('{instruction}'),
    }  # fmt: skip
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(folder)
    zero = tokenizer.convert_tokens_to_ids('é')
    declared = {
        'kind': 'list', 'dimensions': 3, 'bins': 4, 'values': 'points', 'zero_token': zero,
        'direction': 1,
    }  # fmt: skip
    policy = load_token_vla(folder, 'openvla_bins', token_map=declared, **options)
    found = policy.infer(observed())
    assert found.tokens.dimension.tolist() == [0, 0, 1, 1, 1, 2]
    assert found.tokens.step.tolist() == [0] * 6
    np.testing.assert_allclose(found.actions, [[1 / 3, 1.0, -1.0]])
    wrong = declared | {'bins': 3}
    with pytest.raises(PolicyError, match='which is no action; action tokens are'):
        load_token_vla(folder, 'openvla_bins', token_map=wrong, **options).infer(observed())
    wrong = declared | {'dimensions': 4}
    options['action_names'] = ['x', 'y', 'z', 'gripper']
    with pytest.raises(PolicyError, match='wrote 0 lists of 4 names'):
        load_token_vla(folder, 'openvla_bins', token_map=wrong, **options).infer(observed())
    with pytest.raises(PolicyError, match='restrict_vocabulary needs a token map'):
        load_token_vla(folder, 'openvla_bins', token_map=wrong, restrict_vocabulary=True, **options)


def test_numbers_in_the_text(taught):
    pieces = ['[', '0.25', ',', '-1e-3', ',', '1', ']']
    folder, _ = taught('numbers', tuple(dict.fromkeys(pieces)), pieces)
    policy = load_token_vla(
        folder, 'numbers', token_map={'kind': 'list', 'items': 'number', 'dimensions': 3},
        cameras=[], action_names=['x', 'y', 'gripper'], prompt=WANTED.replace(
            'pick up the cube', '{instruction}'), lowers_instruction=True,
    )  # fmt: skip
    found = policy.infer(observed())
    np.testing.assert_allclose(found.actions, [[0.25, -1e-3, 1.0]])
    assert found.tokens.dimension.tolist() == [0, 1, 2]
    assert (found.tokens.chosen_probability > 0.5).all()


def test_latent_codes_go_to_the_users_decoder(taught):
    extra = tuple(f'<ACT_{i}>' for i in range(16))
    folder, target = taught('latent', extra, ['<ACT_3>', '<ACT_0>', '<ACT_15>', '<ACT_7>'])
    first = target[1]
    asked = []

    def decoder(latent):
        asked.append(latent)
        return latent.codes[None, :] / 16.0

    decoder.wants_hidden_states = True
    options = {
        'preset': 'univla', 'appended_token': None, 'cameras': [], 'normalisation': 'none',
        'action_names': ['a', 'b', 'c', 'd'],
        'token_map': {'kind': 'latent', 'count': 4, 'codes': 16, 'first_token': first},
    }  # fmt: skip
    policy = load_token_vla(folder, action_decoder=decoder, **options)
    found = policy.infer(observed(rephrasings=('Pick up the cube',)))
    np.testing.assert_allclose(found.actions, [np.array([3, 0, 15, 7]) / 16.0])
    assert found.tokens.step.tolist() == found.tokens.dimension.tolist() == [-1] * 4
    assert found.rephrasing_confidences[0] == pytest.approx(
        found.tokens.chosen_probability.mean(), rel=1e-5
    )
    # The last hidden states make the logits that the codes were chosen from.
    hidden = torch.as_tensor(asked[0].hidden[-4:])
    model = policy._model
    assert model.lm_head(hidden).argmax(dim=-1).tolist() == target[:4]
    by_dimension = load_token_vla(
        folder, action_decoder=decoder, rephrasing_aggregate='dimension_mean', **options
    ).infer(observed(rephrasings=('Pick up the cube',)))
    assert by_dimension.rephrasing_confidences is None
    assert 'belong to no action dimension' in by_dimension.unavailable['rephrasings']
    with pytest.raises(PolicyError, match='action decoder raised ZeroDivisionError'):
        load_token_vla(folder, action_decoder=lambda latent: 1 / 0, **options).infer(observed())
    with pytest.raises(PolicyError, match='give action_decoder'):
        load_token_vla(folder, **options)
    with pytest.raises(PolicyError, match="'nowhere:at_all', which cannot be imported"):
        load_token_vla(folder, action_decoder='nowhere:at_all', **options)


def test_a_rephrasing_that_gives_no_action_takes_the_ensemble_and_not_the_action(taught):
    pieces = [f'<act{i:03d}>' for i in (10, 20, 30)]
    prompts = {PROMPT.format('do nothing'): ['lift', 'the', 'box']}
    folder, target = taught('fragile', (), pieces, **prompts)
    declared = {'kind': 'bins', 'dimensions': 3, 'direction': 1, 'values': 'points', 'bins': 21}
    policy = load_token_vla(
        folder, 'openvla_bins', cameras=[], normalisation='none', action_names=['x', 'y', 'z'],
        prompt=PROMPT.format('{instruction}'), token_map=declared | {'zero_token': target[0]},
    )  # fmt: skip
    found = policy.infer(observed(rephrasings=('pick up the cube', 'do nothing')))
    np.testing.assert_allclose(found.actions, [[-1.0, 0.0, 1.0]])
    assert found.rephrasings == () and found.rephrasing_confidences is None
    assert found.unavailable['rephrasings'].startswith("'do nothing': the model gave token")
    found = policy.infer(observed(rephrasings=('pick up the cube',)))
    assert found.rephrasing_confidences[0] > 0.9 and found.unavailable == {}
    with pytest.raises(PolicyError, match='which is no action'):
        policy.infer(observed('do nothing'))


class Watched(LogitsReducer):
    """Counts how many steps' logits are held by anyone."""

    def __init__(self, *args):
        super().__init__(*args)
        self.scores, self.most = [], 0

    def __call__(self, input_ids, scores):
        self.scores.append(weakref.ref(scores))
        self.most = max(self.most, sum(each() is not None for each in self.scores))
        return super().__call__(input_ids, scores)


def test_logits_of_a_large_vocabulary_are_never_kept():
    import tracemalloc

    from transformers import LlamaConfig, LlamaForCausalLM

    classes, count = 257_152, 50
    settings = vla_models.text_settings(classes) | {'hidden_size': 8, 'intermediate_size': 8}
    settings |= {'num_attention_heads': 1, 'num_key_value_heads': 1, 'num_hidden_layers': 1}
    torch.manual_seed(0)
    model = LlamaForCausalLM(LlamaConfig(**settings)).eval()
    tokenizer = vla_models.make_tokenizer()
    generator = Generator(model, tokenizer, count)
    inputs = {'input_ids': torch.tensor([[5, 6, 7]]), 'attention_mask': torch.ones(1, 3).long()}
    with torch.inference_mode():
        generator.greedy(inputs, LogitsReducer((), None, True))
        reducer = Watched(TEMPERATURES, None, True)
        tracemalloc.start()
        found = generator.greedy(inputs, reducer)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        kept = model.generate(
            **inputs, max_new_tokens=3, output_logits=True, return_dict_in_generate=True
        )
    assert len(found.rows[0]) == count and found.statistics.vocabulary_size == classes
    assert reducer.most <= 2  # of 50: this step's, and the last one's until it is replaced
    assert sum(each() is not None for each in reducer.scores) == 0
    assert peak < 4 * 4 * classes  # NumPy's side: less than four rows of float32, not 50
    assert [each.shape for each in kept.logits] == [(1, classes)] * 3
    p = softmax(kept.logits[0][0].double().numpy())
    assert found.statistics.entropy[0] == pytest.approx(entropy(p), rel=1e-5)


def test_what_is_missing_in_the_observation_is_named(made):
    policy = load(made, 'llava')
    with pytest.raises(PolicyError, match=r"lacks camera 'front'; it has \['wrist'\]"):
        policy.infer(observed(wrist=picture()))
    for empty in ('', '  '):
        with pytest.raises(PolicyError, match='no instruction'):
            policy.infer(observed(empty))
    with pytest.raises(PolicyError, match="'...' has no words"):
        policy.infer(observed('...'))
    with pytest.raises(PolicyError, match="holds '<image>', which marks an image"):
        policy.infer(observed('see <image>'))
    found = policy.infer(observed(rephrasings=('lift it', 'see <image>')))
    np.testing.assert_array_equal(found.actions, policy.infer(observed()).actions)
    assert found.rephrasing_confidences is None
    assert found.unavailable['rephrasings'].startswith("'see <image>': the instruction")
    with pytest.raises(PolicyError, match=r'shape \(4, 4\) of uint8'):
        policy.infer(observed(front=np.zeros((4, 4), np.uint8)))


def test_a_model_that_ends_too_soon_gives_no_chunk(taught):
    folder, _ = taught('short', (), ['<act010>', '<act011>'])
    policy = load_token_vla(
        folder, 'openvla_bins', cameras=[], prompt=PROMPT.format('{instruction}'),
        token_map={'kind': 'bins'}, normalisation='none',
    )  # fmt: skip
    with pytest.raises(PolicyError, match='gave 2 action tokens; 1 step of 7'):
        policy.infer(observed())


def test_a_checkpoints_own_settings_of_generation_change_nothing(made, tmp_path):
    """Penalties and sampling of a chat model would change the logits that are reduced."""
    model, processor, folder = made('llama')
    other = shutil.copytree(folder, tmp_path / 'chatty')
    from transformers import GenerationConfig

    GenerationConfig(
        do_sample=True, temperature=0.1, repetition_penalty=1.9, eos_token_id=2, pad_token_id=0
    ).save_pretrained(other)
    options = {'token_map': bins(processor), 'cameras': []}
    plain = load_token_vla(folder, 'openvla_bins', **options).infer(observed())
    chatty = load_token_vla(other, 'openvla_bins', **options).infer(observed())
    np.testing.assert_array_equal(plain.actions, chatty.actions)
    np.testing.assert_array_equal(plain.tokens.entropy, chatty.tokens.entropy)


@pytest.mark.parametrize('kind', KINDS)
def test_features_are_what_the_first_token_follows_from(made, kind):
    policy = load(made, kind)
    inference = policy.infer(observed())
    model, processor, folder = made(kind)
    inputs = by_hand(made, kind, INSTRUCTION)
    if 'PaliGemma' not in type(model).__name__:
        inputs.pop('token_type_ids', None)
    out = model.generate(
        **inputs, max_new_tokens=1, do_sample=False, output_hidden_states=True,
        return_dict_in_generate=True,
    )  # fmt: skip
    expected = out.hidden_states[0][-1][0, -1].double().numpy()
    np.testing.assert_allclose(inference.features, expected, rtol=2e-4, atol=1e-5)
    assert inference.feature_source
    asked = replace(observed(), rephrasings=('lift it',))
    np.testing.assert_allclose(policy.infer(asked).features, expected, rtol=2e-4, atol=1e-5)
    weights = (folder / 'model.safetensors').read_bytes()
    assert policy.fingerprint['weights'] == hashlib.sha256(weights).hexdigest()
