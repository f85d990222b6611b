# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""From the model's output range to actions in their units, by the statistics of its data set."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from frame_ros.core.errors import CheckpointError
from frame_ros.policies.checkpoint import read_json
from frame_ros.policies.fingerprint import text_digest
from frame_ros.policies.token_vla.folder import VlaFolder

# Mode -> its two statistics. Quantiles and bounds are mapped to -1 and 1.
MODES = {'quantiles': ('q01', 'q99'), 'bounds': ('min', 'max'), 'mean_std': ('mean', 'std')}
NONE = 'none'
FILES = ('dataset_statistics.json', 'norm_stats.json')


@dataclass(frozen=True)
class Normalisation:
    """action = value * scale + offset. scale, offset: (D,)."""

    scale: NDArray[np.float64]
    offset: NDArray[np.float64]

    def actions(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """(..., D) -> (..., D)."""
        return values * self.scale + self.offset

    @property
    def digest(self) -> str:
        """SHA-256 of scale and offset."""
        return text_digest(json.dumps([self.scale.tolist(), self.offset.tolist()]))


def identity(dimensions: int) -> Normalisation:
    """Actions are what the model gives."""
    return Normalisation(np.ones(dimensions), np.zeros(dimensions))


def find_statistics(
    folder: VlaFolder, path: str | Path | None = None
) -> tuple[dict[str, Any], str]:
    """Data set -> its statistics, and where they are from.

    Looked for in `path`; otherwise in FILES, config.json (`norm_stats`), and processor_config.json
    (`statistics`). FILES come first: fine-tuning writes them, and leaves in config.json what the
    base model was trained on.

    Raises:
        CheckpointError: there are none.
    """
    if path is not None:
        return read_json(Path(path).expanduser()), str(path)
    places: dict[str, Any] = {
        name: read_json(folder.path / name) for name in FILES if (folder.path / name).is_file()
    }
    places['config.json'] = folder.config.get('norm_stats')
    places['processor_config.json'] = folder.settings.get('statistics')
    for name, found in places.items():
        if isinstance(found, dict) and found:
            return found, str(folder.path / name)
    raise CheckpointError(
        f'{folder.path} has no statistics of its data set to un-normalise actions by '
        f'({", ".join(FILES)}, norm_stats in config.json, statistics in processor_config.json); '
        "give statistics, the path of such a file, or normalisation 'none'"
    )


def normalisation(
    statistics: Mapping[str, Any],
    source: str,
    key: str | None,
    dimensions: int,
    mode: str,
    raw: Sequence[int] = (),
    uses_mask: bool = True,
) -> Normalisation:
    """The map of one data set.

    Args:
        statistics: data set -> {'action': {'q01': (D,), ..., 'mask': (D,)}}.
        source: where they are from, for errors.
        key: which data set; None: the only one.
        mode: one of MODES.
        raw: dimensions that are not normalised, whatever the mask says.
        uses_mask: dimensions that are false in the mask are not normalised.

    Raises:
        CheckpointError: the key is unknown, or the statistics are not those of D dimensions.
    """
    entry = _data_set(statistics, source, key)
    if mode not in MODES:
        raise CheckpointError(f'normalisation is {mode!r}; one of {", ".join((*MODES, NONE))}')
    first, second = (_vector(entry, name, dimensions, source) for name in MODES[mode])
    if mode == 'mean_std':
        scale, offset = second, first
    else:
        scale, offset = (second - first) / 2.0, (second + first) / 2.0
    is_raw = np.zeros(dimensions, bool)
    if uses_mask and entry.get('mask') is not None:
        is_raw |= _vector(entry, 'mask', dimensions, source) == 0.0
    if any(not -dimensions <= each < dimensions for each in raw):
        raise CheckpointError(f'raw_dimensions are {list(raw)}; there are {dimensions} dimensions')
    is_raw[list(raw)] = True
    return Normalisation(np.where(is_raw, 1.0, scale), np.where(is_raw, 0.0, offset))


def _data_set(statistics: Mapping[str, Any], source: str, key: str | None) -> Mapping[str, Any]:
    known = sorted(statistics)
    if key is None and len(known) == 1:
        key = known[0]
    if key is None:
        raise CheckpointError(
            f'{source} has statistics of {len(known)} data sets; give unnorm_key, one of '
            f'{", ".join(known)}'
        )
    if key not in statistics:
        raise CheckpointError(
            f'unnorm_key is {key!r}; {source} has statistics of {", ".join(known)}'
        )
    found = statistics[key]
    action = found.get('action') if isinstance(found, Mapping) else None
    if not isinstance(action, Mapping):
        raise CheckpointError(f'{source} has no statistics `action` of {key!r}')
    return action


def _vector(
    entry: Mapping[str, Any], name: str, dimensions: int, source: str
) -> NDArray[np.float64]:
    try:
        values = np.asarray(entry[name], dtype=np.float64)
    except (KeyError, TypeError, ValueError) as error:
        raise CheckpointError(f'{source} has no numbers {name!r} of the actions') from error
    if values.shape != (dimensions,) or not np.isfinite(values).all():
        raise CheckpointError(
            f'{source} has {name!r} of shape {values.shape}; the token map has {dimensions} '
            'dimensions, and all must be finite: is the checkpoint for another robot?'
        )
    return values
