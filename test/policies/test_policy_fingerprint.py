# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The fingerprint of a policy: weights, normaliser, rate and cameras."""

import json
import shutil
import subprocess

import numpy as np
import pytest

from frame_ros.core.errors import CheckpointError, PolicyError
from frame_ros.policies.fingerprint import FilesDigest, FingerprintText, fingerprint_of
from frame_ros.policies.hold import HoldPolicy
from frame_ros.policies.protocol import Observation


def seen(**sizes) -> Observation:
    images = {
        name: np.zeros((height, width, 3), np.uint8) for name, (width, height) in sizes.items()
    }
    return Observation(1, 1, (), np.zeros(0), images)


def policy_with(fingerprint, cameras=('front',)):
    policy = HoldPolicy()
    policy.fingerprint, policy.cameras = fingerprint, cameras
    return policy


def sha256sum(folder, *names: str) -> str:
    """The output of the program of that name."""
    return subprocess.run(
        ['sha256sum', *names], cwd=folder, capture_output=True, text=True, check=True
    ).stdout


@pytest.mark.skipif(shutil.which('sha256sum') is None, reason='no sha256sum')
def test_digests_are_those_of_sha256sum(tmp_path):
    random = np.random.default_rng(0)
    for name, size in (('b', 3_000_001), ('a', 0), ('c', 1 << 20)):
        (tmp_path / name).write_bytes(random.bytes(size))
    assert FilesDigest([tmp_path / 'b']).value() == sha256sum(tmp_path, 'b').split()[0]
    listed = sha256sum(tmp_path, 'a', 'b', 'c')
    (tmp_path / 'list').write_text(listed)
    expected = sha256sum(tmp_path, 'list').split()[0]
    assert FilesDigest(tmp_path / name for name in 'cab').value() == expected


def test_a_file_that_cannot_be_read_is_an_error(tmp_path):
    with pytest.raises(CheckpointError, match='cannot be read.*gone'):
        FilesDigest([tmp_path / 'gone']).value()


def test_the_text_holds_what_is_known_and_follows_the_cameras():
    text = FingerprintText(policy_with(fingerprint_of('aa', 'bb')), 30)
    first = text.of(seen(front=(64, 48), other=(10, 10)))
    assert json.loads(first) == {
        'weights': 'aa', 'normaliser': 'bb', 'control_rate': 30.0, 'cameras': {'front': [64, 48]},
    }  # fmt: skip
    assert text.of(seen(front=(64, 48))) is first
    assert json.loads(text.of(seen(front=(32, 24))))['cameras'] == {'front': [32, 24]}


def test_an_unknown_part_is_missing():
    text = FingerprintText(policy_with({}, cameras=()), 12.5).of(seen())
    assert json.loads(text) == {'control_rate': 12.5, 'cameras': {}}


@pytest.mark.parametrize('own', [None, 'abc', {'weights': 3}, {'robot': 'so101'}])
def test_another_fingerprint_of_an_own_policy_is_refused(own):
    with pytest.raises(PolicyError, match=r"it must map 'weights' and 'normaliser' to texts"):
        FingerprintText(policy_with(own), 30.0)
