# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""A look at the user's own policy before a run starts: it is imported in a process of its own, so
that neither its libraries nor its mistakes come into the process that starts the others.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterable

from frame_ros.errors import FrameRosError, PolicyError

LAST_LINES = 3  # of what a process that died wrote


def try_own_policy(spec: str, options: Iterable[str], has_folder: bool = False) -> None:
    """Checks that the class can be imported, has the protocol's methods, and takes the options.

    It is not made: a policy may hold a device that the run itself needs.

    spec: module:Class or file.py:Class. options: their names. has_folder: a checkpoint is
    given, and must be taken.

    Raises:
        PolicyError: it cannot be used; the text is that of `make_policy`.
    """
    done = subprocess.run(
        [sys.executable, '-m', __name__, spec, json.dumps([*options]), str(int(has_folder))],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode == 0:
        return
    if done.returncode == PROBLEM:
        raise PolicyError(done.stdout.rstrip('\n'))
    end = '\n    '.join(done.stderr.splitlines()[-LAST_LINES:])
    raise PolicyError(f'importing {spec} ended with exit code {done.returncode}:\n    {end}')


PROBLEM = 3


def main(spec: str, names: str, has_folder: str) -> int:
    """Prints what is wrong, if anything; what the user's code prints goes to standard error."""
    from frame_ros.policies.own_policy import load_own_policy
    from frame_ros.policies.registry import check_options

    answer, sys.stdout = sys.stdout, sys.stderr
    try:
        required = {'folder': 'a checkpoint'} if int(has_folder) else {}
        check_options(spec, load_own_policy(spec), required, json.loads(names))
    except FrameRosError as error:
        print(error, file=answer)
        return PROBLEM
    return 0


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]))
