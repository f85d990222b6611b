# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""FAST tokens: the discrete cosine transform of a chunk in a byte-pair encoding.

Decoded from the tokenizer's own files: no code of a checkpoint runs. Source: Pertsch et al., FAST:
Efficient Action Tokenization for Vision-Language-Action Models (2025), section V; the file format
is that of its published tokenizer.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.fft import idct

from frame_ros.core.errors import CheckpointError, MissingExtraError, PolicyError, install_hint
from frame_ros.core.plain_text import counted
from frame_ros.policies.checkpoint import read_json
from frame_ros.policies.token_vla.codec import ActionTokens, no_places
from frame_ros.policies.token_vla.token_map import FastTokens

TOKENIZER, SETTINGS = 'tokenizer.json', 'processor_config.json'
# Written for bytes that are not UTF-8.
_BROKEN = '\ufffd'


class FastTokenizer:
    """FAST's own vocabulary -> coefficients -> actions.

    Attributes:
        scale: coefficients are rounded after being multiplied by it.
        least: the coefficient of character 0.
        horizon, dimensions: H, D, None where the files do not say.
    """

    def __init__(self, folder: Path) -> None:
        """Raises CheckpointError: its files are missing or are not those of a FAST tokenizer."""
        try:
            from tokenizers import Tokenizer
        except ImportError as error:
            raise MissingExtraError(
                f'FAST tokens need tokenizers: {install_hint("vla")}'
            ) from error
        for name in (TOKENIZER, SETTINGS):
            if not (folder / name).is_file():
                raise CheckpointError(
                    f'{folder} lacks {name}; a FAST tokenizer has {TOKENIZER} and {SETTINGS}'
                )
        settings = read_json(folder / SETTINGS)
        try:
            self.scale, self.least = float(settings['scale']), int(settings['min_token'])
        except (KeyError, TypeError, ValueError) as error:
            raise CheckpointError(
                f'{folder / SETTINGS} has no numbers `scale` and `min_token`: {error}'
            ) from error
        self.horizon = _whole(settings.get('time_horizon'))
        self.dimensions = _whole(settings.get('action_dim'))
        try:
            self._bpe = Tokenizer.from_file(str(folder / TOKENIZER))
        except Exception as error:  # tokenizers raises plain Exception
            raise CheckpointError(f'{folder / TOKENIZER} is not a tokenizer: {error}') from error
        self.size = int(self._bpe.get_vocab_size())

    def coefficients(self, ids: NDArray[np.int64]) -> NDArray[np.float64]:
        """The rounded coefficients that tokens (TN,) of FAST's vocabulary stand for, (n,).

        Raises:
            PolicyError: together they are no text.
        """
        text = self._bpe.decode(ids.tolist(), skip_special_tokens=False)
        if _BROKEN in text:
            raise PolicyError(
                f'the {len(ids)} FAST tokens {ids.tolist()} are no text together; they cannot be '
                'decoded'
            )
        return np.array([ord(character) for character in text], np.float64) + self.least

    def actions(self, coefficients: NDArray[np.float64], dimensions: int) -> NDArray[np.float64]:
        """Coefficients (H * D,), frequency by frequency -> actions (H, D)."""
        spectrum = coefficients.reshape(-1, dimensions) / self.scale
        actions: NDArray[np.float64] = idct(spectrum, axis=0, norm='ortho')
        return actions


class FastCodec:
    """FAST tokens in a range of the model's vocabulary, up to its end of text."""

    is_open = True

    def __init__(self, declared: FastTokens, checkpoint: Path) -> None:
        folder = Path(declared.folder).expanduser() if declared.folder else checkpoint / 'fast'
        self._map, self.tokenizer = declared, FastTokenizer(folder)
        horizon = declared.horizon or self.tokenizer.horizon
        dimensions = declared.dimensions or self.tokenizer.dimensions
        if not horizon or not dimensions:
            raise CheckpointError(
                f'neither the token map nor {folder / SETTINGS} says the horizon and the number of '
                f'dimensions of the chunk (horizon {horizon}, dimensions {dimensions})'
            )
        if self.tokenizer.size > declared.last_token - declared.first_token + 1:
            raise CheckpointError(
                f'the FAST tokenizer in {folder} has {self.tokenizer.size} tokens; the token map '
                f'has {declared.first_token} to {declared.last_token} for them'
            )
        self._shape = (horizon, dimensions)
        self.action_shape: tuple[int, int] | None = self._shape
        self.most_tokens = declared.most_tokens
        self.vocabulary: NDArray[np.int64] | None = np.arange(
            declared.first_token, declared.last_token + 1
        )

    def locate(self, ids: NDArray[np.int64]) -> ActionTokens:
        """See `Codec`; other tokens may stand before and after, none between."""
        is_action = (ids >= self._map.first_token) & (ids <= self._map.last_token)
        indices = np.flatnonzero(is_action)
        if not len(indices):
            raise PolicyError(
                f'the model gave no action token in {len(ids)} tokens ({ids[:8].tolist()} ...); '
                f'action tokens are {self._map.first_token} to {self._map.last_token}'
            )
        between = np.setdiff1d(np.arange(indices[0], indices[-1]), indices)
        if len(between):
            raise PolicyError(
                f'the model gave token {int(ids[between[0]])} at place {between[0]}, between '
                f'action tokens; those are {self._map.first_token} to {self._map.last_token}'
            )
        places = no_places(len(indices))
        return ActionTokens(ids, indices, places, places)

    def actions(self, tokens: ActionTokens, hidden: NDArray[np.float32] | None) -> NDArray:
        """See `Codec`.

        Raises:
            PolicyError: the tokens make another number of coefficients than the chunk has.
        """
        upwards = self._map.direction > 0
        ids = tokens.ids - self._map.first_token if upwards else self._map.last_token - tokens.ids
        coefficients = self.tokenizer.coefficients(ids)
        wanted = self._shape[0] * self._shape[1]
        if len(coefficients) != wanted:
            if not self._map.is_relaxed:
                raise PolicyError(
                    f'the model gave {counted(len(ids), "FAST token")} with '
                    f'{counted(len(coefficients), "coefficient")}; '
                    f'{counted(self._shape[0], "step")} of '
                    f'{counted(self._shape[1], "dimension")} have {wanted} '
                    '(is_relaxed in the token map fills up with 0, or cuts)'
                )
            filled = np.zeros(wanted)
            filled[: len(coefficients)] = coefficients[:wanted]
            coefficients = filled
        return self.tokenizer.actions(coefficients, self._shape[1])


def _whole(value: Any) -> int | None:
    return int(value) if isinstance(value, int) and value > 0 else None
