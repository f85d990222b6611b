# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""A tool that is taken for heavier than it is, or of the wrong sign, by how the readings turn with
gravity.
"""

from __future__ import annotations

from math import exp, sqrt

import numpy as np
from numpy.typing import NDArray

from frame_ros.core.time import SECOND
from frame_ros.sensing.contact.wrench.block import WrenchBlock
from frame_ros.sensing.contact.wrench.options import WrenchOptions
from frame_ros.sensing.contact.wrench.tool_model import Tool, length

Array = NDArray[np.float64]
MEMORY = 10.0  # s, time constant of the means
LASTED, TURNED = 5.0, 0.35  # s and rad over which the hand must have turned
SPREAD = 0.01  # of gravity's direction: variance, 0.1 rad
INDEPENDENT = 0.5  # s between blocks whose errors are not alike
SURE = 5.0  # deviations of a pull that is not 0
OVER = 0.5  # share of what was found below which it is found no more
REVERSED = 1.5  # times the tool's weight, beyond which no mass explains it


class UpwardPull:
    """Finds a pull against gravity that turns with the hand, whether it is felt or not.

    What is left of the readings without tool and offset is p = W d + c, with gravity's direction d
    in the sensor's axes and a c that turns with the hand. A mass that is 0.1 kg too large leaves
    W = -1 N, one of the wrong sign twice the tool's weight. W is a regression over the newest
    seconds. Of a weight, W above 0, `HungWeight` takes care.

    Attributes:
        pull: N, above 0; 0: none was found.
    """

    def __init__(self, settings: WrenchOptions, tool: Tool) -> None:
        """tool: as it is taken to be."""
        self._gravity = max(length(np.array(tool.gravity)), 1e-12)
        self._least = settings.hung_payload * self._gravity
        self._weight = tool.mass * self._gravity
        self.pull = self._hung = 0.0
        self.reset()

    def reset(self) -> None:
        """The offset, or what the tool carries, may be another one now; what was found stays."""
        self._lasted = self._count = 0.0
        self._sums: Array = np.zeros(8)  # pull, down, their product, the pull's square
        self._first: Array | None = None
        self._turned = 0.0

    @property
    def warning(self) -> str:
        """Says what the pull may be; '' if there is none."""
        if not self.pull:
            return ''
        if self._weight and self.pull > REVERSED * self._weight:
            return (
                f'the readings turn with gravity the wrong way round, by {self.pull:.1f} N, where '
                f'the tool weighs {self._weight:.1f} N: wrench.is_force_on_tool is not as the '
                'sensor gives it, or its axes are others'
            )
        grams = 1e3 * self.pull / self._gravity
        return (
            f'the hand seems {grams:.0f} g lighter, as it turns, than its '
            'tool: the mass of the tool is too large (identify it again), the sensor is turned in '
            'its mount, or something pulls the hand up, as a cable from above does'
        )

    def update(self, block: WrenchBlock, hung: float) -> None:
        """Takes a block. hung: kg on the hand that were taken off, in which nothing is held."""
        if not self._least or block.is_holding or hung != self._hung:
            self._hung = hung
            self.reset()
            return
        time = (block.end - block.start) / SECOND
        down = np.add.reduce(block.down, axis=0) / len(block.down)
        force = block.mean[:3]
        if self._first is None:
            self._first = down
        self._turned = max(self._turned, length(down - self._first))
        self._lasted += time
        kept = exp(-time / MEMORY)
        self._count = kept * self._count + 1.0
        self._sums *= kept
        self._sums[:3] += force
        self._sums[3:6] += down
        self._sums[6] += float(force @ down)
        self._sums[7] += float(force @ force)
        if self._lasted >= LASTED and self._turned >= TURNED:
            self._judge(time)

    def _judge(self, time: float) -> None:
        means = self._sums / self._count
        force, down = means[:3], means[3:6]
        spread = 1.0 - float(down @ down)
        if spread < SPREAD:
            return
        common = float(means[6]) - float(force @ down)
        weight = common / spread
        left = max(float(means[7]) - float(force @ force) - weight * common, 0.0)
        count = self._count * min(time / INDEPENDENT, 1.0)
        deviation = sqrt(left / (max(count, 1.0) * spread))
        if -weight > max(self._least, SURE * deviation):
            self.pull = -weight
        elif -weight < OVER * self.pull:
            self.pull = 0.0
