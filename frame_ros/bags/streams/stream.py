# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Samples of one topic as arrays."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray


@dataclass
class Stream:
    """Samples of one topic: T stamps, T receive times, and one array per value name."""

    topic: str
    message_type: str
    stamps: NDArray[np.int64]  # (T,) int64, header stamps in ns, in recorded order
    received: NDArray[np.int64]  # (T,) int64, the recorder's receive time in ns
    values: dict[str, NDArray]  # name -> (T, ...) array
    frame_id: str = ''  # the frame of the first message; '' if none, or not requested

    def select(self, is_chosen: NDArray[np.bool_] | NDArray[np.intp]) -> Stream:
        """Returns the samples that are chosen: (T,) booleans, or their places."""
        return replace(
            self,
            stamps=self.stamps[is_chosen],
            received=self.received[is_chosen],
            values={name: column[is_chosen] for name, column in self.values.items()},
        )

    def __len__(self) -> int:
        return len(self.stamps)
