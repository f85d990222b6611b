# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Loading a model and its processor from a local folder, by transformers' own classes."""

from __future__ import annotations

from typing import Any

from frame_ros.core.errors import CheckpointError, FrameRosError, MissingExtraError, install_hint
from frame_ros.core.lerobot_import import offline
from frame_ros.core.torchvision_import import import_torchvision
from frame_ros.policies.checkpoint import read_json
from frame_ros.policies.token_vla.folder import PROCESSORS, VlaFolder

DTYPES = ('auto', 'float32', 'bfloat16', 'float16')
# Automatic classes that make a model which generates, the preferred first.
REMOTE_CLASSES = (
    'AutoModelForImageTextToText',
    'AutoModelForVision2Seq',
    'AutoModelForCausalLM',
    'AutoModel',
)
_SHOWN = 5


def import_transformers() -> Any:
    """transformers, with what it needs.

    Raises:
        MissingExtraError: it is not installed.
    """
    try:
        import torch  # noqa: F401
        import transformers
    except ImportError as error:
        raise MissingExtraError(
            f'a token VLA cannot be loaded: {error}: {install_hint("vla")}'
        ) from error
    try:
        import_torchvision()
    except ImportError:
        pass  # image processors that need it say so
    return transformers


def load_model(
    folder: VlaFolder, device: str, dtype: str, trusts_remote_code: bool
) -> tuple[Any, Any, list[str]]:
    """Returns model, processor (a tokenizer alone, for a model without images), and notes for the
    user.

    Args:
        trusts_remote_code: the checkpoint's own Python code may run, with all the user's
            permissions.

    Raises:
        CheckpointError: the checkpoint needs code of its own and may not run it, files are missing,
            weights do not fit, or the device is not here.
        MissingExtraError: transformers is not installed.
    """
    transformers = import_transformers()
    check_remote_code(folder, trusts_remote_code)
    if dtype not in DTYPES:
        raise CheckpointError(f'dtype is {dtype!r}; one of {", ".join(DTYPES)} is expected')
    options = {'local_files_only': True, 'trust_remote_code': trusts_remote_code}
    try:
        with offline():
            processor = _load_processor(transformers, folder, options)
            model, info = _model_class(transformers, folder).from_pretrained(
                folder.path,
                dtype=dtype,
                use_safetensors=True,
                output_loading_info=True,
                **options,
            )
            model.to(_device(device)).eval()
    except FrameRosError:
        raise
    except Exception as error:  # transformers, safetensors and torch each raise their own
        raise CheckpointError(f'{folder.path} cannot be loaded: {error}') from error
    return model, processor, _checked(folder, info, trusts_remote_code)


def check_remote_code(folder: VlaFolder, trusts_remote_code: bool) -> None:
    """Refuses a checkpoint that brings its own code, unless that may run.

    Raises:
        CheckpointError: it does.
    """
    from transformers.models.auto.configuration_auto import CONFIG_MAPPING_NAMES

    if trusts_remote_code:
        return
    code = dict(folder.remote_classes) if folder.model_type not in CONFIG_MAPPING_NAMES else {}
    if not code and folder.model_type not in CONFIG_MAPPING_NAMES:
        raise CheckpointError(
            f'{folder.path} is a {folder.model_type!r}, which transformers does not know'
        )
    for name in PROCESSORS:
        if code and (folder.path / name).is_file():
            code |= read_json(folder.path / name).get('auto_map') or {}
    if code:
        files = sorted(
            {str(place).split('.')[0].split('--')[-1] + '.py' for place in code.values()}
        )
        raise CheckpointError(
            f'{folder.path} is a {folder.model_type!r}, which needs Python code of its own '
            f'({", ".join(files)}; auto_map in its config.json). Code of a checkpoint can do all '
            'that you can do: read it, then allow it by trust_remote_code=true'
        )


def _model_class(transformers: Any, folder: VlaFolder) -> Any:
    from transformers.models.auto import modeling_auto as known

    if folder.model_type in known.MODEL_FOR_IMAGE_TEXT_TO_TEXT_MAPPING_NAMES:
        return transformers.AutoModelForImageTextToText
    if folder.model_type in known.MODEL_FOR_CAUSAL_LM_MAPPING_NAMES:
        return transformers.AutoModelForCausalLM
    for name in REMOTE_CLASSES:
        if name in folder.remote_classes and hasattr(transformers, name):
            return getattr(transformers, name)
    raise CheckpointError(
        f'{folder.path} is a {folder.model_type!r}, for which transformers has no model that '
        'generates text from images'
    )


def _load_processor(transformers: Any, folder: VlaFolder, options: dict[str, Any]) -> Any:
    has_processor = any((folder.path / name).is_file() for name in PROCESSORS[:2])
    kind = transformers.AutoProcessor if has_processor else transformers.AutoTokenizer
    processor = kind.from_pretrained(folder.path, **options)
    tokenizer = getattr(processor, 'tokenizer', processor)
    if not hasattr(tokenizer, 'padding_side'):
        raise CheckpointError(f'{folder.path} has no tokenizer')
    tokenizer.padding_side = 'left'  # all prompts of a batch end where generation begins
    if tokenizer.pad_token is None:
        tokenizer.pad_token = tokenizer.eos_token
    return processor


def _device(device: str) -> Any:
    import torch

    try:
        found = torch.device(device)
    except RuntimeError as error:
        raise CheckpointError(
            f'device is {device!r}; it must be one that torch knows, such as cpu or cuda:0'
        ) from error
    if found.type == 'cuda' and not torch.cuda.is_available():
        raise CheckpointError(
            f'device is {device!r}, but torch {torch.__version__} sees no CUDA device; use cpu'
        )
    return found


def _checked(folder: VlaFolder, info: dict[str, Any], trusts_remote_code: bool) -> list[str]:
    if missing := sorted(info.get('missing_keys', ())):
        raise CheckpointError(
            f'{folder.path} lacks {len(missing)} weights, which would stay random: {_some(missing)}'
        )
    notes = []
    if unexpected := sorted(info.get('unexpected_keys', ())):
        notes.append(f'{len(unexpected)} weights are not used by its model: {_some(unexpected)}')
    if trusts_remote_code and folder.remote_classes:
        files = ', '.join(sorted(set(folder.remote_classes.values())))
        notes.append(f'Python code of the checkpoint runs: {files}')
    return notes


def _some(names: list[str]) -> str:
    more = f', ... ({len(names) - _SHOWN} more)' if len(names) > _SHOWN else ''
    return ', '.join(names[:_SHOWN]) + more
