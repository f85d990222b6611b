# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The low-pass: against scipy, its response, its lag, and the streaming forms against the batch."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from metric_strategies import paths, quaternions, stamps
from scipy.signal import lfilter
from scipy.spatial.transform import Rotation

from frame_ros.core.errors import ShapeError, ValueRangeError
from frame_ros.metrics import PoseLowPass, low_pass, low_pass_orientations
from frame_ros.metrics.filtering import stage_frequency

ORDERS = (1, 2, 3)


def gains(order, cutoff, rate, frequencies, **options):
    """Complex gain at some frequencies, from the response to an impulse."""
    impulse = np.zeros((4001, 1))
    impulse[2000] = 1.0
    response = low_pass(impulse, 1.0 / rate, cutoff, order, **options)[:, 0]
    t = (np.arange(4001) - 2000) / rate
    return np.array([np.sum(response * np.exp(-2j * np.pi * f * t)) for f in frequencies])


@pytest.mark.parametrize('order', ORDERS)
def test_equals_scipy_stages_at_a_constant_rate(order):
    values = np.random.default_rng(0).normal(size=(3, 500, 2)) + 7.0
    share = 1.0 - np.exp(-2.0 * np.pi * stage_frequency(4.0, order) / 50.0)
    wanted = values
    for _ in range(order):
        start = (1.0 - share) * wanted[:, :1, :]
        wanted = lfilter([share], [1.0, share - 1.0], wanted, axis=1, zi=start)[0]
    np.testing.assert_allclose(low_pass(values, 0.02, 4.0, order), wanted, rtol=1e-12)


@pytest.mark.parametrize('order', ORDERS)
@pytest.mark.parametrize('zero_phase', [False, True])
def test_is_at_minus_3_db_at_the_cutoff(order, zero_phase):
    # Far below the sampling rate, as the module says.
    gain = np.abs(gains(order, 5.0, 2000.0, [5.0, 0.05, 50.0], zero_phase=zero_phase))
    assert 20.0 * np.log10(gain[0]) == pytest.approx(-3.01, abs=0.05)
    assert gain[1] == pytest.approx(1.0, abs=1e-3)
    assert gain[2] < 0.12


def test_what_is_said_of_cutoffs_near_the_sampling_rate():
    loss = [-20.0 * np.log10(np.abs(gains(2, f, 100.0, [f])[0])) for f in (5.0, 100.0 / 6.0)]
    np.testing.assert_allclose(loss, [2.9, 2.3], atol=0.06)


def test_lag_of_a_sine_causal_and_zero_phase():
    t = np.arange(4000) / 200.0
    sine = np.sin(2.0 * np.pi * 1.0 * t)[:, None]
    inside = slice(1000, 3000)
    there = np.exp(-2j * np.pi * 1.0 * t[inside])
    phases = []
    for zero_phase in (False, True):
        filtered = low_pass(sine, 1.0 / 200.0, 8.0, zero_phase=zero_phase)[inside, 0]
        phases.append(np.angle(np.sum(filtered * there) / np.sum(sine[inside, 0] * there)))
    lag = 2.0 * (1.0 / (2.0 * np.pi * stage_frequency(8.0, 2)) - 0.5 / 200.0)
    assert phases[0] == pytest.approx(-2.0 * np.pi * lag, rel=0.03)
    assert abs(phases[1]) < 1e-9


def test_zero_phase_keeps_a_straight_way_to_its_ends():
    way = np.linspace(0.0, 3.0, 200)[:, None] * [1.0, -2.0, 0.5] + 100.0
    filtered = low_pass(way, 0.02, 2.0, zero_phase=True)
    np.testing.assert_allclose(filtered, way, atol=1e-9)


def test_a_stage_is_exact_for_a_held_value_however_it_is_cut():
    values = np.array([[0.0], [1.0], [-2.0]])
    cut = np.repeat(values, [1, 4, 3], axis=0)
    dt = np.array([0.01, 0.02, 0.03, 0.04, 0.01, 0.05, 0.02])
    whole = low_pass(values, np.array([0.1, 0.08]), 3.0, order=1)
    pieces = low_pass(cut, dt, 3.0, order=1)
    np.testing.assert_allclose(pieces[[0, 4, 7]], whole, rtol=1e-13)


def test_long_records_and_long_steps_stay_in_range():
    rng = np.random.default_rng(1)
    values = rng.normal(size=(20_000, 1))
    dt = rng.uniform(0.001, 0.05, size=19_999)
    dt[::1000] = 1e4
    stamps = np.round(np.cumsum([0.0, *dt]) * 1e9).astype(np.int64)
    dt, stream = np.diff(stamps) * 1e-9, PoseLowPass(9.0)
    turn = (0.0, 0.0, 0.0, 1.0)
    poses = zip(stamps.tolist(), values[:, 0].tolist())
    wanted = [stream.update(t, x, 0.0, 0.0, *turn)[:1] for t, x in poses]
    np.testing.assert_allclose(low_pass(values, dt, 9.0), wanted, rtol=1e-9, atol=1e-12)
    single = low_pass(values.astype(np.float32), dt, 9.0)
    assert single.dtype == np.float32
    np.testing.assert_allclose(single, wanted, atol=1e-5)


