# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Every TorchMetrics class against the functions, episode by episode; what is left out, counted."""

import numpy as np
import pytest

torch = pytest.importorskip('torch')
pytest.importorskip('frame_ros.metrics.torch')

from torch_cases import (  # noqa: E402
    ACTIONS,
    BOUNDS,
    CASES,
    DISTANCES,
    DT,
    EPISODES,
    FLAGS,
    POSITIONS,
    PREDICTED,
    QUATERNIONS,
    REFERENCE,
    SAMPLES,
    STAMPS,
    draw,
    mean_of_episodes,
    rows,
    update,
)

from frame_ros import metrics  # noqa: E402
from frame_ros.core.errors import ShapeError, ValueRangeError  # noqa: E402
from frame_ros.metrics import torch as classes  # noqa: E402
from frame_ros.metrics.torch import base  # noqa: E402

CLOSE = {'rtol': 1e-12, 'atol': 1e-14}


@pytest.mark.parametrize('name', CASES)
def test_mean_of_the_episodes_in_one_batch_or_one_by_one(name):
    case = CASES[name]
    batch, single = case.make(), case.make()
    update(name, batch, case.arrays)
    for i in range(EPISODES):
        update(name, single, rows(case.arrays, i))
    wanted = mean_of_episodes(case)
    torch.testing.assert_close(batch.compute(), wanted, **CLOSE)
    torch.testing.assert_close(single.compute(), wanted, **CLOSE)
    assert batch.count == EPISODES and batch.unavailable == 0


@pytest.mark.parametrize('name', CASES)
def test_calling_gives_the_value_of_the_batch_and_reset_forgets(name):
    case = CASES[name]
    metric = case.make()
    options = {'shift': 3} if name == 'chunk_overlap' else {}
    first = metric(*rows(case.arrays, 0), **options)
    second = metric(*rows(case.arrays, 1), **options)
    torch.testing.assert_close(first, case.wanted(*rows(case.arrays, 0)).double(), **CLOSE)
    torch.testing.assert_close(second, case.wanted(*rows(case.arrays, 1)).double(), **CLOSE)
    torch.testing.assert_close(metric.compute(), mean_of_episodes(case, (0, 1)), **CLOSE)
    metric.reset()
    with pytest.warns(UserWarning, match='before the'):
        assert torch.isnan(metric.compute())


@pytest.mark.parametrize('name', sorted(set(CASES) - {'control_rate'}))
@pytest.mark.parametrize('dtype', [torch.bfloat16, torch.float16, torch.float32])
def test_lower_precision_is_widened_before_it_is_added_up(name, dtype):
    case = CASES[name]
    low, wanted = case.make(), case.make()
    low_arrays, wide_arrays = (
        [x.to(t) if x is not None and x.is_floating_point() else x for x in case.arrays]
        for t in (dtype, torch.float32)
    )
    rounded = [
        x if y is None or not y.is_floating_point() else y.float()
        for x, y in zip(wide_arrays, low_arrays)
    ]
    update(name, low, low_arrays)
    update(name, wanted, rounded)
    assert low.compute().dtype == torch.float64
    torch.testing.assert_close(low.compute(), wanted.compute(), **CLOSE)


@pytest.mark.parametrize('name', CASES)
def test_update_makes_no_tensor_on_another_device_than_its_input(name):
    case = CASES[name]
    metric = case.make()
    # What a formula makes without naming a device would be on meta, and could not be used here.
    with torch.device('meta'):
        update(name, metric, case.arrays)
        assert metric.compute().device.type == 'cpu'


@pytest.mark.parametrize('change', [lambda m: m.to(torch.bfloat16), lambda m: m.half()])
def test_a_model_of_lower_precision_leaves_the_states_as_they_are(change):
    """Counts of bfloat16 stand still at 256: half of the successes were shown as all."""
    model = torch.nn.Module()
    model.rate, model.latency = classes.SuccessRate(), classes.LatencyStatistics()
    model.latency.update(torch.tensor([0.1234567]))
    change(model)
    model.rate.update(torch.tensor([True]))
    for i in range(1, 1000):
        model.rate.update(torch.tensor([i % 2 == 0]))
        model.rate.to(torch.bfloat16)
    assert float(model.rate.compute()) == 0.5 and model.rate.count.dtype == torch.float64
    assert float(model.latency.compute()['il']) == pytest.approx(0.1234567, rel=1e-6)


@pytest.mark.parametrize('cast', [None, torch.float32, torch.bfloat16])
@pytest.mark.parametrize('before', [lambda m: m, lambda m: m.to(torch.bfloat16)])
def test_states_are_in_single_precision_on_a_device_without_double(before, cast, monkeypatch):
    """Its stand-in is the meta device."""
    monkeypatch.setattr(base, 'SINGLE_DEVICES', ('meta',))

    def there(tensor):
        wanted = cast or tensor.dtype
        if wanted == torch.float64:
            raise TypeError('the device has no float64')
        return tensor.to('meta', wanted)

    for metric in (classes.SuccessRate(), classes.LatencyStatistics()):
        metric.update(torch.tensor([1.0]))
        moved = before(metric)._apply(there)
        states = [moved.count, moved._defaults['count'], *getattr(moved, 'latencies', [])]
        assert {(s.device.type, s.dtype) for s in states} == {('meta', torch.float32)}


