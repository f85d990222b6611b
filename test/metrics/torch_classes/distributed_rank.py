# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Two processes that each update every kind of state with their share, and what both compute."""

import json
import multiprocessing
import sys
from datetime import timedelta
from pathlib import Path

import torch
from torch_cases import ACTIONS, POSITIONS, PREDICTED, STAMPS

from frame_ros.metrics import torch as classes

LATENCIES = torch.tensor([0.1, 0.3, 0.2, 0.05], dtype=torch.float64)

# What each of 4 updates gives to each metric.
UPDATES = {
    'sum': (classes.PathLength, [(path,) for path in POSITIONS]),
    'pooled': (classes.SuccessRate, [([True] * i + [False],) for i in range(4)]),
    'cat': (classes.LatencyStatistics, [(each,) for each in LATENCIES]),
    'max': (classes.MemoryUsage, [(1e8 * each,) for each in (4.0, 1.0, 3.0, 7.0)]),
    'min': (classes.WorstControlRate, [(stamps * 10,) for stamps in STAMPS]),
    'merged': (classes.NAMSE, list(zip(ACTIONS, PREDICTED))),
}

# Which process takes which update: three and one; all and none.
SHARES = {'unequal': (0, 0, 1, 0), 'none': (0, 0, 0, 0)}


def values(rank, share):
    """Returns every metric's value with the updates of this process; None: with all of them."""
    found = {}
    for name, (make, updates) in UPDATES.items():
        metric = make()
        # So that the data of a device other than the default's is also what an idle process sends.
        metric.to(torch.device('cpu'))
        for owner, arguments in zip(share, updates):
            if rank in (None, owner):
                metric.update(*(torch.as_tensor(a) for a in arguments))
        result = metric.compute()
        each = result if isinstance(result, dict) else {'value': result}
        found[name] = {key: float(value) for key, value in each.items()}
        if name == 'pooled':
            found['interval'] = dict(zip(('lower', 'upper'), metric.interval()))
        assert metric._is_synced is False
    return found


def join(rank, rendezvous):
    """One process: joins the other one, computes, and writes what it found as JSON."""
    torch.distributed.init_process_group(
        'gloo',
        init_method=f'file://{rendezvous}',
        rank=rank,
        world_size=2,
        timeout=timedelta(seconds=60),
    )
    found = {name: values(rank, share) for name, share in SHARES.items()}
    Path(f'{rendezvous}.{rank}.json').write_text(json.dumps(found))
    torch.distributed.destroy_process_group()


def main():
    """Starts both processes as copies of this one, which has imported all and no thread yet."""
    processes = [
        multiprocessing.get_context('fork').Process(target=join, args=(rank, sys.argv[1]))
        for rank in (0, 1)
    ]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    sys.exit(max(abs(process.exitcode) for process in processes))


if __name__ == '__main__':
    main()
