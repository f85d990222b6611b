# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Folders that are no token VLA, or one for another robot, or one that wants to run code."""

import json
import shutil

import numpy as np
import pytest

torch = pytest.importorskip('torch')
pytest.importorskip('transformers')

from safetensors.torch import load_file, save_file  # noqa: E402
from vla_models import STATISTICS, make_vla, picture, save_vla  # noqa: E402

from frame_ros.core.errors import CheckpointError, FrameRosError, PolicyError  # noqa: E402
from frame_ros.policies.protocol import Observation  # noqa: E402
from frame_ros.policies.registry import make_policy  # noqa: E402
from frame_ros.policies.token_vla import load_token_vla  # noqa: E402
from frame_ros.policies.token_vla.model import import_transformers  # noqa: E402

import_transformers()

OPTIONS = {'preset': 'openvla_bins', 'cameras': [], 'prompt': '{instruction}'}
OBSERVATION = Observation(0, 0, (), np.zeros(0), {'front': picture()}, {}, 'lift the cube')


@pytest.fixture(scope='module')
def original(tmp_path_factory):
    return save_vla(tmp_path_factory.mktemp('vla'), *make_vla('llama'))


@pytest.fixture()
def folder(original, tmp_path):
    """A copy to spoil."""
    return shutil.copytree(original, tmp_path / 'copy')


def edit(path, **changes):
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))


def test_a_folder_without_what_it_needs_is_refused(folder, tmp_path):
    with pytest.raises(CheckpointError, match='no checkpoint folder .*nothing is downloaded'):
        load_token_vla('openvla/openvla-7b', **OPTIONS)
    (folder / 'model.safetensors').rename(folder / 'pytorch_model.bin')
    with pytest.raises(CheckpointError, match=r'no weights as \*.safetensors \(its pytorch_model'):
        load_token_vla(folder, **OPTIONS)
    (folder / 'config.json').write_text('[]')
    (folder / 'pytorch_model.bin').rename(folder / 'model.safetensors')
    with pytest.raises(CheckpointError, match='holds a JSON list'):
        load_token_vla(folder, **OPTIONS)
    (folder / 'config.json').unlink()
    with pytest.raises(CheckpointError, match='lacks config.json'):
        load_token_vla(folder, **OPTIONS)


def test_weights_that_are_missing_or_do_not_fit_are_refused(folder):
    weights = load_file(folder / 'model.safetensors')
    name = 'model.layers.0.mlp.up_proj.weight'
    save_file({k: v for k, v in weights.items() if k != name}, folder / 'model.safetensors',
              metadata={'format': 'pt'})  # fmt: skip
    with pytest.raises(CheckpointError, match=f'lacks 1 weights, .* random: {name}'):
        load_token_vla(folder, **OPTIONS)
    save_file(weights | {name: torch.zeros(3, 3)}, folder / 'model.safetensors',
              metadata={'format': 'pt'})  # fmt: skip
    with pytest.raises(CheckpointError, match='cannot be loaded'):
        load_token_vla(folder, **OPTIONS)
    save_file(weights | {'other': torch.zeros(3)}, folder / 'model.safetensors',
              metadata={'format': 'pt'})  # fmt: skip
    assert load_token_vla(folder, **OPTIONS).notes == ['1 weights are not used by its model: other']


def test_a_checkpoint_for_another_robot_is_refused(folder):
    with pytest.raises(CheckpointError, match="unnorm_key is 'fractal'; .*statistics of bridge"):
        load_token_vla(folder, **OPTIONS, unnorm_key='fractal')
    three = {'token_map': {'kind': 'bins', 'dimensions': 3}}
    with pytest.raises(CheckpointError, match='map has 3 dimensions, the chunk 7 columns: x, y'):
        load_token_vla(folder, **OPTIONS, **three)
    with pytest.raises(CheckpointError, match=r"'q01' of shape \(7,\); the token map has 3 dim"):
        load_token_vla(folder, **OPTIONS, **three, action_names=['a', 'b', 'c'])
    (folder / 'dataset_statistics.json').unlink()
    with pytest.raises(CheckpointError, match='has no statistics of its data set'):
        load_token_vla(folder, **OPTIONS)
    assert load_token_vla(folder, **OPTIONS, normalisation='none').name == 'openvla_bins'


def test_options_that_cannot_be_are_refused(original):
    def says(match, **options):
        with pytest.raises(FrameRosError, match=match):
            load_token_vla(original, **{**OPTIONS, **options})

    says("no preset 'openvla7b' of token VLAs; known: generic, openvla,", preset='openvla7b')
    says('is a llama, which does not say how its tokens become actions', preset='')
    says('no token map; give token_map', preset='generic')
    says("'promt' is no option; did you mean 'prompt'", promt='x')
    says('no place for the {instruction}', prompt='go')
    says("action_space is 'pose'; one of joint_position", action_space='pose')
    says('chunk is of joints; give action_names', action_space='joint_position')
    says("normalisation is 'minmax'; one of quantiles", normalisation='minmax')
    says("device is 'abacus'", device='abacus')
    says("dtype is 'int4'; one of auto", dtype='int4')
    says('samples is 1; it must be 0, or at least 2', samples=1)
    says('action_rate is 0', action_rate=0.0)
    says('sampling_temperature is 0', sampling_temperature=0.0)
    says('rephrasing_batch is -1', rephrasing_batch=-1)
    says("rephrasing_aggregate is 'median'", rephrasing_aggregate='median')
    says("trust_remote_code is 'yes'; it must be true or false", trust_remote_code='yes')
    says('image_size is 224; a list', image_size=224)
    says('prompt 3 has no place', prompt=3)
    says('1 cameras are named; the checkpoint has no processor of images', cameras='front')
    if not torch.cuda.is_available():
        says('sees no CUDA device', device='cuda')


