# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Token maps: what tokens mean, against encoders written here from the papers."""

import json
from dataclasses import asdict

import numpy as np
import pytest
from scipy.fft import dct

from frame_ros.core.errors import CheckpointError, PolicyError
from frame_ros.policies.token_vla import (
    PRESETS,
    BinTokens,
    FastTokens,
    LatentTokens,
    ListTokens,
    SpatialTokens,
    token_map,
)
from frame_ros.policies.token_vla.codec import BinCodec
from frame_ros.policies.token_vla.folder import VlaFolder
from frame_ros.policies.token_vla.normalisation import find_statistics, normalisation
from frame_ros.policies.token_vla.spatial import SpatialCodec
from frame_ros.policies.token_vla.text_list import token_spans

RNG = np.random.default_rng(0)


def decode(codec, ids, hidden=None):
    return codec.actions(codec.locate(np.asarray(ids)), hidden)


def test_openvla_tokens_are_those_of_its_256_edges():
    """Its tokenizer writes digitize(action, 256 edges) counted down from the vocabulary's end."""
    edges = np.linspace(-1, 1, 256)
    actions = RNG.uniform(-1, 1, (300, 7))
    codec = BinCodec(BinTokens(), 32000)
    for action in actions:
        found = decode(codec, 32000 - np.digitize(action, edges))
        assert found.shape == (1, 7)
        assert np.abs(found[0] - action).max() <= (edges[1] - edges[0]) / 2 + 1e-12
    centres = (edges[:-1] + edges[1:]) / 2
    np.testing.assert_allclose(decode(codec, [31999] * 7)[0], centres[0])
    np.testing.assert_allclose(decode(codec, [31745] * 7)[0], centres[-1])
    np.testing.assert_allclose(decode(codec, [31744] * 7)[0], centres[-1])  # the value 1 itself


def test_steps_and_dimensions_follow_each_other():
    codec = BinCodec(BinTokens(horizon=2, dimensions=3, zero_token=10, direction=1), 5000)
    tokens = codec.locate(np.arange(10, 16))
    assert tokens.step.tolist() == [0, 0, 0, 1, 1, 1]
    assert tokens.dimension.tolist() == [0, 1, 2, 0, 1, 2]
    assert (np.diff(codec.actions(tokens, None).ravel()) > 0).all()


def test_several_tokens_of_a_dimension_are_digits():
    declared = BinTokens(
        dimensions=2, tokens_per_dimension=3, bins=10, zero_token=0, direction=1, values='points'
    )
    codec = BinCodec(declared, 100)
    tokens = codec.locate(np.array([1, 2, 3, 9, 9, 9]))
    assert tokens.dimension.tolist() == [0, 0, 0, 1, 1, 1]
    np.testing.assert_allclose(codec.actions(tokens, None), [[-1 + 2 * 123 / 999, 1.0]])


def test_what_is_no_chunk_is_refused_with_the_token():
    codec = BinCodec(BinTokens(), 32000)
    with pytest.raises(
        PolicyError, match=r'gave 6 action tokens; 1 step of 7 dimensions, 1 token each make 7'
    ):
        decode(codec, [31900] * 6)
    with pytest.raises(PolicyError, match='token 31743 at place 3.*tokens are 31744 to 31999'):
        decode(codec, [31900, 31900, 31900, 31743, 31900, 31900, 31900])
    with pytest.raises(PolicyError, match='no tokens below 0'):
        BinCodec(BinTokens(), 100)


EDGES = {
    'theta': np.linspace(0, np.pi, 17).tolist(),
    'phi': np.linspace(-np.pi, np.pi, 33).tolist(),
    'r': np.linspace(0, 3**0.5, 9).tolist(),
    **{name: np.linspace(-1, 1, 17).tolist() for name in ('roll', 'pitch', 'yaw')},
}


def spatial_ids(action, first):
    """SpatialVLA's encoder: cells by digitize, rows first, three tables one after the other."""
    x, y, z = action[:3]
    polar = (np.arctan2(np.hypot(x, y), z), np.arctan2(y, x), np.sqrt(x * x + y * y + z * z))
    ids, start = [], first
    for names, values in ((('theta', 'phi', 'r'), polar), (('roll', 'pitch', 'yaw'), action[3:6])):
        sizes = [len(EDGES[name]) - 1 for name in names]
        cells = [np.digitize(v, EDGES[n][1:-1]) for n, v in zip(names, values)]
        ids.append(start + (cells[0] * sizes[1] + cells[1]) * sizes[2] + cells[2])
        start += int(np.prod(sizes))
    return [*ids, start + int(action[6] >= 0.5)]


