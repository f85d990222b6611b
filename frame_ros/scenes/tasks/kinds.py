# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The four tasks of VLATest: their instructions and steps."""

from __future__ import annotations

from dataclasses import dataclass

from frame_ros.core.errors import ValueRangeError
from frame_ros.core.options import nearest


@dataclass(frozen=True)
class TaskKind:
    """A kind of task.

    Attributes:
        name: in scene files.
        text: what is asked for.
        template: the standard instruction, of the target and the receptacle (paper, section 4.4).
        steps: in the order of the paper's table 2.
        vlatest: its name in the names of VLATest's scene files.
    """

    name: str
    text: str
    template: str
    steps: tuple[str, str, str]
    vlatest: str

    @property
    def has_receptacle(self) -> bool:
        """True if something is brought to something else."""
        return '{receptacle}' in self.template


TASKS = {
    task.name: task
    for task in (
        TaskKind(
            'pick_up', 'lift the target', 'pick up {target}', ('grasp', 'lift', 'success'), 'grasp'
        ),
        TaskKind(
            'move_near', 'move the target close to the receptacle',
            'move {target} near {receptacle}', ('grasp', 'move', 'success'), 'move',
        ),
        TaskKind(
            'put_on', 'put the target on top of the receptacle', 'put {target} on {receptacle}',
            ('grasp', 'move', 'success'), 'put-on',
        ),
        TaskKind(
            'put_in', 'put the target into the receptacle', 'put {target} into {receptacle}',
            ('grasp', 'move', 'success'), 'put-in',
        ),
    )
}  # fmt: skip


def task_kind(name: str) -> TaskKind:
    """The task of that name.

    Raises:
        ValueRangeError: there is none.
    """
    if name not in TASKS:
        near = nearest(name, TASKS)
        hint = f'; did you mean {near}?' if near else ''
        raise ValueRangeError(f'kind is {name!r}; it must be one of {", ".join(TASKS)}{hint}')
    return TASKS[name]
