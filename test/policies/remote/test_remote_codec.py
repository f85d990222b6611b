# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Messages as bytes: OpenPI's framing to the byte, and nothing that comes in does any harm."""

from __future__ import annotations

import pickle

import hypothesis.extra.numpy as arrays
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip('msgpack')
import msgpack

from frame_ros.core.errors import PolicyError
from frame_ros.policies.remote.codec import LARGE, Encoder, decode, encode
from frame_ros.policies.remote.messages import (
    ServerDescription,
    message_to_answer,
    message_to_observation,
    read_request,
)
from frame_ros.policies.remote.unpacking import Unpacker

MESSAGE = {
    'images': {'front': np.arange(36, dtype=np.uint8).reshape(3, 4, 3)},
    'state': np.linspace(0, 1, 6),
    'turned': np.arange(12.0).reshape(3, 4).T,
    'empty': np.zeros((0, 3), np.float32),
    'scalar': np.array(2.5),
    'number': np.float32(0.1),
    'big endian': np.arange(3, dtype='>i2'),
    'truths': np.array([True, False]),
    'texts': np.array(['a', 'bcd']),
    'plain': [1, 2.5, None, 'text', b'bytes', True],
}

dtypes = st.one_of(
    arrays.boolean_dtypes(),
    arrays.integer_dtypes(),
    arrays.unsigned_integer_dtypes(),
    arrays.floating_dtypes(),
)
leaves = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**63), 2**64 - 1),
    st.floats(),
    st.text(max_size=20),
    st.binary(max_size=20),
    arrays.arrays(dtypes, arrays.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=4)),
)
messages = st.recursive(
    leaves,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=8,
)
# Maps that look like arrays, with anything in their fields.
forged = st.fixed_dictionaries(
    {},
    optional={
        b'__ndarray__': leaves,
        b'__npgeneric__': leaves,
        b'data': leaves,
        b'dtype': st.one_of(
            leaves, st.sampled_from(['<f8', '|u1', '|O', '<U4', 'f8,i4', '<M8[s]'])
        ),
        b'shape': st.one_of(leaves, st.lists(st.integers(-2, 2**62), max_size=70)),
    },
)


def assert_same(a, b) -> None:
    """With NaN equal to NaN, and tuples to lists."""
    if isinstance(a, np.ndarray | np.generic):
        assert a.dtype == b.dtype and np.shape(a) == np.shape(b)
        assert np.asarray(a).tobytes() == np.asarray(b).tobytes()
    elif isinstance(a, dict):
        assert list(a) == list(b)
        for key in a:
            assert_same(a[key], b[key])
    elif isinstance(a, list | tuple):
        assert len(a) == len(b)
        for one, other in zip(a, b, strict=True):
            assert_same(one, other)
    else:
        assert a == b or (a != a and b != b)


def test_the_bytes_are_those_of_openpi():
    theirs = pytest.importorskip('openpi_client.msgpack_numpy')
    assert encode(MESSAGE) == theirs.packb(MESSAGE)
    assert_same(theirs.unpackb(encode(MESSAGE)), MESSAGE)
    assert_same(decode(theirs.packb(MESSAGE)), MESSAGE)


@settings(max_examples=40)
@given(messages)
def test_what_is_encoded_comes_back(message):
    assert_same(message, decode(encode(message)))


@settings(max_examples=20)
@given(messages)
def test_large_messages_are_read_by_our_own_reader_to_the_same(message):
    image = np.zeros((256, 256), np.uint8)
    sent = {'message': message, 'image': image, 'bytes': bytes(LARGE), 'wide': np.ones(9000)}
    assert_same(sent, decode(encode(sent)))
    assert_same(sent, decode(bytearray(encode(sent))))
    assert Unpacker(memoryview(msgpack.packb([1, -1, 'ä' * 300, None])), dict).unpack() == [
        1, -1, 'ä' * 300, None,
    ]  # fmt: skip


def test_an_encoder_goes_on_while_somebody_holds_what_it_made():
    encoder = Encoder()
    held = encoder.encode({'a': 1})
    assert bytes(encoder.encode({'a': 2})) == encode({'a': 2})
    assert bytes(held) == encode({'a': 1})


def test_decoded_arrays_are_views_of_what_came():
    image = decode(encode(MESSAGE))['images']['front']
    assert not image.flags.writeable and not image.flags.owndata


