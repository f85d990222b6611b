# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Parts of a policy's answer that are refused or left out."""

from dataclasses import replace

import numpy as np
import pytest

from frame_ros.core.errors import PolicyError
from frame_ros.metrics.token_statistics import token_statistics
from frame_ros.policies.execution.inference_check import check_own_chunk, with_usable_extras
from frame_ros.policies.protocol import Inference, Observation, TokenStatistics

WHOLE = Inference(np.zeros((4, 2)), 0.1, ('x', 'gripper'), ('m', '1'), 'ee_delta')
SEEN = Observation(1, 1, (), np.zeros(0))
ALONE = ('vocabulary_size',)  # of the fields of tokens, not one per token
ASKING = replace(SEEN, rephrasings=('a', 'b'))


def tokens(count=3, **changes) -> TokenStatistics:
    reduced = token_statistics(np.eye(count, 5), temperatures=(1.0, 2.0))
    places = np.full(count, -1, np.int32)
    return replace(TokenStatistics(**vars(reduced), step=places, dimension=places), **changes)


def test_a_chunk_in_its_own_units_passes():
    check_own_chunk(WHOLE)


@pytest.mark.parametrize(
    ('change', 'message'),
    [
        ({'actions': np.zeros((4, 3))}, r'shape \(4, 3\); it must be \(steps, 2\)'),
        ({'actions': np.zeros((0, 2))}, 'shape'),
        ({'actions': np.zeros(2)}, 'shape'),
        ({'action_units': ('m',)}, '1 units for the 2 actions'),
        ({'actions': np.array([[0.0, 1.0], [0.0, -np.inf]])}, 'gripper is -inf at step 1'),
        ({'dt': 0.0}, '0.0 s between its steps'),
        ({'dt': np.nan}, 'nan s between its steps'),
        ({'dt': '0.1'}, "'0.1' s between its steps"),
        ({'actions': [[0.0, 1.0], [0.0]]}, 'no array of numbers'),
        ({'action_units': None}, 'action_units is None; texts'),
        ({'action_names': 'xy'}, "action_names is 'xy'; texts"),
    ],
)
def test_an_unusable_chunk_is_refused(change, message):
    with pytest.raises(PolicyError, match=message):
        check_own_chunk(replace(WHOLE, **change))


def test_a_time_between_steps_in_single_precision_passes():
    check_own_chunk(replace(WHOLE, dt=np.float32(0.1)))


def test_a_tensor_with_a_gradient_is_no_chunk():
    torch = pytest.importorskip('torch')
    with pytest.raises(PolicyError, match='requires grad'):
        check_own_chunk(replace(WHOLE, actions=torch.zeros((4, 2), requires_grad=True)))


def test_lists_and_tensors_become_arrays():
    torch = pytest.importorskip('torch')
    whole = tokens()
    lists = {name: getattr(whole, name).tolist() for name in vars(whole) if name not in ALONE}
    tensors = {name: torch.asarray(getattr(whole, name)) for name in lists}
    for given in (lists, tensors):
        written = replace(whole, **given, vocabulary_size=np.int64(5))
        inference = replace(
            WHOLE, actions=np.zeros((4, 2)).tolist(), tokens=written, samples=[[[0.5, 1.0]] * 4] * 3
        )
        found = with_usable_extras(inference, SEEN)
        assert not found.unavailable and type(found.tokens.vocabulary_size) is int
        assert found.actions.shape == (4, 2) and found.samples.shape == (3, 4, 2)
        for name in lists:
            np.testing.assert_array_equal(getattr(found.tokens, name), getattr(whole, name))
            assert getattr(found.tokens, name).dtype == getattr(whole, name).dtype


def test_what_is_well_formed_is_left_as_it_is():
    inference = replace(
        WHOLE,
        tokens=tokens(),
        samples=np.zeros((3, 4, 2)),
        rephrasings=('a', 'b'),
        rephrasing_confidences=np.array([0.2, np.nan]),
        unavailable={},
    )
    assert with_usable_extras(inference, ASKING, samples=3) is inference


@pytest.mark.parametrize(
    ('change', 'key', 'reason'),
    [
        ({'tokens': tokens(entropy=np.zeros(2))}, 'tokens', r'entropy has shape (2,), not (3,)'),
        ({'tokens': tokens(step=np.zeros(4))}, 'tokens', 'step has shape (4,), not (3,)'),
        (
            {'tokens': tokens(max_at_temperature=np.zeros((3, 1)))},
            'tokens',
            'max_at_temperature has shape (3, 1), not (3, 2)',
        ),
        ({'tokens': tokens(step=np.full(3, 0.5))}, 'tokens', 'no whole number'),
        ({'tokens': tokens(entropy=['low'] * 3)}, 'tokens', 'no number'),
        ({'tokens': tokens(vocabulary_size=5.5)}, 'tokens', 'vocabulary_size is 5.5'),
        ({'tokens': {'chosen_probability': [0.5]}}, 'tokens', 'they are a dict'),
        ({'samples': [['left', 'right']]}, 'samples', 'no array of numbers'),
        ({'samples': np.zeros((3, 5, 2))}, 'samples', 'they have shape (3, 5, 2)'),
        ({'samples': np.full((3, 4, 2), np.nan)}, 'samples', 'not finite'),
        ({'rephrasings': ('a', 'b')}, 'rephrasings', 'confidences of shape None for 2'),
        (
            {'rephrasings': ('a',), 'rephrasing_confidences': ['high']},
            'rephrasings',
            'no numbers',
        ),
        (
            {'rephrasings': ('a',), 'rephrasing_confidences': np.array([1.5])},
            'rephrasings',
            'a confidence outside 0 and 1',
        ),
    ],
)
def test_what_is_malformed_is_left_out_and_said(change, key, reason):
    found = with_usable_extras(replace(WHOLE, **change), SEEN)
    assert reason in found.unavailable[key]
    assert found.tokens is None and found.samples is None and found.rephrasings == ()
    assert found.actions is WHOLE.actions


def test_facts_that_are_none_are_those_of_the_protocol():
    given = replace(
        WHOLE, preprocess=None, forward=np.float32(0.5), transport='fast', memory_device=None,
        unavailable=None,
    )  # fmt: skip
    found = with_usable_extras(given, SEEN)
    assert np.isnan(found.preprocess) and found.forward == 0.5
    assert (found.transport, found.memory_device, found.unavailable) == (0.0, 0.0, {})
    reasons = replace(WHOLE, unavailable={'samples': ValueError('one mode')})
    assert with_usable_extras(reasons, SEEN).unavailable == {'samples': 'one mode'}


def test_what_was_asked_for_and_not_given_is_said_unless_the_policy_says_why():
    found = with_usable_extras(WHOLE, ASKING, samples=5)
    assert found.unavailable == {
        'samples': '5 were asked for, the policy gave none',
        'rephrasings': '2 were asked for, the policy gave none',
    }
    declared = replace(WHOLE, unavailable={'samples': 'it is deterministic'})
    found = with_usable_extras(declared, SEEN, samples=5)
    assert found.unavailable == {'samples': 'it is deterministic'}
