# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The user's own policy: `module:Class`, or `file.py:Class`.

Its code is executed because the user names it, on the command line, in a launch argument or in a
parameter. No name of a policy is ever taken from a bag, a checkpoint or a message.
"""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import sys
import sysconfig
import traceback
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from numbers import Integral
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, TypeAlias

import frame_ros
from frame_ros.core.errors import FrameRosError, PolicyError

if TYPE_CHECKING:
    from frame_ros.policies.base import Policy

Builder: TypeAlias = 'Callable[..., Policy]'
METHODS = ('reset', 'infer')
ATTRIBUTES = ('name', 'checkpoint', 'cameras', 'poses')
PROTOCOL = (
    'a policy has the attributes name, checkpoint, cameras and poses, and the methods '
    'reset(seed=None) and infer(observation)'
)


def is_own_policy(spec: str) -> bool:
    """Returns whether `spec` is of the form module:Class or file.py:Class."""
    place, _, name = spec.rpartition(':')
    return bool(place.strip()) and name.isidentifier()


def is_file(place: str) -> bool:
    """Returns whether the part before the colon is a file, not a module."""
    return place.endswith('.py') or '/' in place


def with_absolute_file(spec: str) -> str:
    """Returns the same policy for a process with another working folder."""
    place, _, name = spec.rpartition(':')
    return f'{Path(place).expanduser().resolve()}:{name}' if is_file(place) else spec


def check_form(spec: str) -> None:
    """Checks the name alone and, of a file, that it exists; executes nothing.

    Raises:
        PolicyError: the class is not named, or the file is missing.
    """
    if spec.endswith('.py') or '.py:' in spec and not is_own_policy(spec):
        file = spec.partition('.py')[0]
        raise PolicyError(f'policy {spec!r} does not name a class; it must be {file}.py:CLASS')
    place = spec.rpartition(':')[0]
    if is_own_policy(spec) and is_file(place) and not Path(place).expanduser().is_file():
        raise PolicyError(
            f'there is no file {place!r} (policy {spec!r}); the folder now is {Path.cwd()}'
        )


def load_own_policy(spec: str) -> Builder:
    """Imports the module or file and returns the class, or the function that makes the policy.

    Raises:
        PolicyError: there is no such file, module or class, the import fails, or the class lacks
        a method of the protocol.
    """
    check_form(spec)
    place, _, name = spec.rpartition(':')
    if is_file(place):
        return builder_in(_import_file(Path(place).expanduser(), spec), name, spec)
    _extend_path(Path.cwd())  # as `python -m` does
    hint = f', nor in {Path.cwd()}; a file is named as FILE.py:CLASS'
    return builder_in(import_module(place, hint), name, spec)


def import_module(name: str, hint: str = '') -> ModuleType:
    """Imports a module of the user's. hint: what to say of one that is not found.

    Raises:
        PolicyError: there is none, or its code fails.
    """
    try:
        with reported(f'importing {name}'):
            return importlib.import_module(name)
    except PolicyError as error:
        lacking = getattr(error.__cause__, 'name', None)
        if lacking and f'{name}.'.startswith(f'{lacking}.'):
            raise PolicyError(
                f'there is no module {lacking!r} where {sys.executable} finds its packages{hint}'
            ) from error
        raise


def builder_in(module: ModuleType, name: str, spec: str) -> Builder:
    """Returns the class of that name in a module, or the function that makes the policy.

    Raises:
        PolicyError: there is none, or it is neither, or the class lacks a method of the protocol.
    """
    builder: Builder | None = getattr(module, name, None)
    if builder is None:
        raise PolicyError(f'{module.__name__} has no {name!r}; {_offers(module)}')
    if not callable(builder):
        raise PolicyError(
            f'{spec} is a {type(builder).__name__}; it must be the class of a policy, or a '
            'function that makes one'
        )
    if inspect.isclass(builder) and (lacking := _lacking_methods(builder)):
        raise PolicyError(f'the class {spec} has no {" and no ".join(lacking)}(); {PROTOCOL}')
    return builder


def _lacking_methods(policy: object) -> list[str]:
    """The methods of the protocol that a class or an object has not, or that are no functions."""
    from frame_ros.policies.base import Policy

    found = {name: getattr(policy, name, None) for name in METHODS}
    return [
        name
        for name, method in found.items()
        if not callable(method) or getattr(method, '__func__', method) is Policy.infer
    ]


@contextmanager
def reported(doing: str) -> Iterator[None]:
    """Makes a PolicyError of whatever the user's code raises, with its place."""
    try:
        yield
    except FrameRosError:
        raise
    except (Exception, SystemExit) as error:
        raise PolicyError(f'{doing} {raised_text(error)}') from error