@settings(max_examples=25)
@given(st.data(), st.sampled_from(ORDERS))
def test_streaming_poses_equal_the_batch_on_every_prefix(data, order):
    path = data.draw(paths())
    count = len(path)
    orientations, times = data.draw(quaternions(count)), data.draw(stamps(count))
    gap = data.draw(st.sampled_from([None, 0.05]))
    stream = PoseLowPass(2.0, order, gap=gap)
    found = np.array(
        [
            stream.update(int(t), *p, *q)
            for t, p, q in zip(times, path.tolist(), orientations.tolist())
        ]
    )
    flags = np.diff(times, prepend=times[0]) > (50_000_000 if gap else 10**12)
    assert stream.gaps == flags.sum()
    np.testing.assert_array_equal(stream.value, found[-1])
    dt = np.diff(times) * 1e-9
    for i in range(1, count + 1):
        part = {'order': order, 'breaks': flags[:i]}
        wanted = low_pass(path[:i], dt[: i - 1], 2.0, **part)
        np.testing.assert_allclose(found[:i, :3], wanted, rtol=1e-9, atol=1e-12)
        turned = low_pass_orientations(orientations[:i], dt[: i - 1], 2.0, **part)
        # Components that nearly cancel out are brought to length 1: their rounding grows.
        np.testing.assert_allclose(found[:i, 3:], turned, atol=1e-6)


@pytest.mark.parametrize('zero_phase', [False, True])
def test_orientations_follow_the_filtered_angle(zero_phase):
    t = np.arange(600) / 100.0
    angle = 0.25 * np.sin(2.0 * np.pi * t) + 0.1 * np.sin(2.0 * np.pi * 9.0 * t)
    axis = np.array([1.0, 2.0, -2.0]) / 3.0
    samples = Rotation.from_rotvec(angle[:, None] * axis).as_quat()
    samples[::7] *= -3.0  # the same rotations
    found = low_pass_orientations(samples, 0.01, 4.0, zero_phase=zero_phase)
    np.testing.assert_allclose(np.linalg.norm(found, axis=1), 1.0, rtol=1e-12)
    wanted = low_pass(angle[:, None], 0.01, 4.0, zero_phase=zero_phase) * axis
    apart = Rotation.from_quat(found).inv() * Rotation.from_rotvec(wanted)
    assert apart.magnitude().max() < 0.003
    assert apart.magnitude().max() < 0.05 * np.abs(wanted - angle[:, None] * axis).max()


def test_torch_stays_torch_and_carries_gradients():
    torch = pytest.importorskip('torch')
    values = torch.arange(24, dtype=torch.float64).reshape(2, 4, 3).sin().requires_grad_()
    dt = torch.tensor([0.1, 0.2, 0.1], dtype=torch.float64)
    for zero_phase in (False, True):
        found = low_pass(values, dt, 1.0, zero_phase=zero_phase)
        plain = low_pass(values.detach().numpy(), dt.numpy(), 1.0, zero_phase=zero_phase)
        np.testing.assert_allclose(found.detach().numpy(), plain, rtol=1e-13)
        assert torch.autograd.gradcheck(
            lambda v, z=zero_phase: low_pass(v, dt, 1.0, zero_phase=z), (values,)
        )


def test_bad_input_is_named():
    values = np.zeros((5, 3))
    for cutoff, message in ((0.0, 'cutoff is 0.0'), (np.inf, 'cutoff is inf'), (25.0, '50 Hz')):
        with pytest.raises(ValueRangeError, match=message):
            low_pass(values, 0.02, cutoff)
    with pytest.raises(ValueRangeError, match='order is 0'):
        low_pass(values, 0.02, 1.0, order=0)
    with pytest.raises(ValueRangeError, match='dt have type'):
        low_pass(np.zeros((3, 2)), 'fast', 1.0)
    with pytest.raises(ShapeError, match=r'dt has shape \(5,\)'):
        low_pass(values, np.ones(5), 0.1)
    with pytest.raises(ValueRangeError, match='stamps must increase'):
        low_pass(values, np.array([0.1, 0.1, 0.0, 0.1]), 1.0)
    with pytest.raises(ShapeError, match=r'\(\.\.\., T, 4\)'):
        low_pass_orientations(values, 0.02, 1.0)
    with pytest.raises(ValueRangeError, match='zero quaternion'):
        low_pass_orientations(np.zeros((5, 4)), 0.02, 1.0)
    with pytest.raises(ValueRangeError, match='not finite'):
        low_pass(values * np.nan, 0.02, 1.0)


def test_bad_settings_are_named():
    with pytest.raises(ValueRangeError, match='cutoff is -1'):
        PoseLowPass(-1.0)
    with pytest.raises(ValueRangeError, match='order is 1.5'):
        PoseLowPass(1.0, order=1.5)
    with pytest.raises(ValueRangeError, match='gap is 0'):
        PoseLowPass(1.0, gap=0)


def test_a_refused_sample_changes_nothing():
    pose, other = PoseLowPass(2.0), PoseLowPass(2.0)
    for filters in (pose, other):
        assert np.isnan(filters.value).all()
        filters.update(10, 1.0, 2.0, 3.0, 0.0, 0.0, 0.0, 2.0)
    for stamp, bad in ((20, np.nan), (20, np.inf), (10, 0.0), (9, 0.0)):
        with pytest.raises(ValueRangeError):
            pose.update(stamp, bad, 2.0, 3.0, 0.0, 0.0, 0.0, 1.0)
    with pytest.raises(ValueRangeError, match='quaternion is zero'):
        pose.update(20, 1.0, 2.0, 3.0, 0.0, 0.0, 0.0, 0.0)
    args = (10_000_000, 2.0, 2.0, 3.0, 0.1, 0.0, 0.0, -1.0)
    assert pose.update(*args) == other.update(*args)
    pose.reset()
    assert pose.update(*args)[:3] == (2.0, 2.0, 3.0) and pose.gaps == 0
