# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Barnard's sequential test of two proportions, ended at a planned maximum of pairs.

Barnard (1946), Sequential tests in industrial statistics, Supplement to the Journal of the Royal
Statistical Society 8, 1-26: Wald's probability ratio test of the signs of the discordant pairs. The
bound for a claim is found for the planned maximum; that for no difference is Wald's.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from frame_ros.evaluation.sequential.operating_characteristics import (
    BETTER,
    CONTINUE,
    NO_DIFFERENCE,
    WORSE,
    Table,
)

# Of the discordant pairs, if the first policy is better: 0.60 against 0.75, independent.
WIN_SHARE = 2 / 3
MISSED = 0.1


def barnard_table(most: int, is_two_sided: bool, log_penalty: float) -> Table:
    """Returns the decisions; one-sided: only better can be claimed.

    log_penalty: log of the probability ratio that is needed for a claim.
    """
    m, w = np.ogrid[: most + 1, : most + 1]
    losses = m - w
    up, down = np.log(2 * WIN_SHARE), np.log(2 * (1 - WIN_SHARE))
    better, worse = w * up + losses * down, losses * up + w * down
    none = np.log(MISSED)
    is_hopeless = (better <= none) & ((worse <= none) | (not is_two_sided))
    codes = np.where(is_hopeless, NO_DIFFERENCE, CONTINUE)
    codes = np.where((worse >= log_penalty) & is_two_sided, WORSE, codes)
    codes = np.where(better >= log_penalty, BETTER, codes).astype(np.int8)
    last: NDArray[np.int8] = np.where(codes == CONTINUE, np.int8(NO_DIFFERENCE), codes)
    return [*(codes[: n + 1, : n + 1] for n in range(most)), last]
