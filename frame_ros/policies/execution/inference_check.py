# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Checks of an inference as the policy gave it, in its own units.

A bad chunk is refused; bad extras for confidence are left out with the reason.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from frame_ros.core.errors import PolicyError
from frame_ros.policies.features import with_reduced_features
from frame_ros.policies.protocol import Inference, Observation, TokenStatistics

TOKENS, SAMPLES, REPHRASINGS = 'tokens', 'samples', 'rephrasings'


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
    except (TypeError, ValueError) as error:
        raise PolicyError(f'the chunk is no array of numbers ({error})') from error
    names = inference.action_names
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
    if not (isinstance(inference.dt, (int, float)) and 0 < inference.dt < np.inf):
        raise PolicyError(f'the chunk has {inference.dt} s between its steps; it must be positive')
    return actions


def _kind(value: object) -> str:
    name = 'None' if value is None else f'a {type(value).__name__}'
    shape = getattr(value, 'shape', None)
    return f'{name} of shape {shape}' if isinstance(shape, tuple) else name


def with_usable_extras(
    inference: Inference, observation: Observation, samples: int = 0
) -> Inference:
    """Returns the inference without malformed tokens, samples, rephrasings and features, and with
    its features reduced.

    Whatever is left out, or was requested and not given, is in `unavailable` with the reason.
    samples: number requested.
    """
    inference = with_reduced_features(inference)
    reasons = {
        TOKENS: _wrong_tokens(inference.tokens) if inference.tokens is not None else '',
        SAMPLES: _wrong_samples(inference, samples),
        REPHRASINGS: _wrong_rephrasings(inference, observation),
    }
    new = {key: why for key, why in reasons.items() if why and key not in inference.unavailable}
    if not any(reasons.values()):
        return inference
    return replace(
        inference,
        tokens=None if reasons[TOKENS] else inference.tokens,
        samples=None if reasons[SAMPLES] else inference.samples,
        rephrasings=() if reasons[REPHRASINGS] else inference.rephrasings,
        rephrasing_confidences=(None if reasons[REPHRASINGS] else inference.rephrasing_confidences),
        unavailable={**inference.unavailable, **new},
    )


def _wrong_tokens(tokens: TokenStatistics) -> str:
    return '; '.join(_token_problems(tokens))


def _token_problems(tokens: TokenStatistics) -> Iterator[str]:
    count = len(tokens.max_probability)
    rows = ('second_probability', 'sum_of_squares', 'entropy', 'chosen_probability')
    for name in (*rows, 'step', 'dimension'):
        if np.shape(getattr(tokens, name)) != (count,):
            yield f'{name} has shape {np.shape(getattr(tokens, name))}, not ({count},)'
    expected = (count, len(tokens.temperatures))
    if np.shape(tokens.max_at_temperature) != expected:
        yield f'max_at_temperature has shape {np.shape(tokens.max_at_temperature)}, not {expected}'


def _wrong_samples(inference: Inference, asked: int) -> str:
    if inference.samples is None:
        return f'{asked} were asked for, the policy gave none' if asked else ''
    given, expected = np.shape(inference.samples), np.shape(inference.actions)
    if len(given) != 3 or given[1:] != expected:
        return f'they have shape {given}; the chunk has {expected}'
    return '' if np.isfinite(inference.samples).all() else 'they hold values that are not finite'


def _wrong_rephrasings(inference: Inference, observation: Observation) -> str:
    asked, given = observation.rephrasings, inference.rephrasings
    if not given:
        return f'{len(asked)} were asked for, the policy gave none' if asked else ''
    confidences = inference.rephrasing_confidences
    if confidences is None or np.shape(confidences) != (len(given),):
        shape = None if confidences is None else np.shape(confidences)
        return f'the policy gave confidences of shape {shape} for {len(given)}'
    values = np.asarray(confidences)
    if np.any((values < 0.0) | (values > 1.0)):
        return 'the policy gave a confidence outside 0 and 1'
    return ''
