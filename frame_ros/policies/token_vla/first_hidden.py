# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Encoding of images and instruction by a model, read when it writes its first token."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

FEATURE_SOURCE = "the language model's output at the first token"


class FirstHidden:
    """Reads what a model's output embedding gets, without keeping anything of other steps.

    features: (E,) of the first row of the batch at the first token, from which that token follows;
    None: nothing was read.
    """

    def __init__(self, model: Any) -> None:
        """model: of transformers."""
        self.features: NDArray[np.float64] | None = None
        self._is_reading = False
        head = model.get_output_embeddings() if hasattr(model, 'get_output_embeddings') else None
        if head is not None:
            head.register_forward_pre_hook(self._keep)

    @contextlib.contextmanager
    def reading(self) -> Iterator[None]:
        """Inside the `with` block the model writes."""
        self.features, self._is_reading = None, True
        try:
            yield
        finally:
            self._is_reading = False

    def _keep(self, head: Any, arguments: tuple[Any, ...]) -> None:
        if self._is_reading:
            self._is_reading = False
            self.features = arguments[0][0, -1].detach().float().cpu().double().numpy()
