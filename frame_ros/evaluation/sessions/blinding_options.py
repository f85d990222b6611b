# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Options of the blinding of policies."""

from __future__ import annotations

from frame_ros.core.options import option, options
from frame_ros.evaluation.sessions.journal import INVALID

LOOK = 'look'


@options
class BlindingOptions:
    """Blinding of the policies."""

    latency: float = option(
        0.0,
        'every inference takes at least so long; 0: as long as it takes, which can betray a policy',
        unit='s',
        at_least=0.0,
        at_most=60.0,
    )
    reconnected: str = option(
        LOOK,
        "what becomes of a trial in which the connection to its policy's server was lost and made "
        'again, as when that was started again: look notes it for whoever marks the trial and '
        'reads the outcomes, invalid ends the trial',
        choices=(LOOK, INVALID),
    )
    action_steps: int = option(
        0,
        'steps of a chunk to execute; 0: what the policies say, if they agree',
        at_least=0,
    )
