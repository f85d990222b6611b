# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Checks of an inference as the policy gave it, in its own units.

A bad chunk is refused; bad extras for confidence are left out with the reason.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields, replace
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from frame_ros.core.errors import PolicyError
from frame_ros.policies.features import with_reduced_features
from frame_ros.policies.protocol import (
    TOKEN_NUMBERS,
    TOKEN_PLACES,
    Inference,
    Observation,
    TokenStatistics,
)

TOKENS, SAMPLES, REPHRASINGS = 'tokens', 'samples', 'rephrasings'
_NUMBERS = (*TOKEN_NUMBERS, 'temperatures', 'max_at_temperature')
_FACTS = {
    each.name: each.default
    for each in fields(Inference)
    if each.name in ('preprocess', 'forward', 'postprocess', 'transport', 'memory_device')
}
# NumPy's of lists in rows of unequal length, of objects, and of tensors with a gradient.
_NO_NUMBERS = (TypeError, ValueError, OverflowError, RuntimeError)


def check_own_chunk(inference: Inference) -> NDArray[np.float64]:
    """Returns the chunk (H, D), in any action space.

    Raises:
        PolicyError: it is no Inference, or its chunk is not (H, D) for D different names and D
            units, all finite, or its dt is not positive.
    """
    if not isinstance(inference, Inference):
        raise PolicyError(
            f'infer returned {_kind(inference)}; it must return an Inference of '
            'frame_ros.policies.protocol'
        )
    try:
        actions = np.asarray(inference.actions, np.float64)
    except _NO_NUMBERS as error:
        raise PolicyError(f'the chunk is no array of numbers ({error})') from error
    names = inference.action_names
    for what in ('action_names', 'action_units'):
        if isinstance(given := _of(inference, what), str) or not _are_texts(given):
            raise PolicyError(f'{what} is {given!r}; texts, one per action, are expected')
    if actions.ndim != 2 or actions.shape[0] == 0 or actions.shape[1] != len(names):
        raise PolicyError(
            f'the chunk has shape {actions.shape}; it must be (steps, {len(names)}) for the '
            f'actions {", ".join(names)}'
        )
    if len(inference.action_units) != len(names):
        raise PolicyError(
            f'the chunk has {len(inference.action_units)} units for the {len(names)} actions '
            f'{list(names)}'
        )
    if len(set(names)) != len(names):
        raise PolicyError(f'the chunk names an action twice: {", ".join(names)}')
    if not np.isfinite(actions).all():
        step, dimension = np.argwhere(~np.isfinite(actions))[0]
        raise PolicyError(
            f'{names[dimension]} is {actions[step, dimension]} at step {step}; actions must be '
            'finite'
        )
    if not (isinstance(inference.dt, Real) and 0 < inference.dt < np.inf):
        raise PolicyError(
            f'the chunk has {inference.dt!r} s between its steps; it must be a positive number'
        )
    return actions


def _kind(value: object) -> str:
    name = 'None' if value is None else f'a {type(value).__name__}'
    shape = getattr(value, 'shape', None)
    return f'{name} of shape {shape}' if isinstance(shape, tuple) else name


def with_usable_extras(
    inference: Inference, observation: Observation, samples: int = 0
) -> Inference:
    """Returns the inference without malformed tokens, samples, rephrasings and features, with its
    features reduced and its lists and tensors as arrays.

    Whatever is left out, or was requested and not given, is in `unavailable` with the reason.
    samples: number requested.
    """
    inference = with_reduced_features(_with_plain_facts(inference))
    tokens, wrong_tokens = _usable_tokens(inference.tokens)
    drawn, wrong_samples = _usable_samples(inference, samples)
    wrong_rephrasings = _wrong_rephrasings(inference, observation)
    reasons = {TOKENS: wrong_tokens, SAMPLES: wrong_samples, REPHRASINGS: wrong_rephrasings}
    new = {key: why for key, why in reasons.items() if why and key not in inference.unavailable}
    found: dict[str, Any] = {
        'actions': np.asarray(inference.actions, np.float64),
        'tokens': tokens,
        'samples': drawn,
    }
    if wrong_rephrasings:
        found |= {'rephrasings': (), 'rephrasing_confidences': None}
    changed = {name: value for name, value in found.items() if value is not _of(inference, name)}
    if not changed and not new:
        return inference
    return replace(inference, **changed, unavailable={**inference.unavailable, **new})


def _of(inference: object, name: str) -> Any:
    return getattr(inference, name)


