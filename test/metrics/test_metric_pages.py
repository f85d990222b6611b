# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The reference page of the metrics is made from the records and measured
values.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import pytest

from frame_ros.metrics import REGISTRY

DOCS = Path(__file__).resolve().parents[2] / 'docs'


@pytest.fixture(scope='module')
def sections():
    sys.path.insert(0, str(DOCS))
    try:
        from generate import metrics_page
    finally:
        sys.path.remove(str(DOCS))
    parts = re.split(r'\n\(metric-(\w+)\)=\n', metrics_page())
    return dict(zip(parts[1::2], parts[2::2]))


def test_every_metric_has_a_section_with_all_its_parts(sections):
    assert set(sections) == set(REGISTRY)
    for key, text in sections.items():
        assert text.startswith(f'### `{key}`: ')
        assert f'```text\n{REGISTRY[key].formula}\n```' in text
        for part in ('**What it shows.**', '**When it misleads.**', '**NaN when**', 'demo'):
            assert part in text, f'{key} lacks {part}'
        assert ('**Variants.**' in text) == bool(REGISTRY[key].variants)


def test_typical_values_are_of_registered_metrics_and_in_order(sections):
    typical = json.loads((DOCS / 'typical_values.json').read_text())
    assert len(typical['groups']) >= 2
    for group in typical['groups'].values():
        assert set(group['metrics']) <= set(REGISTRY) and group['successes'] <= group['trials']
        for value in group['metrics'].values():
            assert value['least'] <= value['median'] <= value['greatest']
            assert 1 <= value['episodes'] <= group['episodes']
    (best, *_) = typical['groups'].values()
    assert f'{best["metrics"]["ti"]["median"]:.3g} [' in sections['ti']
    assert 'it is not available' in sections['tcr']
