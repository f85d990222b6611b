# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Definitions of messages in bags that have none, as .db3 files up to ROS 2 Humble, of packages
that need not be installed: the form that the messages fit is taken.
"""

from __future__ import annotations

from frame_ros.bags.definitions import complete_text, find_definition, typestore_of
from frame_ros.core.errors import BagError

CONTROLLER_TYPE = 'control_msgs/msg/JointTrajectoryControllerState'
# Names of the points of its messages, as public .msg files of github.com/ros-controls/control_msgs
# have them: 5.0 (Iron), 4.4 (Humble), up to 4.3, where error was called so for each.
PRESENT = ('reference', 'feedback', 'error', 'output')
BOTH = (*PRESENT, 'desired', 'actual')
FORMER = ('desired', 'actual', 'error')


def _controller_state(points: tuple[str, ...], has_multi: bool = True, *last: str) -> str:
    kind = 'trajectory_msgs/{}JointTrajectoryPoint'.format
    lines = ['std_msgs/Header header', 'string[] joint_names']
    lines += [f'{kind("")} {point}' for point in points]
    if has_multi:
        lines.append('string[] multi_dof_joint_names')
        lines += [f'{kind("MultiDOF")} multi_dof_{point}' for point in points]
    return '\n'.join([*lines, *last, ''])


# Type -> its forms, those of the newest version first.
FORMS = {
    CONTROLLER_TYPE: (
        _controller_state(PRESENT, True, 'float64 speed_scaling_factor'),  # Jazzy, from 5.4 on
        _controller_state(PRESENT),  # Iron, and Jazzy before
        _controller_state(BOTH),  # Humble, from 4.4 on
        _controller_state(FORMER),  # Humble before
        _controller_state(FORMER, False),  # Foxy and Galactic
    )
}


def fitting_definition(message_type: str, message: bytes | None) -> str:
    """Returns the text of a type's definition: the installed one, or, of a type with several forms,
    the first that a message fits. message: serialised; None: there is none.

    Raises:
        BagError: no definition is known, or none of the forms fits.
    """
    if message_type not in FORMS:
        return find_definition(message_type).text
    known = [complete_text(message_type, text) for text in FORMS[message_type]]
    try:
        known.insert(0, find_definition(message_type).text)
    except BagError:
        pass  # it is not installed
    for text in known:
        if message is None or _fits(message_type, text, message):
            return text
    raise BagError(
        f'no definition of {message_type} that its messages fit is known; source the workspace '
        'that has it'
    )


def _fits(message_type: str, text: str, message: bytes) -> bool:
    try:
        typestore_of(message_type, text).deserialize_cdr(memoryview(message), message_type)
    except Exception:  # rosbags' generated code raises whatever the bytes lead it to
        return False
    return True
