# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The recording of a motion for `frame-ros identify`, which stays where no file came of it."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from pathlib import Path

from frame_ros.bags.motion_bag import MotionBag
from frame_ros.bags.writer import PARTIAL_SUFFIX
from frame_ros.core.errors import BagError, SetupError


class KeptRecording:
    """bag: what is recorded into. is_used: a file was made of it, so that it need not stay."""

    def __init__(self, bag: MotionBag) -> None:
        self.bag, self.is_used = bag, False


@contextlib.contextmanager
def kept_recording(what: str, robot: str, output: Path) -> Iterator[KeptRecording]:
    """The recording of a `with` block, next to the file that it is for. At its end, however it
    comes, what was recorded is kept and named, unless it was used.

    Raises:
        SetupError: it cannot be made.
    """
    folder = output.parent if output.is_file() or not output.exists() else Path()
    try:
        bag = MotionBag(folder / f'{output.stem}-recording', {'robot': robot, 'identify': what})
    except BagError as error:
        raise SetupError(f'what is recorded would have no place: {error}') from error
    kept = KeptRecording(bag)
    try:
        yield kept
    finally:
        if kept.is_used or not bag.counts.get('/joint_states'):
            bag.discard()
        else:
            _keep(bag, what, robot)


def _keep(bag: MotionBag, what: str, robot: str) -> None:
    place = bag.folder
    try:
        bag.finish()
    except BagError as error:
        place = bag.folder.with_name(bag.folder.name + PARTIAL_SUFFIX)
        print(error, file=sys.stderr)
    print(
        f'what was recorded, {bag.duration:.0f} s, is kept: {place}\n'
        f'`frame-ros identify {what} --robot {robot} --bag {place}` takes what it shows; with '
        '--bag once more, another recording as well',
        file=sys.stderr,
    )
    if bag.problem:
        print(f'it is not whole: {bag.problem}', file=sys.stderr)
