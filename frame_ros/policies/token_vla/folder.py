# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The folder of a Hugging Face checkpoint, examined before anything heavy is imported."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from frame_ros.core.errors import CheckpointError
from frame_ros.policies.checkpoint import read_json

CONFIG = 'config.json'
PROCESSORS = ('processor_config.json', 'preprocessor_config.json', 'tokenizer_config.json')
# Other forms of weights hold pickled objects, which are never read.
PICKLED = ('*.bin', '*.pt', '*.pth', '*.ckpt')
CONTENT = f'a checkpoint has {CONFIG}, *.safetensors, and the files of its processor or tokenizer'


@dataclass(frozen=True)
class VlaFolder:
    """A checkpoint's folder."""

    path: Path
    config: dict[str, Any]  # config.json
    settings: dict[str, Any]  # processor_config.json, {} without

    @property
    def model_type(self) -> str:
        """The kind of model, '' if it does not say."""
        return str(self.config.get('model_type', ''))

    @property
    def remote_classes(self) -> dict[str, str]:
        """Automatic class -> the class in the checkpoint's own code, of the model."""
        found = self.config.get('auto_map') or {}
        return {str(name): str(place) for name, place in found.items()}

    @property
    def vocabulary_size(self) -> int | None:
        """Classes of a token without those that only fill up the matrix; None: it does not say."""
        text = self.config.get('text_config') or {}
        size = text.get('vocab_size', self.config.get('vocab_size'))
        filling = self.config.get('pad_to_multiple_of') or 0
        return int(size) - int(filling) if isinstance(size, int) else None


def open_folder(folder: str | Path) -> VlaFolder:
    """Checks that a folder holds a checkpoint with weights as safetensors.

    Raises:
        CheckpointError: it does not.
    """
    path = Path(folder).expanduser()
    if not path.is_dir():
        raise CheckpointError(
            f'there is no checkpoint folder {path}; nothing is downloaded; {CONTENT}'
        )
    if not (path / CONFIG).is_file():
        raise CheckpointError(f'{path} lacks {CONFIG}; {CONTENT}')
    if not any(path.glob('*.safetensors')):
        pickled = sorted(file.name for pattern in PICKLED for file in path.glob(pattern))
        there = f' (its {", ".join(pickled)} can run code when read)' if pickled else ''
        raise CheckpointError(f'{path} has no weights as *.safetensors{there}; {CONTENT}')
    settings = path / PROCESSORS[0]
    return VlaFolder(
        path, read_json(path / CONFIG), read_json(settings) if settings.is_file() else {}
    )
