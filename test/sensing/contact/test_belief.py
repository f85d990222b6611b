# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Beliefs per link and source, and of several sources together."""

from math import isnan

import numpy as np
import pytest

from frame_ros.core.time import SECOND
from frame_ros.sensing.contact.belief import BeliefState, ContactBeliefs
from frame_ros.sensing.contact.detection import Detection
from frame_ros.sensing.contact.noise_level import NoiseLevel
from frame_ros.sensing.contact.source import ContactSource

WRENCH, EFFORT = ContactSource.WRENCH, ContactSource.JOINT_EFFORT
FUSED = ContactSource.FUSED


class Sensor:
    warnings = ()

    def __init__(self, source, **coverage):
        self.source, self.coverage = source, coverage


WRIST = Sensor(WRENCH, base='before', arm='before', hand='')
JOINTS = Sensor(EFFORT, base='no joint', arm='', hand='')


def rows(*detections, sensors=(WRIST, JOINTS), beliefs=None):
    beliefs = beliefs or ContactBeliefs()
    found = beliefs.rows(sensors, {d.source: d for d in detections})
    return {(row.link, ContactSource(row.source)): row for row in found}


def test_links_that_no_source_covers_are_not_called_free():
    free = Detection(1, WRENCH, False, share=0.1), Detection(1, EFFORT, False, share=0.1)
    found = rows(*free)
    assert found['arm', WRENCH].state is BeliefState.NOT_COVERED
    assert isnan(found['arm', WRENCH].probability) and found['arm', WRENCH].reason == 'before'
    assert found['base', FUSED].state is BeliefState.NOT_COVERED
    assert found['arm', FUSED].state is BeliefState.NO_CONTACT
    assert found['hand', FUSED].probability < found['arm', FUSED].probability < 0.02


def test_one_source_has_no_rows_of_several():
    found = rows(Detection(1, WRENCH, False, share=0.1), sensors=(WRIST,))
    assert {source for _, source in found} == {WRENCH}


def test_a_source_that_does_not_work_is_unavailable_where_it_would_feel():
    found = rows(
        Detection(1, WRENCH, None, unavailable='silent'), Detection(1, EFFORT, False, share=0.1)
    )
    assert found['hand', WRENCH].state is BeliefState.UNAVAILABLE
    assert found['hand', WRENCH].reason == 'silent'
    assert found['arm', WRENCH].state is BeliefState.NOT_COVERED
    assert found['hand', FUSED].state is BeliefState.NO_CONTACT
    nothing = rows(Detection(1, WRENCH, None, unavailable='silent'))
    assert nothing['hand', FUSED].state is BeliefState.UNAVAILABLE


def test_a_contact_that_one_source_reports_is_not_outvoted_by_those_that_feel_none():
    felt = Detection(1, EFFORT, True, link='hand', share=1.1)
    alone = rows(felt, Detection(1, WRENCH, None, unavailable='silent'))['hand', FUSED]
    denied = rows(felt, Detection(1, WRENCH, False, share=0.05))['hand', FUSED]
    both = rows(felt, Detection(1, WRENCH, True, share=1.1))['hand', FUSED]
    assert denied.probability == alone.probability < both.probability
    assert denied.state is alone.state is both.state is BeliefState.CONTACT
    arm = rows(Detection(1, EFFORT, True, link='arm', share=1.1), Detection(1, WRENCH, False))
    assert arm['arm', FUSED].probability == pytest.approx(alone.probability)
    assert arm['hand', EFFORT].state is BeliefState.NO_CONTACT


def test_two_free_sources_do_not_outvote_a_contact_of_the_wrench():
    flags = Sensor(ContactSource.ROBOT, hand='')
    beliefs = ContactBeliefs()
    rng = np.random.default_rng(4)
    for i in range(3000):
        for source in (EFFORT, ContactSource.ROBOT):
            share = abs(rng.normal(0.0, 0.1))
            beliefs.take(Detection(i * SECOND // 50, source, False, share=share))
    found = rows(
        Detection(1, WRENCH, True, share=1.1),
        Detection(1, EFFORT, False, share=0.02),
        Detection(1, ContactSource.ROBOT, False, share=0.02),
        sensors=(WRIST, JOINTS, flags),
        beliefs=beliefs,
    )
    assert found['hand', WRENCH].probability >= 0.98
    assert found['hand', FUSED].state is BeliefState.CONTACT
    assert found['hand', FUSED].probability >= found['hand', WRENCH].probability


def test_a_contact_before_the_sensor_is_that_of_the_joints():
    """The wrench feels nothing of it, and says nothing about that link."""
    found = rows(
        Detection(1, WRENCH, False, share=0.1),
        Detection(1, EFFORT, True, link='arm', share=1.5),
    )
    assert found['arm', WRENCH].state is BeliefState.NOT_COVERED
    assert found['arm', FUSED].state is BeliefState.CONTACT
    assert found['arm', FUSED].probability == found['arm', EFFORT].probability >= 0.99
    assert found['hand', FUSED].state is BeliefState.NO_CONTACT


def test_two_hints_of_one_contact_count_as_one():
    beliefs = ContactBeliefs()
    rng = np.random.default_rng(3)
    for i in range(3000):
        for source in (WRENCH, EFFORT):
            share = abs(rng.normal(0.0, 0.1))
            beliefs.take(Detection(i * SECOND // 50, source, False, share=share))
    weak = (Detection(1, WRENCH, False, share=0.8), Detection(1, EFFORT, False, share=0.8))
    one = rows(weak[0], Detection(1, EFFORT, False, share=0.1), beliefs=beliefs)['hand', FUSED]
    two = rows(*weak, beliefs=beliefs)['hand', FUSED]
    assert one.state is BeliefState.NO_CONTACT and two.state is BeliefState.CONTACT


@pytest.mark.parametrize('deviation', [0.05, 0.2])
def test_noise_is_learnt_whatever_a_tenth_of_it_is(deviation):
    rng, level = np.random.default_rng(1), NoiseLevel()
    for i in range(6000):
        share = 0.8 if i % 10 == 0 else abs(rng.normal(0.0, deviation))
        level.learn(i * SECOND // 50, share)
    assert level.deviation == pytest.approx(deviation, rel=0.3)
    assert level.evidence(0.0) < 0.0 < level.evidence(1.0)
    assert level.evidence(1.0) < level.evidence(3.0)
