# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The metrics as auxiliary losses: gradients through the kinematics, and smoother chunks."""

import numpy as np
import pytest

torch = pytest.importorskip('torch')
pytest.importorskip('frame_ros.metrics.torch')
pytest.importorskip('mujoco')

from frame_ros.robots import load_robot  # noqa: E402


@pytest.fixture(scope='module')
def jerky():
    """Chunks to train on, and every fourth, held out, of two jerky demonstrations."""
    import auxiliary_loss
    from chunk_policy import Chunks, cut_chunks

    chunks = cut_chunks(auxiliary_loss.record(2, quality=0.6), 15)
    is_held = torch.arange(len(chunks)) % 4 == 0
    return tuple(Chunks(chunks.inputs[at], chunks.actions[at]) for at in (~is_held, is_held))


@pytest.fixture(scope='module')
def plain(jerky):
    """The metrics of a network without an auxiliary loss, on the chunks that were held out."""
    return train_and_test(jerky, 'none', 0.0)


def train_and_test(chunks, auxiliary, weight):
    from auxiliary_loss import held_out, train

    trained, held = chunks
    network, _ = train(trained, auxiliary, weight, 150, seed=0, batch_size=32, width=64)
    return held_out(network, held)


@pytest.mark.parametrize('name', ['so101', 'panda'])
def test_tip_position_is_that_of_pinocchio(name):
    from tip_position import TipPosition

    robot = load_robot(name)
    q = np.random.default_rng(0).uniform(robot.lower, robot.upper, (4, 5, len(robot.lower)))
    expected = [robot.forward(row)[0] for row in q.reshape(20, -1)]
    positions = TipPosition(robot)(torch.tensor(q))
    np.testing.assert_allclose(positions.reshape(20, 3), expected, atol=1e-12)


@pytest.mark.parametrize('metric', ['ps', 'jerk'])
def test_gradients_reach_the_joints(metric):
    from auxiliary_loss import Smoothness

    random = torch.Generator().manual_seed(0)
    chunk = 0.2 * torch.randn(2, 6, 6, generator=random, dtype=torch.double)
    chunk.requires_grad_()
    smoothness = Smoothness()
    assert torch.autograd.gradcheck(lambda c: smoothness(metric, c), chunk, eps=1e-6, atol=1e-5)


def test_a_chunk_that_stands_still_has_no_loss_and_a_finite_gradient():
    from auxiliary_loss import Smoothness

    chunk = torch.zeros(2, 8, 6, requires_grad=True)
    loss = Smoothness()('ps', chunk)
    loss.backward()
    assert loss.item() == 0.0 and torch.isfinite(chunk.grad).all()


@pytest.mark.parametrize(('metric', 'weight'), [('ps', 0.1), ('jerk', 0.0001)])
def test_the_auxiliary_loss_smooths_chunks_that_were_not_trained_on(jerky, plain, metric, weight):
    smoothed = train_and_test(jerky, metric, weight)
    assert smoothed[metric] < 0.6 * plain[metric]
    # It still imitates: predicting the mean of the actions has an error of about 1.
    assert smoothed['mse'] < 0.5


def test_the_same_seed_trains_the_same_network(jerky):
    from auxiliary_loss import train

    first, losses = train(jerky[0], 'ps', 0.1, 20, seed=3, batch_size=16, width=32)
    second, again = train(jerky[0], 'ps', 0.1, 20, seed=3, batch_size=16, width=32)
    assert losses == again
    for one, other in zip(first.parameters(), second.parameters()):
        torch.testing.assert_close(one, other, rtol=0, atol=0)


def test_the_table_compares_in_the_same_scenes(capsys, tmp_path):
    import auxiliary_loss

    summaries = auxiliary_loss.main(
        ['--demonstrations', '2', '--steps', '20', '--episodes', '2', '--timeout', '0.5',
         '--output', str(tmp_path / 'table.json')]
    )  # fmt: skip
    assert list(summaries) == ['none', 'ps', 'jerk', 'demonstrator']
    printed = capsys.readouterr().out
    assert '| PS |' in printed and 'jerk: PS ' in printed
    assert (tmp_path / 'table.json').is_file()
