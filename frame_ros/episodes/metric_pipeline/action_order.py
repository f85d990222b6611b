# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The order of the joints of actions."""

from __future__ import annotations

from collections.abc import Sequence


class ActionOrder:
    """Puts actions, which name their joints, into one order of joints.

    Wanted are the configured joints, in their order, or all those of the first action if none are
    configured. Of the configured ones an episode may use a part (an arm without its gripper): those
    that its first action has, until one has twice as many and more: a gripper that is sent by
    itself may be first, and the arm is what counts. `begin` starts an episode, so what came before
    it does not decide.
    """

    def __init__(self, configured: tuple[str, ...]) -> None:
        self.configured = configured
        self.problem = ''
        self.begin()

    def begin(self) -> None:
        """The next action decides which joints are used."""
        self.names: tuple[str, ...] = ()
        self._places: dict[tuple[str, ...], list[int]] = {}

    def order(self, names: tuple[str, ...], positions: Sequence[float]) -> list[float] | None:
        """The wanted positions, in order; None if the action lacks one of them."""
        places = self._places.get(names)
        if places is None:
            places = self._learn(names)
        return list(map(positions.__getitem__, places)) if places else None

    def _learn(self, names: tuple[str, ...]) -> list[int]:
        wanted = self.names
        usable = tuple(n for n in self.configured if n in names) if self.configured else names
        if len(usable) >= 2 * len(wanted) and usable:
            wanted, self._places = usable, {}
        places: list[int] = []
        if wanted and all(name in names for name in wanted):
            self.names = wanted
            places = [names.index(name) for name in wanted]
        else:
            expected = wanted or self.configured
            self.problem = (
                f'an action of {", ".join(names)} is no step: the steps, and a_*, are of '
                f'{", ".join(expected)} alone'
            )
        self._places[names] = places
        return places
