# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""A file with a scene that has the names of the world so101-lift, without that world installed."""

import json

from frame_ros.cli import main


def write_lift_scene(drawn, file):
    """Draws a scene of ours into `drawn`, and writes it with their names into `file`."""
    options = ['--operators', 'mass', '--count', '1', '--output', str(drawn)]
    assert main(['scenes', 'generate', *options]) == 0
    content = json.loads(drawn.read_text())
    (scene,) = content['scenes']
    scene['task']['target'] = scene['objects'][0]['name'] = 'block'
    for index, light in enumerate(scene['lights']):
        light['name'] = f'light_{index}'
    scene['cameras'] = [each for each in scene['cameras'] if each['name'] == 'front']
    file.write_text(json.dumps(content))
