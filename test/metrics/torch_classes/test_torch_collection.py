# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Collections, trackers, copies and saved states of the TorchMetrics classes; their registry."""

import pickle
import subprocess
import sys

import pytest

torch = pytest.importorskip('torch')
pytest.importorskip('frame_ros.metrics.torch')

from torch_cases import (  # noqa: E402
    ACTIONS,
    BOUNDS,
    CASES,
    DT,
    EPISODES,
    INTERVALS,
    POSITIONS,
    PREDICTED,
    QUATERNIONS,
    REFERENCE,
    SAMPLES,
    update,
)

from frame_ros import metrics  # noqa: E402
from frame_ros.core.errors import ValueRangeError  # noqa: E402
from frame_ros.metrics import torch as classes  # noqa: E402
from frame_ros.metrics.torch.collection import known_ids  # noqa: E402

STRAIGHT = torch.linspace(0.0, 1.0, SAMPLES, dtype=torch.float64)[:, None] * torch.ones(3)
EVERYTHING = {
    'positions': POSITIONS,
    'reference': REFERENCE,
    'orientations': QUATERNIONS,
    'dt': INTERVALS,
    'mask': torch.tensor([12, 9, 9, 6]),
}


def singles():
    return {
        'pl': classes.PathLength(),
        'ps': classes.PathSmoothness(),
        'cc': classes.CurvatureChange(),
        'tcp_pi': classes.TCPInstability(1),
        'tcp_vi': classes.TCPInstability(2),
        'tcp_ai': classes.TCPInstability(3),
        'ti': classes.RMSJerk(),
        'ate': classes.AbsoluteTrajectoryError(),
        'rte': classes.RelativeTrajectoryError(),
    }


def test_a_collection_shares_arguments_and_equals_its_members():
    collection = classes.trajectory_metrics(with_reference=True, prefix='eval/')
    alone = singles()
    for shift in (0.0, 1.0):
        arguments = {**EVERYTHING, 'reference': REFERENCE + shift}
        collection.update(**arguments)
        for metric in alone.values():
            metric.update(**metric._filter_kwargs(**arguments))
    found = collection.compute()
    assert set(found) == {f'eval/{id}' for id in alone}
    for id, metric in alone.items():
        torch.testing.assert_close(found[f'eval/{id}'], metric.compute(), rtol=0, atol=0)


def test_metrics_that_begin_equal_do_not_share_their_state():
    from torchmetrics import MetricCollection

    made = {
        'ps': classes.PathSmoothness(),
        'authors': classes.PathSmoothness('authors'),
        'tcp_vi': classes.TCPInstability(2),
        'tcp_ai': classes.TCPInstability(3),
    }
    # torchmetrics' own default, which looks for equal states after the first update.
    collection = MetricCollection(dict(made), compute_groups=True)
    collection.update(0.0 * STRAIGHT + torch.tensor([0.0, 0.0, 1.0]))
    collection.update(STRAIGHT)
    collection.update(POSITIONS)
    found = collection.compute()
    for name, metric in made.items():
        alone = metric.clone()
        alone.reset()
        for path in (0.0 * STRAIGHT + torch.tensor([0.0, 0.0, 1.0]), STRAIGHT, POSITIONS):
            alone.update(path)
        torch.testing.assert_close(found[name], alone.compute())
    assert len(set(map(float, found.values()))) == 4


def test_a_collection_of_chosen_metrics_with_options():
    collection = classes.frame_collection(
        'sr',
        'mse',
        'a_vi',
        'ps',
        options={'a_vi': {'bounds': BOUNDS}, 'ps': {'variant': 'authors'}},
    )
    collection.update(
        successes=torch.tensor([True, False]),
        actions=ACTIONS,
        predicted=PREDICTED,
        positions=POSITIONS,
    )
    found = collection.compute()
    assert found['sr'] == 0.5
    torch.testing.assert_close(found['mse'], metrics.mse(ACTIONS, PREDICTED).mean())
    steps = metrics.action_instability(ACTIONS, 2, BOUNDS)[:, 2:]
    torch.testing.assert_close(found['a_vi'], steps.mean())
    torch.testing.assert_close(found['ps'], metrics.path_smoothness(POSITIONS, 'authors').mean())
    assert (
        collection(
            successes=torch.tensor([1]), actions=ACTIONS, predicted=ACTIONS, positions=POSITIONS
        )['mse']
        == 0.0
    )
    with pytest.raises(ValueRangeError, match="no class has the id 'nothing'"):
        classes.frame_collection('nothing')
    with pytest.raises(ValueRangeError, match='options for pl besides'):
        classes.frame_collection('ps', options={'pl': {}})


