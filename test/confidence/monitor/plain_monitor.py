# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The rule of the halt monitor in its plainest form: after each sample, all of the episode so far
is gone through again."""

import math

from frame_ros.confidence.monitor import MonitorOptions

SECOND = 1_000_000_000
# Of scores: True if larger is better.
DIRECTIONS = {'confidence': True, 'tb_e_step': False}


def levels(options: MonitorOptions, curves: dict, duration: float, start: int, samples) -> list:
    """The level after each sample of an episode: 'ok', 'caution', 'halt' or 'stale'.

    curves: score -> thresholds over the horizon, as the score stands; one: for all of it.
    """
    found = []
    is_halted, since, halt_end = False, None, None
    for count in range(1, len(samples) + 1):
        seen = samples[:count]
        now = max([start, *(sample.stamp for sample in seen)])
        beyond = _or([_beyond(options, curves, duration, start, seen, now, n) for n in curves])
        near = _near(options, seen, now)
        rule = False if False in (beyond, near) else None if None in (beyond, near) else True
        if rule is False:
            halt_end = now if is_halted else halt_end
            is_halted, since = False, None
        if rule is True and not is_halted:
            since = now if since is None else since
            is_halted = (
                now - start >= options.warm_up * SECOND
                and now - since >= options.minimum_duration * SECOND
                and (halt_end is None or now - halt_end >= options.cool_down * SECOND)
            )
        unknown = _unknown(options, curves, duration, start, seen, now)
        if is_halted:
            found.append('halt')
        elif unknown:
            found.append('stale')
        else:
            found.append('caution' if beyond else 'ok')
    return found


def _or(states):
    return True if True in states else None if None in states else False


def _completion(options, duration, start, seen, at):
    if options.completion_from == 'progress':
        progress = seen[-1].progress
        return min(max(progress, 0.0), 1.0) if not math.isnan(progress) else math.nan
    if options.completion_from == 'duration_topic':
        known = [s.expected_duration for s in seen if not math.isnan(s.expected_duration)]
        duration = known[-1] if known else math.nan
    share = (at - start) / SECOND / duration
    return min(max(share, 0.0), 1.0) if duration > 0 else math.nan


def _history(options, curves, duration, start, seen, name):
    """(stamp, excess) of each inference that had the score; NaN: without a threshold."""
    history, newest = [], -1
    for count, sample in enumerate(seen, 1):
        stamp = sample.scores_stamp or sample.stamp
        if sample.scores is None or stamp < start or stamp <= newest:
            continue
        if stamp > max(s.stamp for s in seen[:count]) + SECOND:  # of another clock
            continue
        value = sample.scores.get(name, math.nan)
        if math.isnan(value):
            continue
        curve = curves[name]
        completion = _completion(options, duration, start, seen[:count], stamp)
        if len(curve) == 1:
            threshold = curve[0]
        elif math.isnan(completion):
            threshold = math.nan
        else:
            threshold = curve[max(math.ceil(completion * len(curve)), 1) - 1]
        excess = threshold - value if DIRECTIONS[name] else value - threshold
        if not math.isnan(excess):
            newest = stamp
        history.append((stamp, excess))
    return history


def _score_unknown(options, curves, duration, start, seen, now, name):
    history = _history(options, curves, duration, start, seen, name)
    if not history or math.isnan(history[-1][1]):
        return True
    return (now - history[-1][0]) / SECOND > options.score_timeout


def _beyond(options, curves, duration, start, seen, now, name):
    if _score_unknown(options, curves, duration, start, seen, now, name):
        return None
    history = _history(options, curves, duration, start, seen, name)
    excesses = [excess for _, excess in history if not math.isnan(excess)]
    which = list(curves).index(name)
    margin = options.score_hysteresis[which % len(options.score_hysteresis)]
    alarm = False
    for count in range(1, len(excesses) + 1):
        least = -margin if alarm else 0.0
        so_far = excesses[:count]
        if options.aggregation == 'current':
            alarm = so_far[-1] > least
        elif options.aggregation == 'all':
            alarm = sum(so_far) / count > least
        elif options.aggregation == 'window':
            last = so_far[-options.window :]
            alarm = sum(last) / len(last) > least
        else:
            last = so_far[-options.window :]
            needed = options.share * options.window - 1e-9
            alarm = sum(excess > least for excess in last) >= needed
    return alarm


def _newest(seen, kind):
    """Samples that brought a newer distance, or contact state."""
    found, newest, now = [], 0, 0
    for sample in seen:
        now = max(now, sample.stamp)
        stamp = getattr(sample, f'{kind}_stamp')
        if newest < stamp <= now + SECOND:
            newest = stamp
            found.append(sample)
    return found


def _distance_state(options, seen, now):
    brought = _newest(seen, 'distance')
    if not brought or (now - brought[-1].distance_stamp) / SECOND > options.distance_timeout:
        return None
    is_near = None
    for sample in brought:
        margin = options.distance_hysteresis if is_near else 0.0
        is_near = (
            None
            if math.isnan(sample.distance)
            else sample.distance <= options.halt_distance + margin
        )
    return is_near


def _contact_state(options, seen, now):
    brought = _newest(seen, 'contact')
    if not brought or (now - brought[-1].contact_stamp) / SECOND > options.contact_timeout:
        return None
    return brought[-1].contact


def _contexts(options, seen, now):
    if options.context == 'anywhere':
        return [True]
    states = []
    if options.context in ('near', 'near_or_contact'):
        states.append(_distance_state(options, seen, now))
    if options.context in ('contact', 'near_or_contact'):
        states.append(_contact_state(options, seen, now))
    return states


def _near(options, seen, now):
    return _or(_contexts(options, seen, now))


def _unknown(options, curves, duration, start, seen, now):
    scores = [_score_unknown(options, curves, duration, start, seen, now, name) for name in curves]
    return any(scores) or None in _contexts(options, seen, now)
