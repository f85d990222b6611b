# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Small valid files of every kind that is read from outside."""

from __future__ import annotations

import json
import shutil
import sqlite3
import struct
import sys
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
TOOL = 'tool: {mass: 0.4, centre_of_mass: [0, 0, 0.05], inertia: [1e-3, 0, 0, 1e-3, 0, 1e-3]}\n'
OBSTACLES = """frame: base_link
obstacles:
  - {name: table, shape: box, size: [0.8, 1.2, 0.04], position: [0.3, 0.0, -0.02]}
  - {name: post, shape: cylinder, radius: 0.03, length: 0.5, rpy: [0.4, 0.2, 0.25]}
  - {name: lamp, shape: sphere, radius: 0.1, quaternion: [0.0, 0.0, 0.0, 1.0]}
  - {name: wall, shape: half_space, ignored_links: [base_link]}
  - {name: fixture, shape: mesh, file: shape.stl, scale: 1.0, is_convex: true}
"""
CAPSULES = """robot: so101
links:
  gripper_link:
    - {start: [0.0, 0.0, 0.0], end: [0.0, 0.0, 0.1], radius: 0.03}
  lower_arm_link:
    - {start: [0.0, 0.0, 0.0], end: [0.1, 0.0, 0.0], radius: 0.03}
"""
OPTIONS = """url: ws://127.0.0.1:8000
cameras: {front: {width: 640, height: 480}}
name: table
lower: [0, -0.3, -0.01]
upper: [0.4, 0.3, 0.02]
"""
CALIBRATION = {
    name: {'id': i, 'drive_mode': 0, 'homing_offset': 12, 'range_min': 800, 'range_max': 3200}
    for i, name in enumerate(('shoulder_pan', 'shoulder_lift', 'elbow_flex', 'gripper'), 1)
}
OUTCOMES = """episode,policy,object,task,success,time,operation,ending,pair,human,stage.grasped
a,act,cube,"put it, in",true,3.5,0,success,seed 1,false,true
a,act,cube,"put it, in",false,inf,1,drop,seed 1,false,true
b,pi0,ball,,false,8.25,,timeout,seed 2,,false
"""
EVALUATION = {
    'per_task': [
        {'task_group': 'spatial', 'task_id': i, 'metrics': {'successes': [True, False, True]}}
        for i in range(2)
    ],
    'overall': {'pc_success': 66.7},
}
EPISODES = {
    'per_episode': [
        {'episode_ix': i, 'sum_reward': 1.5, 'max_reward': 1.0, 'success': i > 1, 'seed': 1000 + i}
        for i in range(4)
    ],
    'aggregated': {'pc_success': 50.0},
}
TOKEN_MAP = {'kind': 'bins', 'bins': 256, 'horizon': 2, 'dimensions': 7, 'values': 'points'}


def make_seeds(folder: Path, kinds: Sequence[str]) -> Path:
    """Writes them into a folder for each kind, and a whole bag into `bag`; returns `folder`."""
    for kind in kinds:
        (folder / kind).mkdir()
    _bags(folder)
    for kind, text in (
        ('tool', TOOL), ('obstacles', OBSTACLES), ('capsules', CAPSULES), ('options', OPTIONS),
        ('calibration', json.dumps(CALIBRATION)), ('token_map', json.dumps(TOKEN_MAP)),
        ('outcomes', OUTCOMES), ('evaluation', json.dumps(EVALUATION)),
    ):  # fmt: skip
        (folder / kind / 'valid').write_text(text)
    (folder / 'evaluation' / 'with_seeds').write_text(json.dumps(EPISODES))
    shutil.copy(ROOT / 'config' / 'gate.yaml', folder / 'params')
    shutil.copy(ROOT / 'config' / 'contact.yaml', folder / 'params')
    shutil.copy(ROOT / 'config' / 'motors' / 'so101.yaml', folder / 'motors')
    shutil.copy(ROOT / 'config' / 'rephrasings.yaml', folder / 'rephrasings')
    for name in ('so101', 'fr3'):
        shutil.copy(ROOT / 'urdf' / f'{name}.urdf', folder / 'urdf')
    _meshes(folder / 'mesh')
    _urdf_with_mesh(folder / 'urdf' / 'mesh.urdf')
    return folder


