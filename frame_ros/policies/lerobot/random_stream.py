# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Random numbers of torch that nobody else draws from."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import numpy as np


class RandomStream:
    """A generator on a torch device, seeded alone. `generator` goes where an argument takes one;
    inside `installed()` it stands in for torch's own for code that takes none. Seeded with s, it
    gives what torch gives after torch.manual_seed(s).
    """

    def __init__(self, device: Any) -> None:
        """device: a torch.device. The seed is the operating system's until `seed` is called."""
        import torch

        self._device = device
        self.generator = torch.Generator(device=device)
        self.generator.seed()

    def seed(self, seed: int) -> None:
        """Starts again at `seed`."""
        self.generator.manual_seed(seed)

    def normal(self, *shape: int, dtype: Any = None) -> Any:
        """A tensor of standard normal numbers."""
        import torch

        return torch.randn(*shape, generator=self.generator, device=self._device, dtype=dtype)

    @contextlib.contextmanager
    def installed(self) -> Iterator[None]:
        """Inside the `with` block torch draws from this stream; then its own goes on as before."""
        own = _default_generator(self._device)
        saved = own.get_state()
        own.set_state(self.generator.get_state())
        try:
            yield
        finally:
            self.generator.set_state(own.get_state())
            own.set_state(saved)


def seed_apart(seed: int) -> int:
    """Another seed, always the same for one `seed`, for numbers independent of its own."""
    words = np.random.SeedSequence(seed, spawn_key=(1,)).generate_state(2, np.uint32)
    return int(words[0]) << 31 | int(words[1]) >> 1


def _default_generator(device: Any) -> Any:
    import torch

    if device.type != 'cuda':
        return torch.default_generator
    index = torch.cuda.current_device() if device.index is None else device.index
    return torch.cuda.default_generators[index]
