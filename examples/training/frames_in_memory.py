# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""A LeRobotDataset without images held in memory, whole batches at a time.

LeRobotDataset reads a chunk of actions row by row, some milliseconds an item, which is more than a
small policy computes on it. Items here are equal to its items.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from lerobot.datasets.lerobot_dataset import LeRobotDataset


class FramesInMemory(torch.utils.data.Dataset):
    """Indexed by a list of frames; gives the batch that LeRobotDataset's items collate to.

    dataset: without images, with `delta_timestamps` of the action, as `make_dataset` makes it.
    """

    def __init__(self, dataset: LeRobotDataset) -> None:
        rows = dataset.hf_dataset.with_format('numpy')[:]
        self._columns = {
            name: torch.from_numpy(np.stack(values))
            for name, values in rows.items()
            if name.startswith('observation.')
        }
        self._actions = torch.from_numpy(np.stack(rows['action']))
        episodes = np.asarray(rows['episode_index'])
        first = np.searchsorted(episodes, episodes, 'left')
        last = np.searchsorted(episodes, episodes, 'right') - 1
        at = np.arange(len(episodes))[:, None] + np.array(dataset.delta_indices['action'])
        self._is_pad = torch.from_numpy((at < first[:, None]) | (at > last[:, None]))
        self._at = torch.from_numpy(np.clip(at, first[:, None], last[:, None]))

    def __len__(self) -> int:
        return len(self._actions)

    def __getitem__(self, frames: Sequence[int]) -> dict[str, Any]:
        batch = {name: column[frames] for name, column in self._columns.items()}
        batch['action'] = self._actions[self._at[frames]]
        batch['action_is_pad'] = self._is_pad[frames]
        return batch


def make_loader(dataset: LeRobotDataset, batch_size: int) -> torch.utils.data.DataLoader:
    """Shuffled batches: from memory, or from disk if there are images."""
    if dataset.meta.camera_keys:
        return torch.utils.data.DataLoader(
            dataset, batch_size=batch_size, shuffle=True, drop_last=len(dataset) > batch_size
        )
    frames = FramesInMemory(dataset)
    sampler = torch.utils.data.BatchSampler(
        torch.utils.data.RandomSampler(frames), batch_size, drop_last=len(frames) > batch_size
    )
    return torch.utils.data.DataLoader(frames, sampler=sampler, batch_size=None)