def test_an_encoder_is_used_again():
    encoder = Encoder()
    for value in (MESSAGE, {'a': 1}, MESSAGE):
        assert bytes(encoder.encode(value)) == encode(value)
        with pytest.raises(PolicyError):
            encoder.encode({'a': object()})


@pytest.mark.parametrize(
    'value',
    [
        np.array([object()]),
        np.array([1 + 2j]),
        np.zeros(2, [('a', float)]),
        np.array(['2026-01-01'], 'M8[D]'),
        object(),
        {1, 2},
        2**70,
    ],
)
def test_what_may_not_be_sent(value):
    with pytest.raises(PolicyError, match='cannot be encoded'):
        encode({'value': value})


def test_too_large_messages_are_refused_on_both_sides():
    with pytest.raises(PolicyError, match='at most 1000 are allowed'):
        encode(np.zeros(1000), max_size=1000)
    with pytest.raises(PolicyError, match='at most 1000 are allowed'):
        decode(encode(np.zeros(1000)), max_size=1000)


READERS = (
    read_request,
    lambda message: message_to_observation(message, 0),
    message_to_answer,
    ServerDescription.from_message,
)


def read_all(data: bytes) -> None:
    """Decodes and reads it in every way; all that may be raised is PolicyError."""
    try:
        message = decode(data)
    except PolicyError:
        return
    for read in READERS:
        for candidate in (message, {'frame_ros': message}, {'actions': message, 'state': message}):
            try:
                read(candidate)
            except PolicyError:
                pass


@settings(max_examples=100)
@given(st.binary(max_size=200))
def test_garbage_raises_nothing_but_policy_errors(data):
    read_all(data)


@settings(max_examples=60)
@given(st.integers(0, 2000), st.integers(0, 255))
def test_damaged_messages_raise_nothing_but_policy_errors(place, value):
    data = bytearray(encode(MESSAGE))
    place %= len(data)
    read_all(bytes(data[:place]))
    data[place] = value
    read_all(bytes(data))


@settings(max_examples=60)
@given(
    st.one_of(forged, st.lists(forged, max_size=3), st.dictionaries(st.text(max_size=4), forged))
)
def test_forged_arrays_raise_nothing_but_policy_errors(message):
    read_all(msgpack.packb(message, default=str))


@pytest.mark.parametrize(
    'data',
    [
        b'',
        b'\x91' * 5000,
        b'\x81' * 5000,
        b'\xdd\xff\xff\xff\xff' * 3,
        b'\xd6\x05aaaa',
        pickle.dumps([1, 2]),
        msgpack.packb({b'__ndarray__': True, b'data': b'', b'dtype': '|O', b'shape': [0]}),
        msgpack.packb({b'__ndarray__': True, b'data': b'ab', b'dtype': '<f8', b'shape': [3]}),
        msgpack.packb({b'__ndarray__': True, b'data': b'', b'dtype': '<f8', b'shape': [0, 2**62]}),
        msgpack.packb({b'__ndarray__': True, b'data': b'a', b'dtype': '|u1', b'shape': [-1, -1]}),
        msgpack.packb({b'__npgeneric__': True, b'data': 300, b'dtype': '|u1'}),
        msgpack.packb({b'__npgeneric__': True, b'data': 10**9, b'dtype': '|S1'}),
        msgpack.packb(
            {b'__ndarray__': True, b'data': b'', b'dtype': '|u1', b'shape': [2**62] * 33}
        ),
        msgpack.packb(
            {b'__ndarray__': True, b'data': b'\0\0\x11\0', b'dtype': '<U1', b'shape': [1]}
        ),
        # Empty lists and maps, each of one byte and 60 in memory; and what nests in large messages.
        msgpack.packb([[[]] * 65536] * 16),
        msgpack.packb([{}] * 65536 + [bytes(LARGE)]),
        b'\x91' * LARGE,
        b'\x81\xa1a' * LARGE,
        b'\xc7\x01\x05a' + bytes(LARGE),
        msgpack.packb(bytes(LARGE)) + b'\xc0',
        msgpack.packb({'a': bytes(LARGE)})[:-1],
        msgpack.packb({1: bytes(LARGE)}),
        'text',
        None,
    ],
)
def test_known_attacks(data):
    with pytest.raises(PolicyError):
        decode(data)