@pytest.mark.parametrize('from_checkpoint', [True, False])
def test_spatial_tokens_give_back_the_cell(from_checkpoint):
    actions = RNG.uniform(-0.55, 0.55, (4, 7))
    actions[:, 6] = [0, 1, 1, 0]
    policy = {
        'translation': {f'{n}_bins': EDGES[n] for n in ('theta', 'phi', 'r')},
        'rotation': {f'{n}_bins': EDGES[n] for n in ('roll', 'pitch', 'yaw')},
    }
    settings = {'bin_policy': policy, 'action_chunk_size': 4} if from_checkpoint else {}
    declared = SpatialTokens() if from_checkpoint else SpatialTokens(horizon=4, edges=EDGES)
    codec = SpatialCodec(declared, settings, 5000)
    ids = np.array([spatial_ids(action, 5000) for action in actions]).ravel()
    assert codec.most_tokens == 12
    found = decode(codec, ids)
    radial = np.linalg.norm(found[:, :3], axis=1) - np.linalg.norm(actions[:, :3], axis=1)
    assert np.abs(radial).max() <= 3**0.5 / 16 + 1e-9
    cosine = (found[:, :3] * actions[:, :3]).sum(axis=1) / np.prod(
        [np.linalg.norm(v[:, :3], axis=1) for v in (found, actions)], axis=0
    )
    assert np.degrees(np.arccos(cosine)).max() < 12
    assert np.abs(found[:, 3:6] - actions[:, 3:6]).max() <= 1 / 16 + 1e-9
    assert found[:, 6].tolist() == actions[:, 6].tolist()
    tokens = codec.locate(ids)
    assert tokens.step.tolist() == np.repeat(range(4), 3).tolist()
    assert tokens.dimension.tolist() == [-1, -1, 6] * 4
    with pytest.raises(PolicyError, match='is no action; action tokens are 9096 to 13191'):
        codec.locate(np.r_[ids[:1], ids[:1], ids[2:]])
    first = SpatialCodec(SpatialTokens(horizon=1, edges=EDGES, names_first=True), {}, 5000)
    assert first.locate(ids[:3]).dimension.tolist() == [0, 3, 6]


def test_a_spatial_checkpoint_may_give_the_number_of_cells_only():
    bins = {'translation': {'theta_bins': 4, 'phi_bins': 8, 'r_bins': 2}}
    bins['rotation'] = dict.fromkeys(('roll_bins', 'pitch_bins', 'yaw_bins'), 4)
    codec = SpatialCodec(SpatialTokens(), {'action_config': {'num_bins': bins}}, 10)
    assert len(codec.vocabulary) == 64 + 64 + 2
    with pytest.raises(CheckpointError, match='neither bin_policy nor .*theta_bins'):
        SpatialCodec(SpatialTokens(), {}, 10)
    with pytest.raises(CheckpointError, match='no <ACTION00000>'):
        SpatialCodec(SpatialTokens(edges=EDGES), {}, None)


SCALE, LEAST = 10, -354


def fast_text(actions):
    """The FAST paper's encoder: DCT over time, scaled, rounded, one character a coefficient."""
    coefficients = np.around(dct(actions, axis=0, norm='ortho') * SCALE).astype(int)
    return ''.join(chr(c - LEAST) for c in coefficients.ravel())


@pytest.fixture(scope='module')
def fast_folder(tmp_path_factory):
    tokenizers = pytest.importorskip('tokenizers')
    folder = tmp_path_factory.mktemp('fast')
    smooth = RNG.uniform(-1, 1, (200, 10, 7)).cumsum(axis=1) / 4
    bpe = tokenizers.ByteLevelBPETokenizer()
    alphabet = tokenizers.pre_tokenizers.ByteLevel.alphabet()
    trainer = tokenizers.trainers.BpeTrainer(vocab_size=600, initial_alphabet=alphabet)
    bpe._tokenizer.train_from_iterator(map(fast_text, smooth), trainer=trainer)
    bpe._tokenizer.save(str(folder / 'tokenizer.json'))
    settings = {'scale': SCALE, 'min_token': LEAST, 'time_horizon': None, 'action_dim': None}
    (folder / 'processor_config.json').write_text(json.dumps(settings))
    return folder, bpe, smooth


