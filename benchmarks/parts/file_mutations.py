# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Damage to valid files, by chance and on purpose: bits, cuts, splices; and, in the words of each
format, lengths, counts, nesting, types and values that nobody writes."""

from __future__ import annotations

import json
import random
import sqlite3
import struct
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import yaml

EXTREMES = (0, 1, 2**7, 2**15, 2**31 - 1, 2**31, 2**32 - 1, 2**63 - 1, 2**63, 2**64 - 1)
VALUES = (
    None, True, 0, -1, 1, 2**31, 2**63, -(2**70), 1e308, -0.0, 1e-320, float('nan'), float('inf'),
    '', 'x', '/', '../../../etc/passwd', '\x00', '\ud800', 'ü' * 50, 'a' * 5000, '1', 'nan', [], {},
    [[]], {'a': {'b': []}}, [1, 2, 3], ['a', None], {'1': 2}, '2001-01-01', '%s%n', '{{7*7}}',
)  # fmt: skip
NUMBERS = (
    '', 'nan', 'inf', '-inf', '1e308', '-1e308', '1e-320', '0', '-1', 'x', '1 2', '0 0 0', '1,2,3',
    '9' * 400, '1_0', '0 0 nan', '1e300 1e300 1e300', '--1', '1 0 0', '0x10',
)  # fmt: skip
Change = Callable[[random.Random, bytes, bytes], bytes]


def _place(rng: random.Random, data: bytes) -> int:
    return rng.randrange(len(data) + 1)


def flip(rng: random.Random, data: bytes, other: bytes) -> bytes:
    changed = bytearray(data)
    for _ in range(rng.choice((1, 1, 2, 4, 16, 64))):
        if changed:
            changed[rng.randrange(len(changed))] ^= 1 << rng.randrange(8)
    return bytes(changed)


def cut(rng: random.Random, data: bytes, other: bytes) -> bytes:
    return data[: _place(rng, data)]


def splice(rng: random.Random, data: bytes, other: bytes) -> bytes:
    start, at = _place(rng, other), _place(rng, data)
    piece = other[start : start + rng.choice((1, 8, 64, 1000, 20_000))]
    return data[:at] + piece + data[at + rng.choice((0, len(piece))) :]


def remove(rng: random.Random, data: bytes, other: bytes) -> bytes:
    at = _place(rng, data)
    return data[:at] + data[at + rng.choice((1, 4, 9, 100, 5000)) :]


def repeat(rng: random.Random, data: bytes, other: bytes) -> bytes:
    at = _place(rng, data)
    piece = data[at : at + rng.choice((1, 8, 100, 1000))]
    return data[:at] + piece * rng.choice((2, 10, 200)) + data[at:]


def extreme(rng: random.Random, data: bytes, other: bytes) -> bytes:
    changed = bytearray(data)
    for _ in range(rng.choice((1, 1, 3))):
        code = rng.choice('BHIQ')
        value = rng.choice(EXTREMES) % (1 << 8 * struct.calcsize(code))
        at = _place(rng, data)
        changed[at : at + struct.calcsize(code)] = struct.pack('<' + code, value)
    return bytes(changed)


GENERIC: tuple[Change, ...] = (flip, flip, cut, splice, remove, repeat, extreme)

# -- MCAP ------------------------------------------------------------------------------

MAGIC = b'\x89MCAP0\r\n'
DEFINITIONS = (
    'float64[1000000000] x', 'T t', 'p/T t', 'string<=5 x', 'int8[<=3] x', 'A a\n' + '=' * 80
    + '\nMSG: p/A\nT t', 'float64', 'int8 X=5', '', 'wstring x', 'int8 a\n' * 3000, '=' * 80,
    'std_msgs/Header header\n' + 'int8[] ' * 50, '#' * 9000, 'A[100000] a\n' + '=' * 80
    + '\nMSG: p/A\nint8[100000] b', 'string[] x\nstring[4000000000] y', 'int8 x "',
)  # fmt: skip


def _records(data: bytes) -> list[tuple[int, bytes]]:
    at, found = 0, []
    while at + 9 <= len(data):
        opcode, length = struct.unpack_from('<BQ', data, at)
        if at + 9 + length > len(data):
            break
        found.append((opcode, data[at + 9 : at + 9 + length]))
        at += 9 + length
    return found


def _packed(records: list[tuple[int, bytes]]) -> bytes:
    return b''.join(struct.pack('<BQ', opcode, len(body)) + body for opcode, body in records)


def _text(text: str) -> bytes:
    data = text.encode('utf-8', 'surrogatepass')
    return struct.pack('<I', len(data)) + data


def _change_records(rng: random.Random, records: list[tuple[int, bytes]]) -> None:
    """Changes records in place: order, number, content, definitions, lengths."""
    at = rng.randrange(len(records))
    opcode, body = records[at]
    what = rng.randrange(7)
    if what == 0:
        records.pop(at)
    elif what == 1:
        records.insert(rng.randrange(len(records)), records[at])
    elif what == 2:
        records[at] = (rng.choice((0, 3, 4, 5, 6, 7, 8, 12, 15, 200)), body)
    elif what == 3:
        schemas = [i for i, (code, _) in enumerate(records) if code == 3]
        if schemas:
            at = rng.choice(schemas)
            identity = records[at][1][:2]
            size = struct.unpack_from('<I', records[at][1], 2)[0]
            name = records[at][1][6 : 6 + size].decode('utf-8', 'replace')
            text = rng.choice(DEFINITIONS)
            records[at] = (3, identity + _text(name) + _text('ros2msg') + _text(text))
    else:
        messages = [i for i, (code, _) in enumerate(records) if code == 5] or [at]
        at = rng.choice(messages)
        body = records[at][1]
        change = rng.choice(GENERIC)
        records[at] = (records[at][0], body[:22] + change(rng, body[22:], body))


def mcap_records(rng: random.Random, data: bytes, other: bytes) -> bytes:
    """Changes records of the file, or of one of its chunks that is not compressed."""
    records = _records(data[len(MAGIC) :])
    if not records:
        return flip(rng, data, other)
    chunks = [i for i, (code, _) in enumerate(records) if code == 6]
    for _ in range(rng.choice((1, 1, 2, 5))):
        if chunks and rng.random() < 0.7:
            _change_chunk(rng, records, rng.choice(chunks))
        else:
            _change_records(rng, records)
            chunks = []
    return MAGIC + _packed(records) + MAGIC


def _change_chunk(rng: random.Random, records: list[tuple[int, bytes]], at: int) -> None:
    body = records[at][1]
    size = struct.unpack_from('<I', body, 28)[0]
    head = body[: 32 + size]
    content = body[40 + size :]
    if size or rng.random() < 0.3:
        # Compressed: what it declares of itself, or what is compressed.
        changed = bytearray(head)
        struct.pack_into('<Q', changed, 16, rng.choice(EXTREMES))
        if rng.random() < 0.5:
            content = rng.choice(GENERIC)(rng, content, content)
        head = bytes(changed) if rng.random() < 0.7 else head
    elif inner := _records(content):
        _change_records(rng, inner)
        content = _packed(inner)
    records[at] = (6, head + struct.pack('<Q', len(content)) + content)


# -- SQLite ----------------------------------------------------------------------------


def database(rng: random.Random, data: bytes, other: bytes, folder: Path) -> bytes:
    """Changes rows, types and tables through SQL."""
    path = folder / 'changed.db3'
    path.write_bytes(data)
    with closing(sqlite3.connect(path)) as connection:
        for _ in range(rng.choice((1, 1, 2, 4))):
            with suppress(sqlite3.Error, OverflowError, UnicodeEncodeError):
                _change_database(rng, connection)
        connection.commit()
    return path.read_bytes()


def _change_database(rng: random.Random, connection: sqlite3.Connection) -> None:
    tables = [row[0] for row in connection.execute('SELECT name FROM sqlite_master')]
    table = rng.choice(tables)
    columns = [row[1] for row in connection.execute(f'PRAGMA table_info({table})')]
    values = (None, -1, 2**62, 'x', b'\x00' * 3, 1.5, '', b'\xff' * 1000, *DEFINITIONS[:6])
    what = rng.randrange(6)
    if what == 0:
        rows = connection.execute('SELECT id, data FROM messages').fetchall()
        for identity, blob in rng.sample(rows, min(len(rows), rng.choice((1, 5, 50)))):
            damaged = rng.choice(GENERIC)(rng, blob, rows[0][1])
            connection.execute('UPDATE messages SET data = ? WHERE id = ?', (damaged, identity))
    elif what == 1:
        text = rng.choice(DEFINITIONS)
        connection.execute('UPDATE message_definitions SET encoded_message_definition = ?', (text,))
    elif what == 2 and rng.random() < 0.3:
        connection.execute(f'DROP TABLE {table}')
    elif columns:
        column = rng.choice(columns)
        where = '' if rng.random() < 0.3 else f' WHERE rowid % 5 = {rng.randrange(5)}'
        connection.execute(f'UPDATE {table} SET {column} = ?{where}', (rng.choice(values),))


# -- YAML and JSON ---------------------------------------------------------------------

BOMBS = (
    '[' * 20_000, '{"a":' * 5000, '- ' * 5000, '? ' * 3000, '&a [*a]', '&a {b: *a}', '{<<: *x}',
    'a: &a [x,x,x,x,x,x,x,x,x]\n' + ''.join(
        f'{n}: &{n} [{",".join(9 * ["*" + b])}]\n' for b, n in zip('abcdefgh', 'bcdefghi')
    ), 'a: ' + '1:' * 5000 + '1', 'a: ' + '9' * 9000, 'a: !!int x', 'a: 2001-99-99', '!!set {a, a}',
    'a: !!binary "#"', '{a: 1, a: 2}', '? [1]\n: 2', 'a: !!python/object:os.system {}', '%YAML 9.9',
    '--- a\n--- b', '"' + 'x' * 100_000, 'a: |\n' + ' b\n' * 5000, '{' + 'a: 1, ' * 5000 + '}',
)  # fmt: skip


def _change_tree(rng: random.Random, tree: Any) -> Any:
    """The tree with one node of it changed."""
    if not isinstance(tree, (dict, list)) or not tree or rng.random() < 0.15:
        return rng.choice(VALUES)
    keys = list(tree) if isinstance(tree, dict) else list(range(len(tree)))
    key = rng.choice(keys)
    what = rng.random()
    if what < 0.12:
        del tree[key]
    elif what < 0.22 and isinstance(tree, dict):
        tree[rng.choice((*VALUES[:4], 'x', 5, *keys))] = tree.pop(key)
    elif what < 0.3 and isinstance(tree, list):
        tree.extend([tree[key]] * rng.choice((1, 100)))
    else:
        tree[key] = _change_tree(rng, tree[key])
    return tree


def yaml_tree(rng: random.Random, data: bytes, other: bytes) -> bytes:
    tree = yaml.safe_load(data)
    for _ in range(rng.choice((1, 1, 2, 5))):
        tree = _change_tree(rng, tree)
    return yaml.safe_dump(tree, allow_unicode=rng.random() < 0.5).encode('utf-8', 'replace')


def json_tree(rng: random.Random, data: bytes, other: bytes) -> bytes:
    tree = json.loads(data)
    for _ in range(rng.choice((1, 1, 2, 5))):
        tree = _change_tree(rng, tree)
    return json.dumps(tree, default=str).encode('utf-8', 'replace')


def bomb(rng: random.Random, data: bytes, other: bytes) -> bytes:
    """Puts one of the texts that blow up somewhere, or in place of all."""
    text = rng.choice(BOMBS).encode()
    lines = data.split(b'\n')
    at = rng.randrange(len(lines))
    kinds = (
        lambda: text,
        lambda: b'\n'.join([*lines[:at], text, *lines[at:]]),
        lambda: b'\n'.join(
            [*lines[:at], lines[at].split(b':')[0] + b': ' + text, *lines[at + 1 :]]
        ),
    )
    return rng.choice(kinds)()


# -- URDF ------------------------------------------------------------------------------


def _element(rng: random.Random, root: Any) -> tuple[Any, Any]:
    pairs = [(parent, child) for parent in root.iter() for child in parent]
    return rng.choice(pairs) if pairs else (root, root)


def urdf_tree(rng: random.Random, data: bytes, other: bytes) -> bytes:
    """Changes elements, names, numbers and the tree of a robot."""
    root = ElementTree.fromstring(data)
    for _ in range(rng.choice((1, 1, 2, 4, 8))):
        parent, child = _element(rng, root)
        what = rng.randrange(6)
        if what == 0:
            with suppress(ValueError):
                parent.remove(child)
        elif what == 1:
            parent.append(child)
        elif what == 2:
            child.tag = rng.choice(('link', 'joint', 'limit', 'axis', 'mesh', 'mimic', 'box', 'x'))
        elif child.attrib:
            name = rng.choice(list(child.attrib))
            same = [e.get(name) for e in root.iter(child.tag) if e.get(name)]
            child.set(name, rng.choice((rng.choice(NUMBERS), rng.choice(same or ['x']))))
    return ElementTree.tostring(root)


def urdf_bomb(rng: random.Random, data: bytes, other: bytes) -> bytes:
    """A chain without end, a ring, entities, or nesting."""
    count = rng.choice((50, 1000, 3000, 20_000))
    links = ''.join(f'<link name="x{i}"/>' for i in range(count))
    joint = '<joint name="y{0}" type="{3}"><parent link="x{1}"/><child link="x{2}"/></joint>'
    kind = rng.choice(('revolute', 'fixed'))
    chain = ''.join(joint.format(i, i, i + 1, kind) for i in range(count - 1))
    ring = joint.format('r', count - 1, 1, kind) if rng.random() < 0.3 else ''
    entities = '<!DOCTYPE r [<!ENTITY a "aaaaaaaaaa">' + ''.join(
        f'<!ENTITY {n} "{10 * f"&{b};"}">' for b, n in zip('abcdefgh', 'bcdefghi')
    )
    kinds = (
        f'<robot name="r">{links}{chain}{ring}</robot>',
        f'{entities}]><robot name="&i;"><link name="a"/></robot>',
        '<a>' * 50_000,
        '<robot name="r">' + '<link name="a">' * 5000 + '</link>' * 5000 + '</robot>',
        f'<robot name="r">{links}</robot>',
    )
    return rng.choice(kinds).encode()