def check_members(policy: object, spec: str) -> None:
    """Checks that a policy has all members of the protocol, and that they are of its kinds.

    Raises:
        PolicyError: some are missing (all are named), or one is of another kind.
    """
    lacking = [name for name in ATTRIBUTES if not hasattr(policy, name)]
    if lacking := [*lacking, *(f'{name}()' for name in _lacking_methods(policy))]:
        raise PolicyError(f'the policy {spec} has no {" and no ".join(lacking)}; {PROTOCOL}')
    for name, (is_right, expected) in _KINDS.items():
        value = getattr(policy, name, None)
        if hasattr(policy, name) and not is_right(value):
            raise PolicyError(f'{name} of the policy {spec} is {value!r}; it must be {expected}')
    for name in METHODS:
        try:
            inspect.signature(getattr(policy, name)).bind(None)
        except TypeError as error:
            raise PolicyError(
                f'{name}() of the policy {spec} cannot be called with one argument: {error}; '
                f'{PROTOCOL}'
            ) from error
        except ValueError:  # of compiled code, which does not say
            continue


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _are_texts(value: object) -> bool:
    is_list = isinstance(value, Collection) and not isinstance(value, (str, bytes))
    return is_list and all(map(_is_text, value))  # type: ignore[call-overload]


def _is_text_map(value: object) -> bool:
    return isinstance(value, Mapping) and _are_texts([*value.keys(), *value.values()])


def _is_count(value: object) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool) and int(value) >= 0


_NAMES = _are_texts, "names, such as ('front',), or ()"
_LINES = _are_texts, 'a list of texts'
# Attribute -> its kind: whether a value is of it, and the kind in words.
_KINDS: dict[str, tuple[Callable[[object], bool], str]] = {
    'name': (_is_text, 'a text'),
    'checkpoint': (_is_text, "a text, '' without one"),
    'cameras': _NAMES,
    'poses': _NAMES,
    'notes': _LINES,
    'facts': _LINES,
    'fingerprint': (_is_text_map, 'a map from texts to texts, {} if it is not known'),
    'n_action_steps': (_is_count, '0 or a number of steps'),
}


def raised_text(error: BaseException) -> str:
    """Returns the error and its place: the innermost line outside installed libraries."""
    if isinstance(error, SyntaxError) and error.filename:
        return f'raised SyntaxError in {Path(error.filename).name}:{error.lineno}: {error.msg}'
    frames = traceback.extract_tb(error.__traceback__)
    paths = sysconfig.get_paths()
    libraries = {paths[name] for name in ('stdlib', 'platstdlib', 'purelib', 'platlib')}
    left_out = ('<', str(Path(frame_ros.__file__).parent), *libraries)
    own = [f for f in frames if not f.filename.startswith(left_out)]
    at = (own or frames)[-1]
    return f'raised {type(error).__name__} in {Path(at.filename).name}:{at.lineno}: {error}'


def _import_file(path: Path, spec: str) -> ModuleType:
    """Returns the module of a file, which can import modules in its folder."""
    path = path.resolve()
    name = f'frame_ros_own_policy_{path.stem}'
    found = sys.modules.get(name)
    if found is not None and getattr(found, '__file__', None) == str(path):
        return found
    _extend_path(path.parent)
    description = importlib.util.spec_from_file_location(name, path)
    if description is None or description.loader is None:
        raise PolicyError(f'{path} is no Python file (policy {spec!r}); its name must end in .py')
    module = importlib.util.module_from_spec(description)
    sys.modules[name] = module
    try:
        with reported(f'importing {path.name}'):
            description.loader.exec_module(module)
    except FrameRosError:
        del sys.modules[name]
        raise
    return module


def _extend_path(folder: Path) -> None:
    """Adds a folder at the end: the user's files must not hide a library."""
    if str(folder) not in sys.path and '' not in sys.path:
        sys.path.append(str(folder))


def _offers(module: ModuleType) -> str:
    """Returns the policies in the module, for a misspelt name."""
    own = [
        name
        for name, value in vars(module).items()
        if inspect.isclass(value)
        and value.__module__ == module.__name__
        and not _lacking_methods(value)
    ]
    return f'its policies: {", ".join(own)}' if own else f'it defines no policy: {PROTOCOL}'