def test_bins_at_an_unclear_end_of_the_vocabulary_are_refused(folder):
    # As LLaVA's and PaliGemma's: the matrix of the model has rows that no token names.
    content = load_file(folder / 'model.safetensors')
    size = len(content['lm_head.weight'])
    for name in ('lm_head.weight', 'model.embed_tokens.weight'):
        content[name] = torch.cat((content[name], torch.zeros(64, content[name].shape[1])))
    save_file(content, folder / 'model.safetensors', metadata={'format': 'pt'})
    edit(folder / 'config.json', vocab_size=size + 64)
    with pytest.raises(CheckpointError, match=f'zero_token .*such as {size - 1} or {size + 63}'):
        load_token_vla(folder, **OPTIONS)
    declared = {'token_map': {'kind': 'bins', 'zero_token': size - 1}}
    assert load_token_vla(folder, **OPTIONS, **declared).infer(OBSERVATION).actions.shape == (1, 7)
    edit(folder / 'config.json', pad_to_multiple_of=64)  # as OpenVLA's own says
    assert load_token_vla(folder, **OPTIONS).infer(OBSERVATION).actions.shape == (1, 7)


MODELING = """
from transformers import LlamaConfig, LlamaForCausalLM
from .configuration_own import OwnConfig


class OwnModel(LlamaForCausalLM):
    config_class = OwnConfig
"""
CONFIGURATION = """
import pathlib
from transformers import LlamaConfig

pathlib.Path({mark!r}).write_text('code of the checkpoint ran')


class OwnConfig(LlamaConfig):
    model_type = 'own_vla'
"""


def test_code_of_a_checkpoint_runs_only_if_it_is_trusted(folder, tmp_path, monkeypatch):
    import transformers.dynamic_module_utils as dynamic

    monkeypatch.setattr(dynamic, 'HF_MODULES_CACHE', str(tmp_path / 'modules'))
    mark = tmp_path / 'mark'
    (folder / 'modeling_own.py').write_text(MODELING)
    (folder / 'configuration_own.py').write_text(CONFIGURATION.format(mark=str(mark)))
    auto = {
        'AutoConfig': 'configuration_own.OwnConfig',
        'AutoModelForCausalLM': 'modeling_own.OwnModel',
    }
    edit(folder / 'config.json', model_type='own_vla', auto_map=auto)
    with pytest.raises(CheckpointError) as refused:
        load_token_vla(folder, **OPTIONS)
    assert 'needs Python code of its own (configuration_own.py, modeling_own.py' in str(
        refused.value
    )
    assert 'trust_remote_code=true' in str(refused.value) and not mark.exists()
    policy = load_token_vla(folder, **OPTIONS, trust_remote_code=True)
    assert mark.exists() and type(policy._model).__name__ == 'OwnModel'
    assert 'Python code of the checkpoint runs: configuration_own.OwnConfig' in policy.notes[0]
    assert policy.infer(OBSERVATION).actions.shape == (1, 7)
    edit(folder / 'config.json', auto_map={})
    with pytest.raises(CheckpointError, match="'own_vla', which transformers does not know"):
        load_token_vla(folder, **OPTIONS)


def test_a_model_that_transformers_knows_needs_no_code_of_its_own(folder, tmp_path):
    edit(folder / 'config.json', auto_map={'AutoModelForCausalLM': 'modeling_own.OwnModel'})
    assert load_token_vla(folder, **OPTIONS).infer(OBSERVATION).actions.shape == (1, 7)


def test_nothing_is_downloaded(original, monkeypatch):
    import socket

    def refuse(*_):
        raise AssertionError('the network was used')

    monkeypatch.setattr(socket.socket, 'connect', refuse)
    assert load_token_vla(original, **OPTIONS).infer(OBSERVATION).actions.shape == (1, 7)


def test_it_is_made_by_name_with_what_the_robot_offers(original, tmp_path):
    statistics = tmp_path / 'other.json'
    content = {'a': {'action': STATISTICS}, 'b': {'action': STATISTICS}}
    statistics.write_text(json.dumps(content))
    offered = {'folder': str(original), 'device': 'cpu', 'seed': 1, 'joint_limits': {}}
    policy = make_policy(
        'token_vla', offered=offered, **OPTIONS, unnorm_key='b', statistics=str(statistics)
    )
    assert policy.checkpoint == str(original) and policy.needs_instruction
    with pytest.raises(PolicyError, match="'temprature'; did you mean 'temperatures'"):
        make_policy('token_vla', offered=offered, **OPTIONS, temprature=1.0)
