# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Streams of one robot: the joints witness that images and wrenches should change."""

from dataclasses import replace

import numpy as np
import pytest

from frame_ros.core.time import SECOND
from frame_ros.evaluation.trials.campaign import Trial
from frame_ros.evaluation.trials.lying_streams import run
from frame_ros.sensing.stream_health.image_samples import image_sample
from frame_ros.sensing.stream_health.judged_stream import UNKNOWN_OFFSET
from frame_ros.sensing.stream_health.offset_fusion import DOUBLING, TimeOffset
from frame_ros.sensing.stream_health.options import StreamHealthOptions
from frame_ros.sensing.stream_health.streams import StreamHealth

NOTHING = np.zeros(0)


def watch(frozen_from, noise=0, seconds=10.0, moves=(3.0, 8.0)):
    """A camera at 30 Hz, joints at 100 Hz that move in between; returns s of the first alarm."""
    rng, health, image_at = np.random.default_rng(0), StreamHealth(), 0.0
    scene = rng.integers(500, 900, (64, 400), dtype=np.uint16)
    sent = None
    for i in range(int(100 * seconds)):
        t = i / 100
        angle = 0.3 * (min(max(t, moves[0]), moves[1]) - moves[0])
        stamp = SECOND + round(t * SECOND)
        health.on_joints(stamp, ('a',), np.array([angle]), NOTHING, NOTHING)
        if t < image_at:
            continue
        image_at += 1 / 30
        if sent is None or t < frozen_from:
            sent = scene[:, round(100 * angle) :][:, :64]
            sent = np.ascontiguousarray(
                sent + rng.integers(0, noise + 1, sent.shape, dtype=np.uint16)
            )
        sample = image_sample(sent.tobytes(), 64, 64, 128, '16UC1')
        if health.on_image('front', stamp, sample).unavailable.startswith('frozen'):
            return t
    return None


def test_a_frozen_image_is_found_by_its_noise_or_by_motion_and_one_at_rest_is_not():
    assert watch(frozen_from=99.0) is None
    assert watch(frozen_from=99.0, noise=5) is None
    moving = watch(frozen_from=6.0)
    assert moving is not None and moving - 6.0 < 1.0
    standing = watch(frozen_from=9.0, noise=5)
    assert standing is not None and standing - 9.0 < 1.0


def test_lying_streams_of_a_simulated_arm_are_found_and_healthy_ones_are_not():
    for fault in ('none', 'frozen efforts'):
        trial = Trial('streams', 'so101', 3, {'seconds': 10.0, 'fault': fault, 'begin': 8.0})
        result = run(trial)
        assert result['false'] == []
        assert (result['found'] is None) == (fault == 'none')
        assert fault == 'none' or result['found'] < 1.0


def test_the_error_of_stamps_grows_until_a_motion_shows_their_offset_as_well_again(monkeypatch):
    health, stamp = StreamHealth(), 0

    def goes_on(seconds):
        """The error after wrenches at 100 Hz for so long."""
        nonlocal stamp
        for _ in range(round(100 * seconds)):
            stamp += SECOND // 100
            health.on_wrench(stamp, [stamp * 1e-9] * 6)
        return health.stamp_error('wrench')

    assert goes_on(1.0) == pytest.approx(UNKNOWN_OFFSET, abs=1e-6)
    offset = health.streams['wrench'].offset
    offset.take(TimeOffset(0.002, 0.001, 1.0, stamp, ''))
    fresh = health.stamp_error('wrench')
    assert fresh == pytest.approx(0.002 + 2 * 0.001, abs=1e-6)
    # Less certain ones of the same motion: none takes its place until it is no more certain.
    less = TimeOffset(0.002, 0.0029, 1.0, stamp, '', span=100 * SECOND)
    monkeypatch.setattr(offset, 'estimate', lambda: replace(less, stamp=stamp))
    offset.add_reference(stamp, np.zeros(3))
    assert goes_on(0.5 * DOUBLING) == pytest.approx(0.002 + 1.5 * 2 * 0.001, abs=1e-4)
    assert offset.newest.deviation == 0.001
    assert goes_on(2.0 * DOUBLING) == pytest.approx(0.002 + 2 * 0.0029, abs=1e-4)
    monkeypatch.setattr(offset, 'estimate', TimeOffset)  # no motion any more
    assert goes_on(5.0 * DOUBLING) == pytest.approx(0.002 + UNKNOWN_OFFSET, abs=1e-6)


@pytest.mark.parametrize('is_corrected', [True, False])
def test_a_less_certain_estimate_takes_no_correction_away(is_corrected):
    health = StreamHealth(StreamHealthOptions(is_offset_corrected=is_corrected))
    health.on_wrench(SECOND, [1.0] * 6)
    offset = health.streams['wrench'].offset
    limit = health.settings.largest_offset
    late = health.settings.largest_offset + 0.01

    def found(seconds, deviation):
        """True if a wrench is taken at another stamp, or refused, after a new estimate."""
        offset.newest = TimeOffset(seconds, deviation, 1.0, SECOND, '')
        stamp = health.streams['wrench'].check.newest + SECOND // 100
        refused = health.on_wrench(stamp, [stamp * 1e-9] * 6).unavailable
        moved = stamp - health.corrected('wrench', stamp)
        assert bool(refused) == (not is_corrected and bool(health.streams['wrench'].excess))
        assert moved == (round(seconds * SECOND) if is_corrected and moved else 0)
        return bool(refused or moved)

    # Four of it are more than the offset is beyond the limit, two are not: enough to correct it.
    weak = 0.3 * (late - limit)
    assert found(late, weak) == is_corrected
    assert not found(0.5 * limit, 0.2 * limit)
    assert not found(late, 0.6 * (late - limit))
    assert found(late, 0.001)
    assert found(late, weak) == is_corrected  # as large, and less certain
    assert found(0.5 * limit, 0.3 * limit) == is_corrected  # it may be small, which is not shown
    assert not found(0.5 * limit, 0.2 * limit)
    assert found(late, weak) == is_corrected


@pytest.mark.parametrize(('encoding', 'kind'), [('16UC1', 'u2'), ('32FC1', 'f4')])
def test_the_order_of_the_bytes_changes_no_pixel(encoding, kind):
    depth = np.linspace(300, 900, 64 * 64).reshape(64, 64)
    found = []
    for order in '<>':
        sent = depth.astype(order + kind)
        found.append(
            image_sample(sent.tobytes(), 64, 64, 64 * sent.itemsize, encoding, order == '>')
        )
    np.testing.assert_array_equal(found[0].pixels, found[1].pixels)
    assert found[0].pixels[0] == 300