@pytest.mark.parametrize('direction', [1, -1])
def test_fast_tokens_give_back_the_chunk(fast_folder, direction):
    from frame_ros.policies.token_vla.fast import FastCodec

    folder, bpe, smooth = fast_folder
    declared = FastTokens(1000, 1999, direction, str(folder), horizon=10, dimensions=7)
    codec = FastCodec(declared, folder)
    for chunk in smooth[:20]:
        own = np.array(bpe.encode(fast_text(chunk)).ids)
        ids = 1000 + own if direction > 0 else 1999 - own
        found = decode(codec, np.r_[5, 6, ids, 7])  # words before and after
        assert len(own) < 70 and found.shape == (10, 7)
        assert np.sqrt(((found - chunk) ** 2).mean()) <= 0.5 / SCALE
    tokens = codec.locate(np.r_[5, 6, ids, 7])
    assert tokens.indices.tolist() == list(range(2, 2 + len(ids)))
    assert set(tokens.step.tolist()) == set(tokens.dimension.tolist()) == {-1}


def test_fast_tokens_that_make_no_chunk_are_refused(fast_folder):
    from frame_ros.policies.token_vla.fast import FastCodec

    folder, bpe, smooth = fast_folder
    own = np.array(bpe.encode(fast_text(smooth[0])).ids) + 1000
    declared = FastTokens(1000, 1999, folder=str(folder), horizon=11, dimensions=7)
    with pytest.raises(PolicyError, match='with 70 coefficients; 11 steps of 7 .* have 77'):
        decode(FastCodec(declared, folder), own)
    relaxed = FastTokens(1000, 1999, folder=str(folder), horizon=11, dimensions=7, is_relaxed=True)
    assert decode(FastCodec(relaxed, folder), own).shape == (11, 7)
    codec = FastCodec(declared, folder)
    with pytest.raises(PolicyError, match='no action token in 3 tokens'):
        decode(codec, [1, 2, 3])
    with pytest.raises(PolicyError, match='token 8 at place 1, between'):
        decode(codec, [own[0], 8, own[1]])
    half = next(i for i in range(600) if '\ufffd' in bpe.decode([i]))
    with pytest.raises(PolicyError, match='no text together'):
        decode(codec, [1000 + half] * 3)
    with pytest.raises(CheckpointError, match='600 tokens; the token map has 1000 to 1099'):
        FastCodec(FastTokens(1000, 1099, folder=str(folder), horizon=1, dimensions=7), folder)
    with pytest.raises(CheckpointError, match='neither the token map nor .* horizon'):
        FastCodec(FastTokens(1000, 1999, folder=str(folder)), folder)
    with pytest.raises(CheckpointError, match='lacks tokenizer.json'):
        FastCodec(FastTokens(1000, 1999), folder)


def test_tokens_of_a_part_of_a_character_have_its_place():
    text = 'aé€b'
    pieces = [b'a', b'\xc3', b'\xa9', b'\xe2', b'\x82\xac', b'b']
    whole, starts, ends = token_spans(
        np.arange(6), lambda ids: b''.join(pieces[i] for i in ids).decode(errors='replace')
    )
    assert whole == text
    assert starts.tolist() == [0, 1, 1, 2, 2, 3] and ends.tolist() == [1, 2, 2, 3, 3, 4]


@pytest.mark.parametrize(
    'declared',
    [
        BinTokens(horizon=8),
        ListTokens(items='number'),
        SpatialTokens(edges=EDGES),
        FastTokens(1, 2048, folder='x'),
        LatentTokens(),
    ],
)
def test_a_map_is_data(declared, tmp_path):
    content = {'kind': declared.kind, **asdict(declared)}
    assert token_map(content) == declared
    (tmp_path / 'map.json').write_text(json.dumps(content))
    assert token_map(tmp_path / 'map.json') == declared


@pytest.mark.parametrize(
    ('declared', 'says'),
    [
        ({'kind': 'bin'}, "kind 'bin'; known: bins, list, spatial, fast, latent"),
        ({'kind': 'bins', 'bin': 3}, "kind 'bins' has no bin; it has bins, dimensions"),
        ({'kind': 'bins', 'bins': '256'}, "bins of the token map is '256'; int is"),
        ({'kind': 'bins', 'bins': True}, 'bins of the token map is True; int is'),
        ({'kind': 'bins', 'horizon': 0}, 'horizon of the token map is 0; 1 or more'),
        ({'kind': 'bins', 'values': 'edges'}, "'edges'; one of 'centres', 'points'"),
        ({'kind': 'bins', 'direction': 0}, '0; one of 1, -1'),
        ({'kind': 'bins', 'tokens_per_dimension': 2}, "need values 'points'"),
        ({'kind': 'fast', 'first_token': 5, 'last_token': 5}, 'the first must be below'),
        ({'kind': 'latent', 'codes': 1}, 'codes of the token map is 1'),
        ([1], 'a token map is list'),
        ('missing.json', 'missing.json is not readable'),
    ],
)
def test_a_map_that_cannot_be_is_refused(declared, says):
    with pytest.raises(PolicyError, match=says):
        token_map(declared)