@pytest.mark.parametrize('name', CASES)
def test_half_of_the_states_precision_for_devices_that_have_no_more(name):
    case = CASES[name]
    metric = case.make().set_dtype(torch.float32)
    update(name, metric, case.arrays)
    assert metric.compute().dtype == metric.dtype == torch.float32
    assert float(metric.compute()) == pytest.approx(float(mean_of_episodes(case)), rel=1e-5)


def test_rates_pool_all_trials_and_have_an_interval():
    metric = classes.SuccessRate()
    metric.update(torch.tensor([True, False, True]))
    metric.update(torch.tensor([[1, 1], [0, 1]]))
    assert float(metric.compute()) == pytest.approx(5 / 7)
    assert metric.interval() == metrics.wilson_interval(5, 7)
    with pytest.raises(ValueRangeError, match='other values than 0 and 1'):
        metric.update(torch.tensor([0.5]))
    chains = classes.TaskCompletionRate()
    chains.update(3, 5)
    chains.update(torch.tensor([1, 0]), torch.tensor([1, 4]))
    assert float(chains.compute()) == pytest.approx(4 / 10)
    assert chains.interval(0.9) == metrics.wilson_interval(4, 10, 0.9)
    assert all(np.isnan(classes.SuccessRate().interval()))


def test_mse_weighs_steps_and_amse_trajectories():
    pairs = [(ACTIONS[0], PREDICTED[0]), (ACTIONS[1, :3], PREDICTED[1, :3])]
    found = {c: c() for c in (classes.MSE, classes.AMSE, classes.NAMSE)}
    for metric in found.values():
        for pair in pairs:
            metric.update(*pair)
    joined = [torch.cat(side) for side in zip(*pairs)]
    torch.testing.assert_close(found[classes.MSE].compute(), metrics.mse(*joined), **CLOSE)
    torch.testing.assert_close(found[classes.AMSE].compute(), metrics.amse(pairs), **CLOSE)
    torch.testing.assert_close(found[classes.NAMSE].compute(), metrics.namse(pairs), **CLOSE)


def test_namse_keeps_its_digits_far_from_zero_and_knows_no_constant_truth():
    far = classes.NAMSE()
    for truth, guess in zip(ACTIONS, PREDICTED):
        far.update(truth + 1e6, guess + 1e6)
    wanted = metrics.namse(zip(ACTIONS, PREDICTED))
    assert float(far.compute()) == pytest.approx(float(wanted), rel=1e-9)
    constant = classes.NAMSE()
    for steps in (4, 30, 7):
        truth = torch.full((steps, 7), 0.3)
        constant.update(truth, torch.zeros_like(truth))
        assert torch.isnan(constant.compute())


def test_collisions_are_pooled_over_steps():
    metric = classes.CollisionRate()
    metric.update(torch.tensor([True, True, False, True]))
    metric.update(torch.zeros(6, dtype=torch.bool))
    assert float(metric.compute()) == pytest.approx(2 / 10)
    padded = classes.CollisionRate()
    flags = torch.tensor([[1, 1, 0, 1, 0, 0], [0, 0, 0, 0, 0, 0]], dtype=torch.bool)
    padded.update(flags, mask=torch.tensor([4, 6]))
    assert float(padded.compute()) == pytest.approx(2 / 10)


def test_latencies_and_memory():
    latencies = torch.tensor([0.1, 0.3, 0.2, 0.05])
    mean, statistics = classes.InferenceLatency(), classes.LatencyStatistics()
    for part in (latencies[:3], latencies[3]):
        mean.update(part)
        statistics.update(part)
    wanted = metrics.latency_statistics(latencies.numpy())
    assert float(mean.compute()) == pytest.approx(wanted.mean)
    found = statistics.compute()
    assert set(found) <= set(metrics.REGISTRY)
    for id, value in zip(found, (wanted.mean, wanted.p50, wanted.p95, wanted.p99, wanted.jitter)):
        assert float(found[id]) == pytest.approx(value)
    memory = classes.MemoryUsage()
    memory.update(torch.tensor([5e8, 9e8]), torch.tensor([1e8, 0.0]))
    memory.update(6e8, 1e8)
    assert memory.compute() == 9e8
    for metric in (mean, statistics, memory):
        with pytest.raises(ValueRangeError, match='0 or more'):
            metric.update(-1.0)


def test_a_timed_block_is_one_call():
    wall, processor = classes.InferenceLatency(), classes.ComputationTime()
    with wall.timed(), processor.timed():
        torch.ones(10).sum()
    assert wall.count == processor.count == 1
    assert wall.compute() > 0.0
    with pytest.raises(ZeroDivisionError), wall.timed():
        _ = 1 / 0
    assert wall.count == 1


def test_worst_second_over_episodes():
    metric = classes.WorstControlRate()
    steady = torch.arange(0, 3 * 10**9, 10**8)
    slow = torch.arange(0, 3 * 10**9, 5 * 10**8)
    metric.update(steady)
    assert metric.compute() == 10
    metric.update(slow)
    metric.update(STAMPS[0, :2] * 0)  # no full second
    assert metric.compute() == 2
    assert metric.unavailable == 1


