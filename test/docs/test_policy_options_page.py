# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The reference page of the policies' options is made from their declarations."""

import re

from markdown_blocks import ROOT

from frame_ros.core.options import walk
from frame_ros.policies.base import Policy
from frame_ros.policies.policy_names import OURS, own_class


def test_every_policy_has_its_options_with_defaults(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / 'docs')
    from generate import policies_page

    parts = re.split(r'\n## (\w+)\n', policies_page())
    sections = dict(zip(parts[1::2], parts[2::2], strict=True))
    assert set(sections) == set(OURS)
    for name, text in sections.items():
        assert issubclass(own_class(name), Policy)
        for option in walk(own_class(name).Options):
            assert f'| `{option.name}` |' in text, (name, option.name)
    assert '| `deadline` | `2.0` | above 0 s |' in sections['remote']
    assert '| `trust_remote_code` | `false` |' in sections['lerobot']
    assert '| `camera_names` |  |' in sections['lerobot']  # none, and no text of one
