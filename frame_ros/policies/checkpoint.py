# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""A LeRobot checkpoint folder, examined before anything heavy is imported."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from frame_ros.core.errors import CheckpointError
from frame_ros.core.input_files import TEXT, load_json, open_file, read_text

CONFIG = 'config.json'
WEIGHTS = 'model.safetensors'
PROCESSORS = ('policy_preprocessor.json', 'policy_postprocessor.json')
CONTENT = (
    f'a LeRobot checkpoint has {CONFIG}, {WEIGHTS}, {" and ".join(PROCESSORS)}, '
    'and the state files (*.safetensors) that the two processors name'
)
# The folder below a training run's checkpoint that holds the policy itself.
TRAINING_SUBFOLDER = 'pretrained_model'
# PEFT's description of an adapter.
ADAPTER = 'adapter_config.json'


@dataclass(frozen=True)
class CheckpointFolder:
    """A complete checkpoint folder."""

    path: Path
    config: dict  # config.json as read
    weight_names: frozenset[str]  # the names of the tensors in the weights

    @property
    def policy_type(self) -> str:
        """LeRobot's name of the kind of policy: act, diffusion, ..."""
        return str(self.config['type'])

    def processor_steps(self, name: str) -> tuple[str, ...]:
        """The registered names of the steps of a processor, one of PROCESSORS."""
        steps = read_json(self.path / name)['steps']
        return tuple(str(step.get('registry_name', '')) for step in steps)


def open_checkpoint(folder: str | Path) -> CheckpointFolder:
    """Checks that a folder is a complete checkpoint and reads its configuration; weights are not
    loaded.

    Raises:
        CheckpointError: the folder or files in it are missing (all are listed), cannot be read, or
        are of LeRobot 0.3.
    """
    path = Path(folder).expanduser()
    if not path.is_dir():
        raise CheckpointError(f'there is no checkpoint folder {path}; {CONTENT}')
    missing = _missing_files(path)
    if missing:
        raise CheckpointError(_describe_missing(path, missing))
    config = read_json(path / CONFIG)
    if not isinstance(config.get('type'), str):
        raise CheckpointError(
            f"{path / CONFIG} has no 'type'; it should name the kind of policy, such as 'act'"
        )
    return CheckpointFolder(path, config, frozenset(read_weight_names(path / WEIGHTS)))


def read_weight_names(path: Path) -> list[str]:
    """Returns the names of the tensors in a safetensors file, from its header alone.

    Raises:
        CheckpointError: the file is cut or is not a safetensors file.
    """
    size = path.stat().st_size
    with open_file(path) as file:
        prefix = file.read(8)
        length = struct.unpack('<Q', prefix)[0] if len(prefix) == 8 else size
        if length > TEXT.now:
            raise CheckpointError(f'the header of {path} has {TEXT.excess(length)}')
        if 8 + length > size:
            raise CheckpointError(f'{path} ({size} bytes) is cut or is not a safetensors file')
        text = file.read(length)
    try:
        header = load_json(text)
        end = max(
            (entry['data_offsets'][1] for name, entry in header.items() if name != '__metadata__'),
            default=0,
        )
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise CheckpointError(
            f'{path} is not a safetensors file: its header is not readable ({error})'
        ) from error
    if 8 + length + end > size:
        raise CheckpointError(
            f'{path} is cut: its header promises {8 + length + end} bytes, it has {size}'
        )
    return [name for name in header if name != '__metadata__']


def processor_files(path: Path) -> list[Path]:
    """Returns the files of both processors of a complete checkpoint, each once."""
    states = {
        state for name in PROCESSORS for state in _state_files(read_json(path / name)['steps'])
    }
    return [path / name for name in (*PROCESSORS, *sorted(states))]


def _missing_files(path: Path) -> list[str]:
    missing = [name for name in (CONFIG, WEIGHTS, *PROCESSORS) if not (path / name).is_file()]
    for name in PROCESSORS:
        if name in missing:
            continue
        steps = read_json(path / name).get('steps')
        if not isinstance(steps, list) or not all(isinstance(step, dict) for step in steps):
            raise CheckpointError(
                f"{path / name} has no list of 'steps'; it is not a LeRobot processor"
            )
        missing += [
            f'{state} (named in {name})'
            for state in _state_files(steps)
            if not (path / state).is_file()
        ]
    return missing


def _state_files(steps: list[dict[str, Any]]) -> list[str]:
    """The files of what the steps of a processor hold: statistics of the normalisation."""
    return [step['state_file'] for step in steps if step.get('state_file')]


def _describe_missing(path: Path, missing: list[str]) -> str:
    if (path / TRAINING_SUBFOLDER / CONFIG).is_file():
        return (
            f'{path} is the folder of a training run; the checkpoint is {path / TRAINING_SUBFOLDER}'
        )
    if (path / ADAPTER).is_file():
        base = read_json(path / ADAPTER).get('base_model_name_or_path')
        return (
            f'{path} is an adapter (PEFT, LoRA) without the weights it adapts ({base}). Merge it '
            'where it was trained: load the base policy, PeftModel.from_pretrained(policy, '
            'adapter).merge_and_unload(), save_pretrained, and copy the two processors to it'
        )
    if missing == list(PROCESSORS):
        return (
            f'{path} has no {" and no ".join(PROCESSORS)}: it was saved by LeRobot 0.3 or older, '
            'which kept the normalisation inside the weights. Convert it: python -m '
            f'lerobot.processor.migrate_policy_normalization --pretrained-path {path}'
        )
    return f'{path} lacks {", ".join(missing)}; {CONTENT}'


def read_json(path: Path) -> dict[str, Any]:
    """The JSON object in a file.

    Raises:
        CheckpointError: it is not readable as such.
    """
    try:
        content = load_json(read_text(path))
    except (OSError, ValueError) as error:
        raise CheckpointError(f'{path} is not readable as JSON: {error}') from error
    if not isinstance(content, dict):
        raise CheckpointError(
            f'{path} holds a JSON {type(content).__name__}; an object is expected'
        )
    return content