def test_episodes_without_a_value_are_left_out_and_counted():
    still = POSITIONS.clone()
    still[2] = still[2, :1]
    metric = classes.PathSmoothness()
    metric.update(still)
    wanted = metrics.path_smoothness(still)[[0, 1, 3]].mean()
    torch.testing.assert_close(metric.compute(), wanted, **CLOSE)
    assert metric.unavailable == 1 and metric.count == 3
    nothing = classes.ObstacleProximity()
    nothing.update(torch.full((2, 5), torch.nan))
    assert torch.isnan(nothing.compute()) and nothing.unavailable == 2


def test_static_episodes_have_no_part_in_instability_unless_asked_for():
    still = POSITIONS.clone()
    still[1] = still[1, :1] + 1e-3 * draw(SAMPLES, 3, seed=20).clamp(-1, 1)
    moving = [0, 2, 3]
    ti, everyone = classes.RMSJerk(dt=DT), classes.RMSJerk(dt=DT, static_threshold=None)
    action = classes.ActionInstability(1, bounds=BOUNDS)
    ti.update(still)
    everyone.update(still)
    action.update(ACTIONS, positions=still)
    jerks = metrics.rms_jerk(still, DT)
    torch.testing.assert_close(ti.compute(), jerks[moving].mean(), **CLOSE)
    torch.testing.assert_close(everyone.compute(), jerks.mean(), **CLOSE)
    steps = metrics.action_instability(ACTIONS, 1, BOUNDS)[:, 1:].mean(dim=-1)
    torch.testing.assert_close(action.compute(), steps[moving].mean(), **CLOSE)
    assert ti.static == action.static == 1 and everyone.static == 0
    with pytest.raises(ShapeError, match='the same are expected'):
        action.update(ACTIONS, positions=still[:2])


def test_short_segments_are_counted():
    still = POSITIONS.clone()
    still[0, 4] = still[0, 3]
    metric = classes.CurvatureChange()
    metric.update(still)
    metric.update(still[0])
    assert metric.short_segments == 2


def test_units_say_what_the_options_make_of_them():
    units = {
        classes.PathSmoothness(): '1',
        classes.PathSmoothness('mean_second_difference'): 'm',
        classes.TCPInstability(3): 'm',
        classes.TCPInstability(3, rates=True): 'm/s^3',
        classes.ActionInstability(2): 'action',
        classes.ActionInstability(2, bounds=BOUNDS): '1',
        classes.TokenEntropy(): 'nats',
        classes.TokenEntropy(normalised=True): '1',
        classes.RMSJerk(): 'm/s^3',
    }
    for metric, unit in units.items():
        assert metric.unit == unit


def test_errors_are_typed_and_say_what_is_expected():
    with pytest.raises(ShapeError, match='at least 2 samples'):
        classes.PathLength().update(POSITIONS[0, :1])
    with pytest.raises(ValueRangeError, match='not finite'):
        classes.PathLength().update(POSITIONS * torch.inf)
    with pytest.raises(ValueRangeError, match='ti has no dt'):
        classes.RMSJerk().update(POSITIONS)
    with pytest.raises(ValueRangeError, match='order is 4'):
        classes.TCPInstability(4)
    with pytest.raises(ValueRangeError, match='integers'):
        classes.ControlRate().update(DISTANCES)
    with pytest.raises(ShapeError, match='same shape'):
        classes.MSE().update(ACTIONS, PREDICTED[..., :2])
    with pytest.raises(ShapeError, match='goal and grasped'):
        classes.OptimalTrajectoryDifference().update(POSITIONS, POSITIONS, grasped=FLAGS)


def test_rte_of_evo_takes_orientations_and_leaves_padding_out():
    turned = QUATERNIONS[..., [1, 0, 3, 2]]
    wanted = metrics.relative_trajectory_error(
        POSITIONS, REFERENCE, 2,
        variant='evo', orientations=QUATERNIONS, reference_orientations=turned,
    )  # fmt: skip
    metric = classes.RelativeTrajectoryError(2, variant='evo')
    metric.update(POSITIONS, REFERENCE, None, QUATERNIONS, turned)
    torch.testing.assert_close(metric.compute(), wanted.mean())
    plain = metrics.relative_trajectory_error(
        POSITIONS.numpy(), REFERENCE.numpy(), 2,
        variant='evo', orientations=QUATERNIONS.numpy(), reference_orientations=turned.numpy(),
    )  # fmt: skip
    torch.testing.assert_close(wanted, torch.as_tensor(plain))
    padded = [torch.cat([a, torch.full_like(a[:, :3], torch.nan)], 1)
              for a in (POSITIONS, REFERENCE, QUATERNIONS, turned)]  # fmt: skip
    lengths = torch.full((len(POSITIONS),), POSITIONS.shape[1])
    metric.reset()
    metric.update(*padded[:2], lengths, *padded[2:])
    torch.testing.assert_close(metric.compute(), wanted.mean())
