# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The identity of what acts: weights, normaliser, control rate, cameras and their sizes.

A calibration holds for one of them; another policy's scores mean something else.
"""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Iterable, Mapping
from pathlib import Path

from frame_ros.core.errors import CheckpointError, PolicyError
from frame_ros.policies.base import Policy
from frame_ros.policies.protocol import Observation

PARTS = ('weights', 'normaliser')
BLOCK = 1 << 20  # bytes


class FilesDigest:
    """The SHA-256 of files, computed in a thread of its own while a network is loaded.

    Of one file it is that of `sha256sum FILE`; of several, that of what `sha256sum` prints for
    them in the order of their names.
    """

    def __init__(self, paths: Iterable[Path]) -> None:
        self._paths = sorted(paths, key=lambda path: path.name)
        self._lines: list[str] = []
        self._error: OSError | None = None
        self._thread = threading.Thread(target=self._run, name='digest', daemon=True)
        self._thread.start()

    def value(self) -> str:
        """Returns the digest in hexadecimal digits, once it is there.

        Raises:
            CheckpointError: a file cannot be read.
        """
        self._thread.join()
        if self._error is not None:
            raise CheckpointError(f'a file of the checkpoint cannot be read: {self._error}')
        if len(self._lines) == 1:
            return self._lines[0].split()[0]
        return text_digest(''.join(self._lines))

    def _run(self) -> None:
        try:
            self._lines = [f'{_digest(path)}  {path.name}\n' for path in self._paths]
        except OSError as error:
            self._error = error


def _digest(path: Path) -> str:
    found = hashlib.sha256()
    with path.open('rb', buffering=0) as file:
        while block := file.read(BLOCK):
            found.update(block)
    return found.hexdigest()


def fingerprint_of(weights: str, normaliser: str) -> dict[str, str]:
    """Returns `Policy.fingerprint` for the digests of weights and normaliser."""
    return dict(zip(PARTS, (weights, normaliser), strict=True))


def text_digest(text: str) -> str:
    """Returns the SHA-256 of a text, in hexadecimal digits."""
    return hashlib.sha256(text.encode()).hexdigest()


class FingerprintText:
    """The fingerprint that a policy's inferences carry, as JSON.

    Its keys, of which those that are unknown are missing: `weights` and `normaliser` (SHA-256),
    `control_rate` (Hz), `cameras` (name -> [width, height], of the images that the policy saw).
    """

    def __init__(self, policy: Policy, control_rate: float) -> None:
        """Raises PolicyError: the policy's own part is something else than texts of PARTS."""
        own = policy.fingerprint
        is_right = isinstance(own, Mapping) and set(own) <= set(PARTS)
        if not is_right or not all(isinstance(text, str) for text in own.values()):
            raise PolicyError(
                f'fingerprint of the policy {policy.name} is {own!r}; it must map '
                f'{" and ".join(map(repr, PARTS))} to texts'
            )
        self._policy = policy
        self._known = {**own, 'control_rate': float(control_rate)}
        self._sizes: dict[str, list[int]] | None = None
        self._text = ''

    def of(self, observation: Observation) -> str:
        """Returns that of an inference on this observation."""
        sizes = {
            name: [int(image.shape[1]), int(image.shape[0])]
            for name, image in observation.images.items()
            if name in self._policy.cameras
        }
        if sizes != self._sizes:
            self._sizes = sizes
            self._text = json.dumps({**self._known, 'cameras': sizes}, sort_keys=True)
        return self._text
