# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Contacts and distances summed up so far in an episode."""

from __future__ import annotations

import math

from frame_ros.confidence.score_channels import CONTACT, DISTANCE
from frame_ros.core.time import SECOND
from frame_ros.episodes.metric_pipeline.live_metrics import LiveMetrics
from frame_ros.episodes.metric_pipeline.options import PipelineOptions
from frame_ros.metrics import CollisionRate, ContactLimitRatio, ObstacleProximity, RiskFactor

NAN = math.nan
# Bits of QualityMetrics.lagging.
LAGGING = {'contact': 2, 'proximity': 4}
NO_RATES = (NAN, NAN, NAN)
NO_FORCES = (NAN, NAN, NAN, NAN)
NO_DISTANCE = (NAN,) * 7
ContactSample = tuple[bool | None, bool, float, float, float, float]


class SafetyState:
    """Takes contacts and distances one by one, and gives the values of SafetyMetrics at a step."""

    def __init__(self, config: PipelineOptions) -> None:
        self._config = config
        self._contact_age = int(config.max_contact_age * SECOND)
        self._distance_age = int(config.max_distance_age * SECOND)
        self._collisions = CollisionRate()
        self._proximity = ObstacleProximity()
        self._risk = RiskFactor(floor=config.risk_floor)
        self._live = LiveMetrics('safety', config)
        self._limits = ContactLimitRatio(config.contact_limits())
        self._are_all_limited = config.limited_contacts == 'all'
        self.reset()

    def reset(self) -> None:
        """Starts a new episode. A contact that is already there counts from its first sample on."""
        self._collisions.reset()
        self._proximity.reset()
        self._risk.reset()
        self._live.reset()
        self._limits.reset()
        self.in_contact = False
        self._collisions_shown = self._exceedances_shown = 0
        self._is_known = self._was_known = False
        self._contact_stamp: int | None = None
        self._old_peaks = (NAN, NAN)
        self.peak_force = NAN
        self._force_squares = 0.0
        self._force_samples = 0
        self.distance = self.closing_speed = self.moving_distance = NAN
        self._distance_stamp: int | None = None
        self.near_zone_time = NAN

    def update_contact(self, stamp: int, value: ContactSample) -> None:
        """value: in_contact (None: not known), in_collision, force and the largest force since the
        contact began (N, NaN if not measured), and the two of contacts that are not expected (NaN
        if these are not distinguished). What is not known ends no collision and begins none.
        """
        in_contact, in_collision, force, *_ = value
        self._contact_stamp = stamp
        self._is_known = in_contact is not None
        if in_contact is None:
            return
        peak, own_peak = self._peaks(value)
        self._was_known = True
        if 'contact' in self._live.streams:
            self._live.update('contact', stamp, value)
        self._collisions.update(in_collision, steps=0)
        self.in_contact = in_contact
        own_force = value[4]
        if self._are_all_limited or own_force != own_force:
            self._limits.update(
                stamp / SECOND, in_contact if self._are_all_limited else in_collision, force, peak
            )
        else:
            self._limits.update(stamp / SECOND, in_collision, own_force, own_peak)
        # Without contact the force is what the sensor's model leaves over, and none of a contact's.
        largest = (force if peak != peak or force >= peak else peak) if in_contact else 0.0 * force
        if largest == largest and not self.peak_force >= largest:
            self.peak_force = largest
        if in_contact and force == force:
            self._force_squares += force * force
            self._force_samples += 1

    def _peaks(self, value: ContactSample) -> tuple[float, float]:
        """The two peaks; NaN where the contact's may be of before the episode: of one that was
        there at the first sample, as long as it lasts, what is no more than then.
        """
        peaks = value[3], value[5]
        if not value[0]:
            self._old_peaks = (NAN, NAN)
        elif not self._was_known:
            self._old_peaks = peaks
        old, own = self._old_peaks
        return NAN if peaks[0] <= old else peaks[0], NAN if peaks[1] <= own else peaks[1]

    def update_distance(self, stamp: int, distance: float) -> None:
        """distance: m. One that was not measured (NaN) ends what can be said of closing in."""
        last, last_stamp = self.distance, self._distance_stamp
        self.distance = distance
        self.closing_speed = NAN
        if distance != distance:
            return
        self._distance_stamp = stamp
        self._proximity.update(distance)
        self._risk.update(distance)
        if 'proximity' in self._live.streams:
            self._live.update('proximity', stamp, distance)
        if self.near_zone_time != self.near_zone_time:
            self.near_zone_time = 0.0
        if last == last and last_stamp is not None and 0 < stamp - last_stamp <= self._distance_age:
            dt = (stamp - last_stamp) / SECOND
            self.closing_speed = (last - distance) / dt
            if distance < self._config.near_distance:
                self.near_zone_time += dt

    @property
    def newest(self) -> dict[str, float]:
        """DISTANCE, m, and CONTACT, 0 or 1, as of now; NaN, and 0, where they are not known."""
        return {DISTANCE: self.distance, CONTACT: float(self._is_known and self.in_contact)}

    def ahead_of(self, stamp: int) -> int:
        """Bits LAGGING_* of what is known of a later time than a step that came late."""
        contact, distance = self._contact_stamp, self._distance_stamp
        return (2 if contact is not None and contact > stamp else 0) | (
            4 if distance is not None and distance > stamp else 0
        )

    def totals(self, time: float, path_length: float) -> tuple:
        """The row of SafetyMetrics behind step and time, over the episode: its totals whatever its
        last step lacked. Nothing is momentary.
        """
        rate = self._collisions
        rates = (rate.value, rate.per(time), rate.per(path_length))
        return (
            rate.collisions, self._was_known, self.in_contact, rate.in_collision,
            self._limits.exceedances,
            *(rates if self._was_known else NO_RATES),
            self._proximity.value, self._risk.value, self.distance, self.near_zone_time,
            self.closing_speed, NAN, self.moving_distance, *self._forces(), *self._live.values(),
        )  # fmt: skip

    def values(
        self, stamp: int, time: float, path_length: float, is_moving: bool, lagging: int
    ) -> tuple:
        """The row of SafetyMetrics behind step and time, at the next step.

        `lagging`: bits of QualityMetrics.LAGGING_*. What comes of a stream that lags is unavailable
        at this step, all of it: its late samples will count, but which of them have arrived by now
        is chance.
        """
        rate = self._collisions
        rate.add_step()
        contact_stamp, distance_stamp = self._contact_stamp, self._distance_stamp
        rates, is_sensed, forces = NO_RATES, False, NO_FORCES
        if not lagging & 2:
            self._collisions_shown = rate.collisions
            self._exceedances_shown = self._limits.exceedances
            forces = self._forces()
            is_old = contact_stamp is None or stamp - contact_stamp > self._contact_age
            if self._is_known and not is_old:
                is_sensed = True
                rates = (rate.value, rate.per(time), rate.per(path_length))
        distances = NO_DISTANCE
        if not lagging & 4:
            distance, closing = self.distance, self.closing_speed
            if distance_stamp is None or stamp - distance_stamp > self._distance_age:
                distance = closing = NAN
            elif is_moving and not self.moving_distance <= distance:
                self.moving_distance = distance
            distances = (
                self._proximity.value, self._risk.value, distance, self.near_zone_time,
                closing, distance / closing if closing > 0 else NAN, self.moving_distance,
            )  # fmt: skip
        live: tuple = ()
        if self._live.fields:
            live = self._live.values(late=[s for s, bit in LAGGING.items() if lagging & bit])
        return (
            self._collisions_shown, is_sensed, is_sensed and self.in_contact,
            is_sensed and rate.in_collision, self._exceedances_shown,
            *rates, *distances, *forces, *live,
        )  # fmt: skip

    def _forces(self) -> tuple[float, float, float, float]:
        samples, limits = self._force_samples, self._limits
        rms_force = math.sqrt(self._force_squares / samples) if samples else NAN
        return self.peak_force, rms_force, limits.force_ratio, limits.pressure_ratio
