# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Identity of a message's publisher: its GID, which every message carries and rclpy leaves out.

rcl's public C functions give it (rcl/subscription.h, rcl/publisher.h, rmw/types.h, since ROS 2
Iron), taken from the library that rclpy has loaded. Where they are missing, the identity of all is
UNKNOWN. On Fast DDS a GID is that of the graph's endpoints, whose node can be named.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

from rclpy.node import Node

UNKNOWN = b''
GID_SIZE = 16  # bytes, RMW_GID_STORAGE_SIZE
OK = 0
MOST_KNOWN = 1000
# rmw's name of a node that the graph knows by its publishers alone, as just after its start.
NAMELESS = '_NODE_NAME_UNKNOWN_'
STARTING = 'a node whose name is not known yet'


class _Gid(ctypes.Structure):
    _fields_ = (('implementation', ctypes.c_void_p), ('data', ctypes.c_uint8 * GID_SIZE))


class _Info(ctypes.Structure):
    """rmw_message_info_t, with room for what a later one may append."""

    _fields_ = (
        ('source_timestamp', ctypes.c_int64),
        ('received_timestamp', ctypes.c_int64),
        ('publication_sequence_number', ctypes.c_uint64),
        ('reception_sequence_number', ctypes.c_uint64),
        ('publisher', _Gid),
        ('rest', ctypes.c_uint8 * 128),
    )


class _Allocator(ctypes.Structure):
    """rcutils_allocator_t: four functions and their state."""

    _fields_ = tuple((name, ctypes.c_void_p) for name in ('a', 'b', 'c', 'd', 'state'))


class _Buffer(ctypes.Structure):
    """rcutils_uint8_array_t."""

    _fields_ = (
        ('data', ctypes.c_void_p),
        ('length', ctypes.c_size_t),
        ('capacity', ctypes.c_size_t),
        ('allocator', _Allocator),
    )


def _load() -> Any:
    """The library, or None where it has not got what is needed. Calls keep the interpreter's lock,
    as rclpy's own do."""
    try:
        library = ctypes.PyDLL('librcl.so')
        take, handle = library.rcl_take_serialized_message, library.rcl_publisher_get_rmw_handle
        gid, allocator = library.rmw_get_gid_for_publisher, library.rcutils_get_default_allocator
        free, library.rcutils_reset_error.argtypes = library.rcutils_uint8_array_fini, ()
    except (OSError, AttributeError):
        return None
    pointer = ctypes.c_void_p
    take.argtypes = (pointer, ctypes.POINTER(_Buffer), ctypes.POINTER(_Info), pointer)
    handle.argtypes, handle.restype = (pointer,), pointer
    gid.argtypes = (pointer, ctypes.POINTER(_Gid))
    allocator.argtypes, allocator.restype = (), _Allocator
    free.argtypes = (ctypes.POINTER(_Buffer),)
    return library


_RCL = _load()
CAN_IDENTIFY = _RCL is not None


class IdentifyingTake:
    """Takes serialised messages from a subscription, with their publisher."""

    def __init__(self) -> None:
        self._buffer = _Buffer(allocator=_RCL.rcutils_get_default_allocator())
        self._info = _Info()
        self._take = _RCL.rcl_take_serialized_message

    def take(self, pointer: int) -> tuple[bytes, dict[str, Any]] | None:
        """The next message and its info, as rclpy gives it, and `publisher`, its GID; None if there
        is none. pointer: of an rcl_subscription_t that lives.
        """
        buffer, info = self._buffer, self._info
        if self._take(pointer, buffer, info, None) != OK:
            _RCL.rcutils_reset_error()
            return None
        return ctypes.string_at(buffer.data, buffer.length), {
            'source_timestamp': info.source_timestamp,
            'received_timestamp': info.received_timestamp,
            'publication_sequence_number': info.publication_sequence_number,
            'publisher': bytes(info.publisher.data),
        }

    def close(self) -> None:
        """Frees the buffer."""
        _RCL.rcutils_uint8_array_fini(self._buffer)


def identity_of(publisher: Any) -> bytes:
    """The GID of a publisher of this process, by which subscriptions know its messages."""
    if _RCL is None:
        return UNKNOWN
    gid, handle = _Gid(), publisher.handle
    with handle:
        if _RCL.rmw_get_gid_for_publisher(_RCL.rcl_publisher_get_rmw_handle(handle.pointer), gid):
            _RCL.rcutils_reset_error()
            return UNKNOWN
    return bytes(gid.data)


def node_of(info: Any) -> str:
    """The absolute name of the node of an endpoint, rclpy's TopicEndpointInfo; STARTING as long as
    the graph has none.
    """
    if info.node_name == NAMELESS:
        return STARTING
    return f'{info.node_namespace.rstrip("/")}/{info.node_name}'


class Publisher:
    """A publisher of a topic: equal if its GID is; in words the full name of its node."""

    def __init__(self, gid: bytes, find_name: Callable[[], str]) -> None:
        self.gid, self._find_name, self._name = gid, find_name, ''

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Publisher) and other.gid == self.gid

    def __hash__(self) -> int:
        return hash(self.gid)

    def __str__(self) -> str:
        self._name = self._name or self._find_name()
        return self._name or f'a node not in the graph (publisher {self.gid.hex() or "unknown"})'


class Publishers:
    """The publishers of a node's inputs, by their GIDs."""

    def __init__(self, node: Node) -> None:
        self._node = node
        self._known: dict[tuple[str, bytes], Publisher] = {}

    def named(self, topic: str, gid: bytes) -> Publisher:
        """The publisher of `topic` with this GID."""
        key = topic, gid
        publisher = self._known.get(key)
        if publisher is None:
            if len(self._known) >= MOST_KNOWN:
                self._known.clear()
            publisher = self._known[key] = Publisher(gid, lambda: self._name(topic, gid))
        return publisher

    def _name(self, topic: str, gid: bytes) -> str:
        node = self._node
        for info in node.get_publishers_info_by_topic(node.resolve_topic_name(topic)):
            if bytes(info.endpoint_gid)[:GID_SIZE] == gid and info.node_name != NAMELESS:
                return node_of(info)
        return ''
