# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Options of the blinding of policies."""

from __future__ import annotations

from frame_ros.core.options import option, options


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
    action_steps: int = option(
        0,
        'steps of a chunk to execute; 0: what the policies say, if they agree',
        at_least=0,
    )
