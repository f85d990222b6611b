# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Tries the user's own policy before a run starts.

It is imported and made in a process of its own, so that neither its libraries nor its errors affect
the process that starts the others.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, NoReturn

from frame_ros.core.errors import FrameRosError, PolicyError

LAST_LINES = 3  # of what a process that died wrote
LAST_WAIT = 5.0  # s for the threads that a policy has begun, when it was made and let go of


def try_own_policy(
    spec: str,
    options: Mapping[str, Any],
    offered: Mapping[str, Any] | None = None,
    required: Mapping[str, str] | None = None,
) -> None:
    """Checks that the class can be imported, has the protocol's methods, and takes the options.

    With `offered` also that it can be made. That process releases it, by its close() and its end,
    before the run makes it again.

    Args:
        spec: module:Class or file.py:Class.
        offered: as for `make_policy`; None: it is not made.
        options, required: as for `make_policy`.

    Raises:
        PolicyError: it cannot be used; the text is that of `make_policy`.
    """
    question = {
        'spec': spec,
        'options': dict(options),
        'offered': dict(offered) if offered is not None else None,
        'required': dict(required or {}),
    }
    done = subprocess.run(
        [sys.executable, '-m', __name__, json.dumps(question)],
        capture_output=True,
        text=True,
        errors='replace',
        check=False,
    )
    if done.returncode == 0:
        return
    if done.returncode == PROBLEM:
        raise PolicyError(done.stdout.rstrip('\n'))
    end = '\n    '.join(done.stderr.splitlines()[-LAST_LINES:])
    doing = 'importing' if offered is None else 'making the policy'
    raise PolicyError(f'{doing} {spec} ended with exit code {done.returncode}:\n    {end}')


PROBLEM = 3


def main(question: str) -> int:
    """Prints any problem; output of the user's code goes to standard error."""
    from frame_ros.policies.own_policy import load_own_policy
    from frame_ros.policies.source import source_of

    asked = json.loads(question)
    spec, options, required = asked['spec'], asked['options'], asked['required']
    answer, sys.stdout = sys.stdout, sys.stderr
    try:
        source = source_of(spec, load_own_policy(spec))
        values = source.arguments(_tuples(asked['offered'] or {}), required, options)
        if asked['offered'] is not None:
            policy = source.make(values)
            with suppress(Exception):  # the run itself reports it
                policy.close()
    except FrameRosError as error:
        print(error, file=answer, flush=True)
        return PROBLEM
    return 0


def _tuples(offered: dict[str, Any]) -> dict[str, Any]:
    """Returns offered arguments as the node offers them: JSON has lists only."""
    found: dict[str, Any] = {
        key: tuple(v) if isinstance(v, list) else v for key, v in offered.items()
    }
    for name in ('joint_limits', 'gripper_limits'):
        if name in found:
            found[name] = {joint: tuple(pair) for joint, pair in found[name].items()}
    return found


def end(code: int) -> NoReturn:
    """Ends the process, even if a thread of the user's code does not."""
    late = threading.Timer(LAST_WAIT, os._exit, [code])
    late.daemon = True
    late.start()
    sys.exit(code)


if __name__ == '__main__':
    end(main(*sys.argv[1:]))
