# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Two processes compute what one does, for every kind of state."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

torch = pytest.importorskip('torch')
pytest.importorskip('frame_ros.metrics.torch')

from distributed_rank import SHARES, UPDATES, values  # noqa: E402


@pytest.mark.skipif(not torch.distributed.is_available(), reason='torch without torch.distributed')
def test_two_processes_equal_one_also_with_unequal_shares_and_none(tmp_path):
    script, meeting = Path(__file__).with_name('distributed_rank.py'), tmp_path / 'meeting'
    ran = subprocess.run(
        [sys.executable, '-W', 'ignore', str(script), str(meeting)],
        capture_output=True,
        text=True,
        timeout=200,
        env={**os.environ, 'GLOO_SOCKET_IFNAME': 'lo', 'OMP_NUM_THREADS': '1'},
    )
    assert ran.returncode == 0, ran.stderr
    wanted = values(None, (0,) * 4)
    assert set(wanted) == {*UPDATES, 'interval'}
    for rank in (0, 1):
        found = json.loads(Path(f'{meeting}.{rank}.json').read_text())
        for name in SHARES:
            for metric, expected in wanted.items():
                assert found[name][metric] == pytest.approx(expected, rel=1e-14, abs=0)
