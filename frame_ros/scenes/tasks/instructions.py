# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Other words for the tasks' instructions: a reviewed list, and scenes with them.

VLATest (section 5.6) asked a language model for 10 mutations of each standard instruction that mean
the same, had two people check each, and ran every scene again with one of them at random. These are
written for this package, and each was read against its task: same object, same place, nothing more.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from string import Formatter

import attrs
import numpy as np

from frame_ros.core.errors import ValueRangeError
from frame_ros.scenes.description.scene import Scene
from frame_ros.scenes.tasks.kinds import TASKS

COUNT = 10  # of each task, VLATest, section 5.6
MUTATIONS: Mapping[str, tuple[str, ...]] = {
    'pick_up': (
        'lift {target}',
        'grab {target} and lift it',
        'take {target} off the table',
        'raise {target} from the table',
        'grasp {target} and pick it up',
        'please pick {target} up',
        'get hold of {target} and raise it',
        'can you pick up {target}?',
        'take hold of {target}, then lift it up',
        'hoist {target} into the air',
    ),
    'move_near': (
        'place {target} near {receptacle}',
        'bring {target} close to {receptacle}',
        'put {target} next to {receptacle}',
        'shift {target} so that it is near {receptacle}',
        'take {target} and set it down close to {receptacle}',
        'please move {target} to a place near {receptacle}',
        'position {target} by {receptacle}',
        'carry {target} over to {receptacle}',
        'can you move {target} closer to {receptacle}, right by it?',
        'near {receptacle} is where {target} should be moved',
    ),
    'put_on': (
        'place {target} on top of {receptacle}',
        'set {target} on {receptacle}',
        'stack {target} on {receptacle}',
        'lay {target} onto {receptacle}',
        'pick up {target} and put it on {receptacle}',
        'please place {target} on {receptacle}',
        'rest {target} on top of {receptacle}',
        'take {target} and set it down on {receptacle}',
        'can you put {target} on top of {receptacle}?',
        'on {receptacle} is where {target} should be put',
    ),
    'put_in': (
        'place {target} in {receptacle}',
        'drop {target} into {receptacle}',
        'set {target} inside {receptacle}',
        'pick up {target} and put it in {receptacle}',
        'take {target} and place it inside {receptacle}',
        'please put {target} into {receptacle}',
        'insert {target} into {receptacle}',
        'move {target} into {receptacle}',
        'can you put {target} inside {receptacle}?',
        'into {receptacle} is where {target} should go',
    ),
}


SEPARATOR = '.instruction_'  # in the name of a scene, before the number of its mutation
INSTRUCTION = 'instruction'  # the mutation, in results of trials


@attrs.frozen
class MutatedScene:
    """A scene with another instruction.

    Attributes:
        scene: with a name of its own, and the seeds of the base.
        base: name of the scene that it differs from by the instruction only.
        mutation: name of what was changed, in results of trials.
    """

    scene: Scene
    base: str
    mutation: str = INSTRUCTION


def mutations_of(scene: Scene) -> tuple[str, ...]:
    """The reviewed mutations of a scene's instruction, with the words that it has for its objects.

    Raises:
        ValueRangeError: the scene's own instruction is not the standard one of its task, so that
            these words are not known.
    """
    words = _words(TASKS[scene.task.kind].template, scene.instruction or '')
    if words is None:
        raise ValueRangeError(
            f'the instruction of the scene {scene.name} is {scene.instruction!r}; of the reviewed '
            f'list it must be as {TASKS[scene.task.kind].template!r}'
        )
    return tuple(each.format(**words) for each in MUTATIONS[scene.task.kind])


def mutated_scenes(
    scenes: Sequence[Scene],
    source: Mapping[str, Sequence[str]] | None = None,
    count: int = 1,
    seed: int = 0,
) -> list[MutatedScene]:
    """The same scenes with other instructions, so that results of both can be paired.

    Args:
        source: instruction -> its confirmed rephrasings, as `load_rephrasings` reads them; None:
            the reviewed list.
        count: of each scene, drawn without repetition; 0: all. VLATest took 1.
        seed: of the draws.

    Raises:
        ValueRangeError: there are fewer for a scene, or none, or as `mutations_of`.
    """
    rng = np.random.default_rng(seed)
    found = []
    for scene in scenes:
        if source is None:
            texts: Sequence[str] = mutations_of(scene)
        else:
            texts = source.get(scene.instruction or '', ())
        if not texts or len(texts) < count:
            raise ValueRangeError(
                f'of {scene.instruction!r} there are {len(texts)} mutations; {max(count, 1)} are '
                'expected'
            )
        chosen = sorted(rng.permutation(len(texts))[: count or len(texts)].tolist())
        for index in chosen:
            name = f'{scene.name}{SEPARATOR}{index}'
            other = attrs.evolve(scene, name=name, instruction=texts[index])
            found.append(MutatedScene(other, scene.name))
    return found


def base_of(name: str) -> str:
    """The name of the scene that a scene of this name is a mutation of; '': of none."""
    base, separator, number = name.rpartition(SEPARATOR)
    return base if separator and number.isdigit() else ''


def wording_of(text: str, instruction: str, task: str) -> str:
    """Returns a text with the names of its roles in place of the words for objects, as far as these
    are known by the standard instruction of the same scene: 'lift <target>'.
    """
    words = _words(TASKS[task].template, instruction) or {}
    for role, name in sorted(words.items(), key=lambda each: -len(each[1])):
        text = text.replace(name, f'<{role}>')
    return text


def _words(template: str, text: str) -> dict[str, str] | None:
    """The words that stand in a text for the names of a template; None: it has another form."""
    pattern = ''.join(
        re.escape(fixed) + (f'(?P<{name}>.+)' if name else '')
        for fixed, name, _, _ in Formatter().parse(template)
    )
    found = re.fullmatch(pattern, text)
    return found.groupdict() if found else None