def test_a_tracker_knows_which_epoch_was_best():
    from torchmetrics.wrappers import MetricTracker

    tracker = MetricTracker(classes.PathSmoothness())
    for scale in (1.0, 0.1, 0.5):
        tracker.increment()
        tracker.update(STRAIGHT + scale * POSITIONS[0])
    best, step = tracker.best_metric(return_step=True)
    assert step == 1
    assert best == pytest.approx(float(metrics.path_smoothness(STRAIGHT + 0.1 * POSITIONS[0])))


@pytest.mark.parametrize('name', CASES)
def test_copies_and_saved_states_go_on_where_they_were(name):
    case = CASES[name]
    metric, fresh = case.make(), case.make()
    update(name, metric, case.arrays)
    metric.persistent(True)
    fresh.load_state_dict(metric.state_dict())
    pickled = metric if name == 'chunk_overlap' else pickle.loads(pickle.dumps(metric))  # noqa: S301
    for other in (metric.clone(), fresh, pickled):
        update(name, other, case.arrays)
        assert other.compute() == metric.compute() or name == 'chunk_overlap'
        assert other.count == 2 * EPISODES
    assert type(fresh).id == type(metric).id


def test_ids_units_and_directions_are_those_of_the_registry():
    for id in known_ids():
        metric = classes.torch_metric(id, **_options(id))
        described = metrics.REGISTRY[id]
        assert (metric.id, metric.unit) == (id, described.unit)
        assert metric.higher_is_better == described.higher_is_better
        assert metric.full_state_update is False
        assert isinstance(metric.is_differentiable, bool)


def test_every_public_function_has_its_class():
    names = (
        'sr tcr mse amse namse pl ps cc ate rte cr op rf il ct mu a_pi a_vi a_ai tb_tp tb_pcs tb_d '
        'tb_e ev tcp_pi tcp_vi tcp_ai ti ot chunk_overlap control_rate'
    )
    assert set(names.split()) <= set(known_ids())


def test_the_registry_names_classes_that_are_there():
    named = [entry for entry in metrics.REGISTRY.values() if entry.torch]
    assert len(named) > 30
    for entry in named:
        assert entry.torch in classes.__all__
        if entry.id in known_ids():
            assert (
                type(classes.torch_metric(entry.id, **_options(entry.id))).__name__ == entry.torch
            )


def _options(id):
    return {'bounds': BOUNDS} if id.startswith('a_') else {}


def run(code):
    return subprocess.run([sys.executable, '-c', code], capture_output=True, text=True, check=True)


def test_torch_is_imported_by_this_package_alone():
    code = "import sys, frame_ros.metrics; print('torch' in sys.modules)"
    assert run(code).stdout.strip() == 'False'


@pytest.mark.parametrize('missing', ['torch', 'torchmetrics'])
def test_without_torch_the_extra_is_named(missing):
    code = (
        f"import sys; sys.modules[{missing!r}] = sys.modules['torchvision'] = None\n"
        'from frame_ros.core.errors import MissingExtraError\n'
        'try:\n    import frame_ros.metrics.torch\n'
        'except MissingExtraError as error:\n    print(error)\n'
    )
    printed = run(code).stdout
    assert "pip install 'torch>=" in printed and "'torchmetrics>=" in printed and missing in printed


def test_a_fixed_dt_serves_all_updates():
    collection = classes.trajectory_metrics(dt=DT)
    collection.update(positions=POSITIONS)
    torch.testing.assert_close(collection.compute()['ti'], metrics.rms_jerk(POSITIONS, DT).mean())
