# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Jumps of stamps, seen by when messages arrive; what is late or lost is none."""

import itertools

import numpy as np
import pytest

from frame_ros.core.time import SECOND
from frame_ros.evaluation.trials.lying_streams import Transport
from frame_ros.sensing.stream_health.judged_stream import UNKNOWN_OFFSET
from frame_ros.sensing.stream_health.offset_fusion import TimeOffset
from frame_ros.sensing.stream_health.options import StreamHealthOptions
from frame_ros.sensing.stream_health.stamp_jumps import StampJumps
from frame_ros.sensing.stream_health.streams import WRENCH, StreamHealth

START = 1_700_000_000 * SECOND
JUMP_AT = 4.0  # s


def sent(rate, seconds=8.0):
    return START + np.arange(int(seconds * rate)) * (SECOND // rate)


def arrivals(times, seed=0, longer=0.0):
    transport = Transport(seed)
    is_longer = times - START >= JUMP_AT * SECOND
    return np.array(
        [
            transport.arrival('', each, longer * late)
            for each, late in zip(times.tolist(), is_longer.tolist(), strict=True)
        ]
    )


def jumped(times, seconds):
    return times + (times - START >= JUMP_AT * SECOND) * round(seconds * SECOND)


def found_in(stamps, arrived):
    """Pairs of s since JUMP_AT of the arrival at which a jump was found, and the jump."""
    jumps = StampJumps()
    pairs = zip(stamps.tolist(), arrived.tolist(), strict=True)
    found = [(arrival, jumps.add(stamp, arrival)) for stamp, arrival in pairs]
    begin = START + JUMP_AT * SECOND
    return [((arrival - begin) / SECOND, jump) for arrival, jump in found if jump is not None]


@pytest.mark.parametrize('rate', [30, 100, 1000])
@pytest.mark.parametrize('seconds', [0.02, 0.05, -0.02, -0.05, 0.6, -0.6])
def test_a_jump_is_found_once_and_soon_on_a_loaded_machine(rate, seconds):
    times = sent(rate)
    for seed in range(5):
        (only,) = found_in(jumped(times, seconds), arrivals(times, seed))
        when, jump = only
        assert 0.2 < when < 0.6
        assert jump.seconds == pytest.approx(seconds, abs=max(0.004, 3 * jump.deviation))
        assert jump.deviation <= 0.2 * abs(seconds)


@pytest.mark.parametrize('rate', [100, 1000])
@pytest.mark.parametrize('seconds', [0.02, 0.05, -0.05])
@pytest.mark.parametrize(('share', 'least'), [(0.1, 9), (0.3, 8), (0.5, 5)])
def test_a_jump_is_found_though_messages_are_lost(rate, seconds, share, least):
    times, found = sent(rate), 0
    for seed in range(10):
        kept = np.random.default_rng(seed).random(len(times)) > share
        jumps = found_in(jumped(times, seconds)[kept], arrivals(times, seed)[kept])
        assert len(jumps) <= 1
        found += len(jumps)
    assert found >= least


def test_a_jump_where_a_message_is_lost_is_found():
    times = sent(100)
    kept = np.ones(len(times), bool)
    kept[round(100 * JUMP_AT)] = False
    for seconds in (0.02, -0.03, 0.05):
        ((_, jump),) = found_in(jumped(times, seconds)[kept], arrivals(times)[kept])
        assert jump.seconds == pytest.approx(seconds, abs=4e-3)


def test_a_second_sender_whose_stamps_are_apart_makes_no_jump():
    first, second = sent(100), sent(100) + SECOND // 200
    second = second[second - START >= JUMP_AT * SECOND]
    for apart in (0.02, -0.02):
        times = np.concatenate((first, second))
        stamps = np.concatenate((first, second + round(apart * SECOND)))
        order = np.argsort(times)
        assert found_in(stamps[order], arrivals(times[order])) == []


def test_each_of_two_jumps_is_found():
    times = sent(200)
    stamps = jumped(times, 0.03)
    stamps[times - START >= (JUMP_AT + 1.0) * SECOND] -= round(0.03 * SECOND)
    first, second = found_in(stamps, arrivals(times))
    assert (first[1].seconds, second[1].seconds) == pytest.approx((0.03, -0.03), abs=2e-3)


@pytest.mark.parametrize('rate', [30, 100, 1000])
@pytest.mark.parametrize('seed', range(5))
def test_delays_losses_and_jitter_are_no_jumps(rate, seed):
    rng, times = np.random.default_rng(seed), sent(rate)
    on_time = arrivals(times, seed)
    assert found_in(times, on_time) == []
    assert found_in(times, arrivals(times, seed, longer=0.03)) == []
    kept = rng.random(len(times)) > 0.2
    assert found_in(times[kept], on_time[kept]) == []
    # Gaps, one of which begins where the way becomes longer or shorter.
    for gap, longer in itertools.product((0.02, 0.06, 0.3), (0.01, -0.01, 0.03)):
        kept = ((times - START) / SECOND) % 0.5 >= gap
        later = arrivals(times + SECOND // 20 * (longer < 0), seed, longer)
        assert found_in(times[kept], later[kept]) == []
    jittered = times + rng.normal(0.0, 0.005 * SECOND, len(times)).astype(np.int64)
    assert found_in(jittered, on_time) == []


def test_a_stream_that_pauses_goes_on_without_a_jump_and_later_ones_are_found():
    times = sent(100)
    times[times - START >= (JUMP_AT - 2.0) * SECOND] += 5 * SECOND
    assert found_in(times, arrivals(times)) == []
    stamps = times.copy()
    stamps[700:] += SECOND // 50
    ((_, jump),) = found_in(stamps, arrivals(times))
    assert jump.seconds == pytest.approx(0.02, abs=4e-3)


def test_a_recording_that_is_played_faster_and_its_pauses_are_no_jumps():
    times = sent(100)
    played = START + (times - START) // 3
    played[len(played) // 2 :] += SECOND // 2  # a pause of the player
    assert found_in(times, played) == []
    gone_on = times + (np.arange(len(times)) > len(times) // 2) * SECOND // 2
    assert found_in(gone_on, played) == []


def test_a_clock_that_is_set_begins_anew_and_later_jumps_are_found():
    times = sent(100)
    stamps = jumped(times, 0.02)
    stamps[times - START >= 2 * SECOND] -= 3600 * SECOND
    ((_, jump),) = found_in(stamps, arrivals(times))
    assert jump.seconds == pytest.approx(0.02, abs=2e-3)


def health_after(
    wrench=0.0, joints=0.0, estimate=None, is_corrected=False, until=8.0, lost=(0, 0), rate=200,
    set_back=0.0,
):  # fmt: skip
    """The health of streams of which wrench and joints have jumped by s at JUMP_AT.

    lost: first and last wrench that does not come. rate: Hz of wrenches. set_back: s by which the
    clock of arrivals is, 0.35 s behind the jump.
    """
    health = StreamHealth(StreamHealthOptions(is_offset_corrected=is_corrected))
    transport, rng = Transport(1), np.random.default_rng(0)
    for count, each in enumerate(sent(200, until).tolist()):
        late = each - START >= JUMP_AT * SECOND
        back = round(set_back * SECOND) * (each - START >= (JUMP_AT + 0.35) * SECOND)
        for name, jump in ((WRENCH, wrench), ('joint_states', joints)):
            if name == WRENCH and (lost[0] <= count < lost[1] or count % (200 // rate)):
                continue
            stamp = each + late * round(jump * SECOND)
            health.on_arrival(name, stamp, transport.arrival(name, each) - back)
            if name == WRENCH:
                health.on_wrench(stamp, rng.normal(size=6).tolist())
                if estimate is not None:
                    health.streams[WRENCH].offset.take(estimate)
                    estimate = None
            else:
                health.on_joints(stamp, ('a',), *rng.normal(size=(3, 1)))
    return health


def problem(**jumps):
    return health_after(**jumps).streams[WRENCH].problem


def test_a_wrench_whose_stamps_have_jumped_is_unavailable_before_any_motion():
    assert problem() == ''
    assert problem(wrench=0.008) == ''  # as much as is allowed
    assert '20 ms later than before' in problem(wrench=0.02, until=5.0)
    assert '20 ms earlier than before' in problem(wrench=-0.02, until=5.0)


def test_joint_states_whose_stamps_have_jumped_leave_the_wrench_behind():
    assert '20 ms earlier' in problem(joints=0.02)
    assert problem(wrench=0.02, joints=0.02) == ''
    assert '40 ms later' in problem(wrench=0.02, joints=-0.02)


@pytest.mark.parametrize('lost', [(799, 800), (798, 803), (700, 801), (600, 840)])
@pytest.mark.parametrize('jump', [0.02, -0.02, 0.5])
def test_clocks_that_are_set_together_are_no_fault_though_wrenches_are_lost_then(lost, jump):
    assert problem(wrench=jump, joints=jump, lost=lost) == ''


@pytest.mark.parametrize('rate', [5, 10, 40])
def test_slow_streams_whose_clock_is_set_with_the_joints_are_no_fault_either(rate):
    assert problem(wrench=0.05, joints=0.05, rate=rate, until=12.0) == ''
    assert '50 ms earlier' in problem(joints=0.05, rate=rate, until=12.0)


def test_a_jump_that_is_not_decided_on_goes_with_the_clock_of_the_arrivals():
    health = health_after(wrench=0.02, set_back=3600.0)
    assert not health._pending and health.streams[WRENCH].problem == ''


def test_what_a_motion_had_shown_is_shifted_by_the_jump():
    known = TimeOffset(-0.004, 0.0005, 1.0, START, '')
    health = health_after(wrench=0.02, estimate=known)
    (stream,) = (each for each in health.streams.values() if each.name == WRENCH)
    assert stream.estimate.seconds == pytest.approx(0.016, abs=1e-3)
    assert '16 ms later than those of the joints' in stream.problem
    assert 'arrival' in stream.problem
    back = health_after(wrench=-0.02, estimate=TimeOffset(0.02, 0.0005, 1.0, START, ''))
    assert back.streams[WRENCH].problem == ''


def problems_of(jumps, lost=(), joints=(), every=1, scatter=0.0):
    """At the end of each second: why a wrench whose stamps are later by s from each second of
    `jumps` on, and those of the joints from `joints` on, is not used. lost: seconds from and to
    which no wrench comes. every: which wrench comes. scatter: s by which that is late, at most.
    """
    health, transport = StreamHealth(StreamHealthOptions()), Transport(3)
    rng, found = np.random.default_rng(0), {}
    for count, each in enumerate(sent(200, 16.0).tolist()):
        second = (each - START) / SECOND
        for name, changes in ((WRENCH, jumps), ('joint_states', joints)):
            later = next((by for since, by in reversed(changes) if second >= since), 0.0)
            if name == WRENCH and any(begin <= second < end for begin, end in lost):
                continue
            if name == WRENCH and count % every:
                continue
            stamp = each + round(later * SECOND)
            late = round(rng.uniform(0.0, scatter) * SECOND) if name == WRENCH else 0
            health.on_arrival(name, stamp, transport.arrival(name, each) + late)
            if name == WRENCH:
                health.on_wrench(stamp, rng.normal(size=6).tolist())
                found[int(second)] = health.streams[WRENCH].problem
            else:
                health.on_joints(stamp, ('a',), *rng.normal(size=(3, 1)))
    return found


def test_stamps_that_jump_back_after_a_jump_that_was_missed_are_used():
    found = problems_of([(4.0, -0.2), (8.0, 0.0)], lost=[(4.0, 4.4)])
    assert set(found.values()) == {''}


def test_errors_of_jumps_there_and_back_do_not_add_up():
    there_and_back = [(2.0 + k, 0.4 * (k % 2 == 0)) for k in range(8)]
    found = problems_of(there_and_back, every=7, scatter=0.012)
    assert 'later' in found[2] and found[15] == ''


def test_stamps_that_are_back_are_apart_from_those_of_joints_that_are_not():
    found = problems_of([(4.0, 0.2), (8.0, 0.0)], joints=[(4.0, 0.2)])
    assert found[7] == '' and '200 ms earlier' in found[10]


def test_a_jump_is_corrected_where_offsets_are():
    health = health_after(wrench=0.02, is_corrected=True)
    assert health.streams[WRENCH].problem == ''
    assert 'and corrected' in health.correction(WRENCH)
    stamp = START + 9 * SECOND
    assert (stamp - health.corrected(WRENCH, stamp)) / SECOND == pytest.approx(0.02, abs=1e-3)
    assert health.stamp_error(WRENCH) == pytest.approx(UNKNOWN_OFFSET, abs=5e-3)
    left = health_after(wrench=0.02)
    assert left.stamp_error(WRENCH) == pytest.approx(UNKNOWN_OFFSET + 0.02, abs=5e-3)
    assert left.corrected(WRENCH, stamp) == stamp


def test_diagnostics_have_the_jump_and_the_time_from_stamp_to_arrival():
    facts = {each.name: each.values for each in health_after(wrench=0.02).statuses()}
    offset = facts[f'stream {WRENCH}']['stamps later than those of the joints']
    assert 'not known' in offset and 'a jump by +20.' in offset.replace('+19.', '+20.')
    key = 'least time from stamp to arrival [ms]'
    assert float(facts['stream joint_states'][key]) == pytest.approx(0.4, abs=0.3)
    assert float(facts[f'stream {WRENCH}'][key]) == pytest.approx(-19.6, abs=0.3)
