# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The plan of a blinded session, which anybody may read, and its key, which nobody may yet."""

from __future__ import annotations

import hashlib
import hmac
import json
import secrets
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from random import SystemRandom
from typing import Any

from frame_ros.core.errors import SetupError
from frame_ros.core.options import option, options, rule
from frame_ros.core.plain_text import plain

PLAN_FORMAT, KEY_FORMAT = 'frame_ros blinded session 1', 'frame_ros session key 1'
# Letters and digits of trial ids: none that is taken for another.
LETTERS = '23456789ABCDEFGHJKMNPQRSTUVWXYZ'
ID_LENGTH = 7
# Attempts of a trial whose ids are checked to be different when the key is drawn.
CHECKED_ATTEMPTS = 20


@options
class SessionOptions:
    """A blinded session."""

    cells: tuple[str, ...] = option(
        (), 'names of what every policy is tried on: objects, conditions, scenes'
    )
    instructions: Mapping[str, str] = option(
        {}, 'instruction of a cell; an observation with another one is refused'
    )
    episodes: int = option(10, 'valid trials of each policy in each cell', at_least=1)

    @rule('cells', 'different names')
    def _has_different_cells(self) -> bool:
        return len(set(self.cells)) == len(self.cells)

    @rule('instructions', 'instructions of cells that there are')
    def _has_known_cells(self) -> bool:
        return set(self.instructions) <= set(self.cells)


@dataclass(frozen=True)
class Slot:
    """One trial that must be had: a policy in a cell, in a block."""

    block: int
    cell: str
    policy: str


@dataclass(frozen=True)
class SessionKey:
    """The order of the policies; it stays closed until the last outcome is known.

    Attributes:
        secret: 64 hexadecimal digits, from which trial ids and the places of repeats follow.
        policies: name -> options of its server.
        slots: in the order in which they are to be run.
    """

    secret: str
    policies: Mapping[str, Mapping[str, Any]]
    slots: tuple[Slot, ...]

    def trial_id(self, slot: int, attempt: int) -> str:
        """Returns the id of an attempt at a slot: without the secret it says nothing."""
        number, letters = self._number('trial', slot, attempt), []
        for _ in range(ID_LENGTH):
            number, place = divmod(number, len(LETTERS))
            letters.append(LETTERS[place])
        return ''.join(letters)

    def place(self, slot: int, attempt: int, places: int) -> int:
        """Returns one of so many places, for the repeat of a slot."""
        return self._number('place', slot, attempt) % places

    def _number(self, *parts: object) -> int:
        text = ' '.join(map(str, parts)).encode()
        return int.from_bytes(hmac.digest(bytes.fromhex(self.secret), text, 'sha256'), 'big')

    @property
    def commitment(self) -> str:
        """SHA-256 of the key's canonical JSON. The secret in it is random, so that nobody can find
        the order by trying all.
        """
        return hashlib.sha256(self._canonical().encode()).hexdigest()

    def to_text(self) -> str:
        """Returns the file of the key."""
        return self._canonical() + '\n'

    def _canonical(self) -> str:
        content = {'format': KEY_FORMAT, **asdict(self)}
        return json.dumps(content, sort_keys=True, separators=(',', ':'), ensure_ascii=True)

    @classmethod
    def from_content(cls, content: Any, place: str) -> SessionKey:
        """Returns the key of a file's JSON. Raises SetupError: it is of something else."""
        try:
            if content['format'] != KEY_FORMAT or len(bytes.fromhex(content['secret'])) != 32:
                raise ValueError
            slots = tuple(Slot(**each) for each in content['slots'])
            return cls(content['secret'], dict(content['policies']), slots)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise SetupError(f'{place} is not the key of a blinded session') from error


def is_trial_id(text: str) -> bool:
    """Returns whether it is an id as trials of any session have it."""
    return len(text) == ID_LENGTH and set(text) <= set(LETTERS)


@dataclass(frozen=True)
class SessionPlan:
    """The public part of a session.

    Attributes:
        cells, instructions, episodes: as of `SessionOptions`.
        policies: their number.
        commitment: of the key.
        created: ISO 8601, UTC.
        has_digests: every line of the journal has the digest of the one before; False in sessions
            of versions that wrote none.
    """

    cells: tuple[str, ...]
    episodes: int
    policies: int
    commitment: str
    created: str
    instructions: Mapping[str, str] = field(default_factory=dict)
    has_digests: bool = False

    @property
    def trials(self) -> int:
        """Number of valid trials that the session needs."""
        return self.episodes * self.policies * len(self.cells)

    def to_text(self) -> str:
        """Returns the file of the plan."""
        return json.dumps({'format': PLAN_FORMAT, **asdict(self)}, indent=2) + '\n'

    @classmethod
    def from_content(cls, content: Any, place: str) -> SessionPlan:
        """Returns the plan of a file's JSON. Raises SetupError: it is of something else."""
        try:
            known = dict(content)
            if known.pop('format') != PLAN_FORMAT:
                raise ValueError
            return cls(**{**known, 'cells': tuple(known['cells'])})
        except (KeyError, TypeError, ValueError) as error:
            raise SetupError(f'{place} is not the plan of a blinded session') from error


def draw_key(
    policies: Mapping[str, Mapping[str, Any]], cells: tuple[str, ...], episodes: int
) -> SessionKey:
    """Draws the order by the system's random numbers, in randomised complete blocks: each has every
    policy once in each cell, in an order of its own.

    Raises:
        SetupError: there are fewer than two policies, or no cell; or a name cannot be used.
    """
    if not cells:
        raise SetupError('cells is empty; name what every policy is tried on')
    if len(policies) < 2:
        raise SetupError(f'{len(policies)} policy is given; a blinded session compares two or more')
    if unusable := [name for name in policies if not name.strip() or name != plain(name.strip())]:
        raise SetupError(f'{unusable[0]!r} names no policy in a file of outcomes; choose another')
    slots: list[Slot] = []
    for block in range(1, episodes + 1):
        of_block = [Slot(block, cell, policy) for cell in cells for policy in policies]
        SystemRandom().shuffle(of_block)
        slots += of_block
    while True:
        key = SessionKey(secrets.token_hex(32), dict(policies), tuple(slots))
        attempts = range(CHECKED_ATTEMPTS)
        ids = [key.trial_id(slot, attempt) for slot in range(len(slots)) for attempt in attempts]
        if len(set(ids)) == len(ids):
            return key