def test_presets_name_their_source_and_have_a_place_for_the_instruction():
    for name, preset in PRESETS.items():
        assert preset.source and '{instruction}' in preset.prompt, name
        if preset.tokens is not None:
            content = {'kind': preset.tokens.kind, **asdict(preset.tokens)}
            assert token_map(content) == preset.tokens
            width = getattr(preset.tokens, 'dimensions', None) or 7
            assert len(preset.action_names) == width, name


ENTRY = {
    'q01': [-2.0, 0.0, 0.0],
    'q99': [4.0, 1.0, 1.0],
    'min': [-3.0, 0.0, 0.0],
    'max': [5.0, 2.0, 1.0],
    'mean': [0.5, 0.5, 0.5],
    'std': [2.0, 0.1, 0.3],
    'mask': [True, True, False],
}


@pytest.mark.parametrize(
    ('mode', 'expected'),
    [('quantiles', [1.0, 0.5, 0.0]), ('bounds', [1.0, 1.0, 0.0]), ('mean_std', [0.5, 0.5, 0.0])],
)
def test_actions_are_in_the_units_of_the_data_set(mode, expected):
    found = normalisation({'a': {'action': ENTRY}}, 'x', None, 3, mode)
    np.testing.assert_allclose(found.actions(np.zeros((2, 3))), [expected] * 2)
    at_end = found.actions(np.ones(3))
    assert at_end[2] == 1.0
    if mode == 'quantiles':
        assert at_end[:2].tolist() == [4.0, 1.0]
    without = normalisation({'a': {'action': ENTRY}}, 'x', 'a', 3, mode, raw=(-1,), uses_mask=False)
    assert without.actions(np.full(3, 0.25))[2] == 0.25


def test_statistics_that_do_not_fit_are_refused():
    two = {'a': {'action': ENTRY}, 'b': {'action': ENTRY}}
    with pytest.raises(CheckpointError, match='2 data sets; give unnorm_key, one of a, b'):
        normalisation(two, 'x', None, 3, 'quantiles')
    with pytest.raises(CheckpointError, match="unnorm_key is 'c'; x has statistics of a, b"):
        normalisation(two, 'x', 'c', 3, 'quantiles')
    with pytest.raises(CheckpointError, match='another robot'):
        normalisation(two, 'x', 'a', 7, 'quantiles')
    with pytest.raises(CheckpointError, match="no numbers 'q99'"):
        normalisation({'a': {'action': {'q01': [1.0]}}}, 'x', 'a', 1, 'quantiles')
    with pytest.raises(CheckpointError, match='no statistics `action`'):
        normalisation({'a': [1]}, 'x', 'a', 1, 'quantiles')
    with pytest.raises(CheckpointError, match=r'raw_dimensions are \[3\]; there are 3'):
        normalisation({'a': {'action': ENTRY}}, 'x', 'a', 3, 'quantiles', raw=(3,))


def test_statistics_are_found_where_checkpoints_keep_them(tmp_path):
    for name, content in (('norm_stats.json', 2), ('dataset_statistics.json', 1)):
        (tmp_path / name).write_text(json.dumps({'a': content}))
    # A fine-tuned OpenVLA keeps the base model's statistics in config.json.
    folder = VlaFolder(tmp_path, {'norm_stats': {'a': 0}}, {'statistics': {'a': 3}})
    found, source = find_statistics(folder)
    assert found == {'a': 1} and source.endswith('dataset_statistics.json')
    empty = tmp_path / 'empty'
    assert find_statistics(VlaFolder(empty, folder.config, folder.settings))[0] == {'a': 0}
    assert find_statistics(VlaFolder(empty, {}, folder.settings))[0] == {'a': 3}
    assert find_statistics(folder, tmp_path / 'norm_stats.json')[0] == {'a': 2}
    with pytest.raises(CheckpointError, match='has no statistics of its data set'):
        find_statistics(VlaFolder(tmp_path / 'x', {}, {}))
