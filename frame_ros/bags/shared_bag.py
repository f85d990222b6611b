# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The bag that was opened last, for whoever reads of it next: opening unpacks all of it.

Only one is kept, in each thread, so that memory and open files stay bounded. Whoever changes its
attributes opens a `Bag` of their own.
"""

from __future__ import annotations

import os
import threading
from pathlib import Path

from frame_ros.bags.find_bags import files_of_bag
from frame_ros.bags.reader import Bag

_kept = threading.local()
_State = tuple[tuple[str, int, int, int], ...]


def shared_bag(path: Path, is_by_receipt: bool = False) -> Bag:
    """Returns the bag at a path; the one that was opened last, if its files are as they were.
    is_by_receipt: as of `Bag`.

    Raises:
        BagError: the path is not a bag.
    """
    if getattr(_kept, 'key', None) != (path, is_by_receipt, _state_of(path)):
        return newly_opened(path, is_by_receipt)
    bag: Bag = _kept.bag
    return bag


def newly_opened(path: Path, is_by_receipt: bool = False) -> Bag:
    """Opens a bag, which `shared_bag` then returns. Raises BagError: the path is not a bag."""
    state = _state_of(path)
    _kept.key = _kept.bag = None  # not two at once
    _kept.bag = Bag(path, is_by_receipt=is_by_receipt)
    _kept.key = (path, is_by_receipt, state)
    bag: Bag = _kept.bag
    return bag


def _state_of(path: Path) -> _State:
    """Returns name, size (bytes), time of change (ns) and number of each of a bag's files."""
    found = []
    for file in files_of_bag(path):
        try:
            state = os.stat(file)
        except OSError:
            continue
        found.append((str(file), state.st_size, state.st_mtime_ns, state.st_ino))
    return tuple(found)
