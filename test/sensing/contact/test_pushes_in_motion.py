# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""A push while the hand slides is a contact for as long as it lasts, or is warned about."""

import numpy as np
import pytest

from frame_ros.core.time import MILLISECOND
from frame_ros.sensing.contact.wrench.detector import WrenchContact
from frame_ros.sensing.contact.wrench.options import WrenchOptions
from frame_ros.sensing.contact.wrench.tool_model import Tool, ToolLoad
from frame_ros.sensing.contact.wrench.tool_motion import ToolMotion

TOOL, STEP, SECONDS = Tool(0.5, (0.0, 0.0, 0.05)), 5, 13


def slide(push, speed=0.1, end=SECONDS):
    """The hand slides at 0.1 m/s from 1 s on, until `end`, at 200 Hz, under push(t) N along x;
    returns rows of s, is_contact and warnings.
    """
    contact, load = WrenchContact(WrenchOptions(), TOOL, np.zeros(6)), ToolLoad(TOOL)
    rng, zero, found = np.random.default_rng(0), np.zeros(3), []
    weight = np.array(load.weight(load.gravity(np.eye(3).ravel().tolist())))
    for tick in range(SECONDS * 1000 // STEP):
        t = tick * STEP / 1000
        is_moving = 1.0 < t < end
        motion = ToolMotion(np.eye(3), zero, zero, zero, is_moving, speed=speed * is_moving)
        wrench = weight + rng.normal(size=6) * [0.05, 0.05, 0.05, 0.002, 0.002, 0.002]
        wrench[0] += push(t)
        detection = contact.update((tick + 1) * STEP * MILLISECOND, wrench, motion)
        found.append((t, bool(detection.is_contact), contact.warnings))
    return contact, found


def test_a_push_that_lasts_is_a_contact_until_it_ends():
    contact, found = slide(lambda t: 1.5 * (3.0 <= t < 10.0))
    assert all(is_contact for t, is_contact, _ in found if 3.1 < t < 10.0)
    assert not any(is_contact for t, is_contact, _ in found if t < 3.0 or t > 10.2)
    assert abs(contact.bias[0]) < 0.1


def test_a_push_that_grows_as_a_cable_would_pull_is_said():
    _, found = slide(lambda t: min(0.4 * max(t - 3.0, 0.0), 2.6))
    said = [any('a cable or a slow push' in why for why in whys) for _, _, whys in found]
    assert not any(now for (t, _, _), now in zip(found, said, strict=True) if t < 3.0)
    known = [now or row[1] for row, now in zip(found, said, strict=True) if row[0] > 4.5]
    assert all(known)


def pulled(t):
    """N of a cable, which the hand pulls tight as it goes, by as much per metre as one may."""
    return min(0.4 * max(t - 3.0, 0.0), 1.2)


def test_a_push_ends_and_the_next_begins_though_a_cable_pulls_otherwise_since():
    """Without that the cable's pull would be the contact's: 1.2 N are above the threshold."""
    contact, found = slide(lambda t: 3.0 * (3.0 <= t < 6.0 or 7.0 <= t < 7.1) + pulled(t))
    assert all(is_contact for t, is_contact, _ in found if 3.1 < t < 6.0 or 7.02 < t < 7.09)
    assert not any(is_contact for t, is_contact, _ in found if 6.2 < t < 7.0 or t > 7.3)
    assert abs(contact.bias[0] - 1.2) < 0.2
    said = [any('counts as bias' in why for why in whys) for t, _, whys in found if t > 6.2]
    assert all(said)  # it may be a push that has weakened


def test_a_push_that_weakens_at_once_to_more_than_a_cable_does_stays_a_contact():
    _, found = slide(lambda t: 5.0 * (3.0 <= t < 3.2) + 1.2 * (3.2 <= t < 9.0))
    assert all(is_contact for t, is_contact, _ in found if 3.1 < t < 9.0)
    assert not any(is_contact for t, is_contact, _ in found if t > 9.2)


def test_a_push_that_comes_and_goes_slowly_ends_with_its_force():
    """A hand that weakens over a second: nothing of it is taken for a cable's meanwhile."""
    sizes = ([0.0, 3.0, 4.0, 8.0, 9.0], [0.0, 0.0, 3.0, 3.0, 0.0])
    contact, found = slide(lambda t: float(np.interp(t, *sizes)))
    assert all(is_contact for t, is_contact, _ in found if 3.5 < t < 8.6)
    assert not any(is_contact for t, is_contact, _ in found if t > 9.2)
    assert abs(contact.bias[0]) < 0.3


def test_pushes_on_a_weight_begin_contacts_of_their_own_and_rest_makes_none_of_it():
    """0.8 N are no contact in motion, but more than what ends one, or is none at rest."""
    pushes = (4.0, 5.0, 9.5, 10.5)
    _, found = slide(
        lambda t: 0.8 * (t >= 2.0) + 3.0 * any(begin <= t < begin + 0.2 for begin in pushes),
        speed=0.0, end=7.0,
    )  # fmt: skip
    states = np.array([is_contact for _, is_contact, _ in found])
    begins = [found[row + 1][0] for row in np.flatnonzero(np.diff(states.astype(int)) > 0)]
    np.testing.assert_allclose(begins, pushes, atol=0.03)
    warned = [t for t, _, why in found if any('came to rest with 0.8 N' in each for each in why)]
    assert 7.2 < warned[0] < 7.5


def test_a_push_at_rest_that_weakens_where_nothing_acted_before_lasts_until_it_ends():
    """0.28 N are less than is ambiguous in motion, and more than what ends a contact at rest."""
    _, found = slide(lambda t: 1.5 * (5.0 <= t < 5.5) + 0.28 * (5.5 <= t < 9.0), end=2.0)
    assert all(is_contact for t, is_contact, _ in found if 5.1 < t < 9.0)
    assert not any(is_contact for t, is_contact, _ in found if t < 5.0 or t > 9.2)


def shaken(t, end):
    """N of gears that shake the hand at 18 Hz, more and more, until `end` s."""
    return min(0.7 * max(t - 1.0, 0.0), 1.4) * np.sin(2.0 * np.pi * 18.0 * t) * (t < end)


@pytest.mark.parametrize('end', [5.0, SECONDS])
def test_a_weak_push_on_a_hand_that_shakes_or_has_shaken_is_felt_if_it_lasts(end):
    contact, found = slide(lambda t: shaken(t, end) + 2.0 * (6.0 <= t < 6.1 or 9.0 <= t < 9.2))
    assert contact.limits[0] > 2.1, 'the threshold of short pushes'
    begins = [t for t, is_contact, _ in found if is_contact]
    assert any(6.0 < t < 6.15 for t in begins) and any(9.0 < t < 9.25 for t in begins)
    assert not any(t < 6.0 or 6.3 < t < 9.0 or t > 9.4 for t in begins)
