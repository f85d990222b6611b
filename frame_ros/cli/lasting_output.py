# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Standard output and error of a command whose reader may go away, as `frame-ros compare | head`
does, or whose disk may be full, without an end of the command: its files are written all the same.
"""

from __future__ import annotations

import contextlib
import io
import os
import sys
from collections.abc import Callable, Iterator
from typing import Any, TextIO


class _LastingFile(io.FileIO):
    """An open file that may become impossible to write: what is written after that is lost.

    on_problem: called with the error, unless its reader has gone, which is no problem.
    """

    def __init__(self, handle: int, on_problem: Callable[[OSError], object]) -> None:
        super().__init__(handle, 'w', closefd=False)
        self._on_problem = on_problem

    def write(self, data: Any, /) -> int:
        """Writes as FileIO does."""
        try:
            return super().write(data) or 0
        except OSError as error:
            if not isinstance(error, BrokenPipeError):
                self._on_problem(error)
            # Other writers of the same file, such as processes of the command, must not fail.
            null = os.open(os.devnull, os.O_WRONLY)
            os.dup2(null, self.fileno(), inheritable=True)
            os.close(null)
            return len(data)


@contextlib.contextmanager
def lasting_output() -> Iterator[list[OSError]]:
    """Replaces the process's own standard output and error for the length of a `with` block; yields
    the errors for which, by its end, something of them was lost.
    """
    before, problems = (sys.stdout, sys.stderr), list[OSError]()
    sys.stdout = _lasting(sys.stdout, sys.__stdout__, problems.append)
    sys.stderr = _lasting(sys.stderr, sys.__stderr__, problems.append)
    try:
        yield problems
    finally:
        for stream in (sys.stdout, sys.stderr):
            if stream is not None:  # it was closed by who started the command
                stream.flush()
        sys.stdout, sys.stderr = before


def _lasting(stream: Any, own: TextIO | None, on_problem: Callable[[OSError], object]) -> Any:
    if not isinstance(stream, io.TextIOWrapper):
        return stream
    stream.reconfigure(errors='backslashreplace')  # file names are any bytes
    if stream is not own:
        return stream  # of a test
    stream.flush()
    return io.TextIOWrapper(
        io.BufferedWriter(_LastingFile(stream.fileno(), on_problem)),
        encoding=stream.encoding,
        errors=stream.errors,
        line_buffering=stream.line_buffering,
        write_through=stream.write_through,
    )