def _are_texts(values: Any) -> bool:
    try:
        return all(isinstance(value, str) for value in values)
    except TypeError:
        return False


def _with_plain_facts(inference: Inference) -> Inference:
    """Returns the inference with numbers as its durations and its memory, the protocol's default
    for what is none, and reasons that are texts.
    """
    found: dict[str, Any] = {}
    for name, default in _FACTS.items():
        if not isinstance(value := _of(inference, name), Real):
            try:
                found[name] = float(value)
            except _NO_NUMBERS:
                found[name] = default
    given = inference.unavailable
    if not isinstance(given, Mapping):
        found['unavailable'] = {}
    elif not _are_texts([*given, *given.values()]):
        found['unavailable'] = {str(key): str(why) for key, why in given.items()}
    return replace(inference, **found) if found else inference


def _usable_tokens(tokens: TokenStatistics | None) -> tuple[TokenStatistics | None, str]:
    """Returns the tokens with arrays as the protocol has them, or why they cannot be used."""
    if tokens is None:
        return None, ''
    try:
        found: dict[str, Any] = {
            name: np.asarray(_of(tokens, name), np.float64) for name in _NUMBERS
        }
        found |= {name: _whole(_of(tokens, name)) for name in TOKEN_PLACES}
        classes = int(tokens.vocabulary_size)
    except AttributeError as error:
        return None, f'they are {_kind(tokens)}; TokenStatistics is expected ({error})'
    except _NO_NUMBERS as error:
        return None, f'they hold what is no number: {error}'
    if classes != tokens.vocabulary_size:
        return None, f'vocabulary_size is {tokens.vocabulary_size}; a whole number is expected'
    if problem := '; '.join(_shape_problems(found)):
        return None, problem
    changed = {name: value for name, value in found.items() if value is not _of(tokens, name)}
    if type(tokens.vocabulary_size) is not int:
        changed['vocabulary_size'] = classes
    return replace(tokens, **changed) if changed else tokens, ''


def _whole(values: Any) -> NDArray[np.int32]:
    """Returns whole numbers as int32.

    Raises:
        ValueError: one is not whole, or too large.
    """
    array = np.asarray(values)
    found = array.astype(np.int32, copy=False)
    if not np.array_equal(found, array):
        raise ValueError('a step or a dimension is no whole number')
    return found


def _shape_problems(found: dict[str, NDArray[Any]]) -> Iterator[str]:
    count = len(np.atleast_1d(found['max_probability']))
    for name in (*TOKEN_NUMBERS, *TOKEN_PLACES):
        if found[name].shape != (count,):
            yield f'{name} has shape {found[name].shape}, not ({count},)'
    grid, expected = found['temperatures'], (count, found['temperatures'].size)
    if grid.ndim != 1:
        yield f'temperatures have shape {grid.shape}; (K,) is expected'
    elif found['max_at_temperature'].shape != expected:
        yield f'max_at_temperature has shape {found["max_at_temperature"].shape}, not {expected}'


def _usable_samples(inference: Inference, asked: int) -> tuple[NDArray[np.float64] | None, str]:
    """Returns the samples as an array, or why there are none."""
    if inference.samples is None:
        return None, f'{asked} were asked for, the policy gave none' if asked else ''
    try:
        found = np.asarray(inference.samples, np.float64)
    except _NO_NUMBERS as error:
        return None, f'they are no array of numbers ({error})'
    expected = np.shape(inference.actions)
    if found.ndim != 3 or found.shape[1:] != expected:
        return None, f'they have shape {found.shape}; the chunk has {expected}'
    is_finite = np.isfinite(found).all()
    return (found, '') if is_finite else (None, 'they hold values that are not finite')


def _wrong_rephrasings(inference: Inference, observation: Observation) -> str:
    asked, given = observation.rephrasings, inference.rephrasings
    if not given:
        return f'{len(asked)} were asked for, the policy gave none' if asked else ''
    confidences = inference.rephrasing_confidences
    if confidences is None or np.shape(confidences) != (len(given),):
        shape = None if confidences is None else np.shape(confidences)
        return f'the policy gave confidences of shape {shape} for {len(given)}'
    try:
        values = np.asarray(confidences, np.float64)
    except _NO_NUMBERS as error:
        return f'the policy gave confidences that are no numbers ({error})'
    if np.any((values < 0.0) | (values > 1.0)):
        return 'the policy gave a confidence outside 0 and 1'
    return ''