def _bags(folder: Path) -> None:
    sys.path.insert(0, str(ROOT / 'test' / 'episodes'))
    from bag_making import SECOND, T0, episode_messages, message, stamp, write_bag
    from live_bags import with_live
    from rosbags.rosbag2 import Reader, StoragePlugin, Writer
    from rosbags.typesys import Stores, get_typestore

    import frame_ros.bags.storage.mcap_writer as mcap_writer

    messages = [*with_live(episode_messages(12)), *_pictures(message, stamp, T0, SECOND)]
    messages.sort(key=lambda item: item[1])
    facts = {'robot': 'so101', 'policy': 'p', 'episode_id': 'e1', 'frame_ros_version': '1'}
    bag = write_bag(
        folder / 'bag', messages, facts, compression_level=mcap_writer.COMPRESSION_LEVEL
    )
    flat = write_bag(folder / 'flat', messages, facts, compression_level=0)
    for number, source in enumerate((bag, flat, flat)):
        shutil.copy(next(source.glob('*.mcap')), folder / 'mcap' / f'{number}.mcap')
    shutil.copy(bag / 'episode.json', folder / 'sidecar')
    shutil.copy(bag / 'metadata.yaml', folder / 'metadata')
    store = get_typestore(Stores.ROS2_JAZZY)
    with (
        Reader(flat) as reader,
        Writer(folder / 'db', version=9, storage_plugin=StoragePlugin.SQLITE3) as writer,
    ):
        made = {
            c.id: writer.add_connection(c.topic, c.msgtype, msgdef=c.msgdef.data, rihs01=c.digest)
            for c in reader.connections
        }
        for connection, at, data in reader.messages():
            writer.write(made[connection.id], at, data)
    assert store is not None
    shutil.copy(next((folder / 'db').glob('*.db3')), folder / 'db3' / 'a.db3')
    _bag_of_a_killed_recorder(folder)


def _bag_of_a_killed_recorder(folder: Path) -> None:
    """A database with half of its messages in a companion file."""
    bag, source = folder / 'bag_of_wal', folder / 'being_written.db3'
    bag.mkdir()
    shutil.copy(folder / 'db3' / 'a.db3', source)
    with closing(sqlite3.connect(source)) as database:
        rows = database.execute('SELECT * FROM messages WHERE id % 2').fetchall()
        database.execute('DELETE FROM messages WHERE id % 2')
        database.commit()
        database.execute('PRAGMA journal_mode = WAL')
        marks = ', '.join('?' for _ in rows[0])
        database.executemany(f'INSERT INTO messages VALUES ({marks})', rows)
        database.commit()
        shutil.copy(source, bag / 'a.db3')
        shutil.copy(f'{source}-wal', folder / 'wal')


def _pictures(message: Any, stamp: Any, start: int, second: int) -> list[tuple[str, int, Any]]:
    import cv2

    pixels = np.arange(8 * 6 * 3, dtype=np.uint8).reshape(6, 8, 3)
    _, png = cv2.imencode('.png', pixels)
    _, jpeg = cv2.imencode('.jpg', pixels)
    found = []
    for number in range(4):
        at = start + number * second // 20
        head = {'header__stamp': stamp(at)}
        raw = message(
            'sensor_msgs/msg/Image', height=6, width=8, step=24, encoding='rgb8',
            data=pixels.ravel(), **head,
        )  # fmt: skip
        packed = [
            message('sensor_msgs/msg/CompressedImage', format=name, data=data.ravel(), **head)
            for name, data in (('jpeg', jpeg), ('png', png))
        ]
        found.append(('/camera/image_raw', at, raw))
        found.append(('/front/compressed', at, packed[0]))
        found.append(('/wrist/compressed', at, packed[1]))
    return found


def _meshes(folder: Path) -> None:
    corners = np.array([[0, 0, 0], [0.1, 0, 0], [0, 0.1, 0], [0, 0, 0.1]], np.float32)
    faces = ((0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3))
    binary = bytes(80) + struct.pack('<I', len(faces))
    for face in faces:
        binary += bytes(12) + corners[list(face)].tobytes() + bytes(2)
    (folder / 'shape.stl').write_bytes(binary)
    import trimesh

    mesh = trimesh.Trimesh(corners, faces)
    for kind in ('obj', 'ply', 'stl_ascii'):
        content = mesh.export(file_type=kind)
        data = content.encode() if isinstance(content, str) else content
        (folder / f'tetrahedron.{kind.removesuffix("_ascii")}').write_bytes(data)


def _urdf_with_mesh(path: Path) -> None:
    path.write_text(
        '<robot name="r"><link name="a"><inertial><mass value="1"/><inertia ixx="1" ixy="0" '
        'ixz="0" iyy="1" iyz="0" izz="1"/></inertial></link><link name="b"><collision><origin '
        'xyz="0 0 0" rpy="0 0 0"/><geometry><mesh filename="shape.stl" scale="1 1 1"/></geometry>'
        '</collision><inertial><mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" '
        'izz="1"/></inertial></link>'
        '<joint name="j" type="revolute"><parent link="a"/><child link="b"/>'
        '<axis xyz="0 0 1"/><limit lower="-1" upper="1" velocity="1" effort="1"/></joint></robot>'
    )
