# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Requests and answers of a service by rcl's public C functions (rcl/service.h).

The middleware waits up to 0.1 s with an answer to a client whose reader it has not met yet, and for
a client that asks for another quality of service it never meets one. rclpy keeps the interpreter's
lock meanwhile, so that every thread of the process stands still; these calls release it.
"""

from __future__ import annotations

import ctypes
from typing import Any, NamedTuple

from frame_ros.nodes.runtime.publisher_identity import GID_SIZE, OK


class RequestId(ctypes.Structure):
    """rmw_request_id_t: who asked, and its number."""

    _fields_ = (('writer', ctypes.c_uint8 * GID_SIZE), ('number', ctypes.c_int64))


class _Conversion(NamedTuple):
    """Functions of rosidl_generator_py for a message: of its C struct, and conversions."""

    create: Any
    destroy: Any
    to_python: Any
    from_python: Any


def _load() -> Any:
    """Returns what takes, what sends, and what forgets an error; None where they are missing."""
    try:
        locked, unlocked = ctypes.PyDLL('librcl.so'), ctypes.CDLL('librcl.so')
        take, send = locked.rcl_take_request, unlocked.rcl_send_response
        forget, forget.argtypes = locked.rcutils_reset_error, ()
    except (OSError, AttributeError):
        return None
    pointer = ctypes.c_void_p
    take.argtypes = send.argtypes = (pointer, ctypes.POINTER(RequestId), pointer)
    return take, send, forget


_CALLS = _load()


class ServiceCalls:
    """Takes requests of a service type and sends answers.

    Raises:
        AttributeError: the type, or rcl, has not got what is needed.
    """

    def __init__(self, service_type: Any) -> None:
        if _CALLS is None:
            raise AttributeError('rcl_take_request')
        self._take, self._send, self._forget_error = _CALLS
        self._request = _conversion(service_type.Request)
        self._response = _conversion(service_type.Response)

    def take(self, service: int) -> tuple[Any, RequestId] | None:
        """The next request, and whose; None if there is none. service: pointer to an rcl_service_t
        that lives.
        """
        identity, request = RequestId(), self._request.create()
        try:
            if self._take(service, identity, request) != OK:
                self._forget_error()
                return None
            return self._request.to_python(request), identity
        finally:
            self._request.destroy(request)

    def send(self, service: int, identity: RequestId, response: Any) -> bool:
        """Returns whether the answer could be sent; other threads run while it waits."""
        answer = self._response.create()
        try:
            self._response.from_python(response, answer)
            is_sent: bool = self._send(service, identity, answer) == OK
            if not is_sent:
                self._forget_error()
            return is_sent
        finally:
            self._response.destroy(answer)


def _conversion(message_type: Any) -> _Conversion:
    message_type.__class__.__import_type_support__()
    kind, pointer, python = ctypes.PYFUNCTYPE, ctypes.c_void_p, ctypes.py_object
    return _Conversion(
        kind(pointer)(_address(message_type._CREATE_ROS_MESSAGE)),
        kind(None, pointer)(_address(message_type._DESTROY_ROS_MESSAGE)),
        kind(python, pointer)(_address(message_type._CONVERT_TO_PY)),
        kind(ctypes.c_bool, python, pointer)(_address(message_type._CONVERT_FROM_PY)),
    )


def _address(capsule: Any) -> int:
    get = ctypes.pythonapi.PyCapsule_GetPointer
    get.argtypes, get.restype = (ctypes.py_object, ctypes.c_char_p), ctypes.c_void_p
    return int(get(capsule, None))
