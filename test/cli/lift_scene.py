# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""A file with a scene of the world so101-lift, without that world installed."""

import json

from frame_ros.cli import main


def write_lift_scene(drawn, file):
    """Draws a scene of ours into `drawn`, and writes it as one of theirs into `file`."""
    options = ['--operators', 'mass', '--count', '1', '--output', str(drawn)]
    assert main(['scenes', 'generate', *options]) == 0
    content = json.loads(drawn.read_text())
    assert content['scenes'][0]['world'] == 'frame_ros'
    content['scenes'][0]['world'] = 'so101-lift'
    file.write_text(json.dumps(content))
