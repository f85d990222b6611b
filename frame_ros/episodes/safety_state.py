# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""What contacts and distances have amounted to so far in an episode."""

from __future__ import annotations

import math

from frame_ros.episodes.pipeline_config import PipelineConfig
from frame_ros.episodes.stamps import SECOND
from frame_ros.metrics import CollisionRate, ObstacleProximity, RiskFactor

NAN = math.nan


class SafetyState:
    """Takes contacts and distances one by one, and gives the values of SafetyMetrics at a step."""

    def __init__(self, config: PipelineConfig) -> None:
        self._config = config
        self._contact_age = int(config.max_contact_age * SECOND)
        self._distance_age = int(config.max_distance_age * SECOND)
        self._collisions = CollisionRate()
        self._proximity = ObstacleProximity()
        self._risk = RiskFactor(floor=config.risk_floor)
        self.reset()

    def reset(self) -> None:
        """Starts a new episode. A contact that is already there counts from its first sample on."""
        self._collisions.reset()
        self._proximity.reset()
        self._risk.reset()
        self.in_contact = False
        self._collisions_shown = 0
        self._contact_stamp: int | None = None
        self.peak_force = NAN
        self._force_squares = 0.0
        self._force_samples = 0
        self.distance = self.closing_speed = self.moving_distance = NAN
        self._distance_stamp: int | None = None
        self.near_zone_time = NAN

    def update_contact(self, stamp: int, value: tuple[bool, bool, float]) -> None:
        """value: in_contact, in_collision, force (N, NaN if not measured)."""
        in_contact, in_collision, force = value
        self._collisions.update(in_collision, steps=0)
        self.in_contact = in_contact
        self._contact_stamp = stamp
        if force == force:
            self.peak_force = force if not self.peak_force >= force else self.peak_force
            if in_contact:
                self._force_squares += force * force
                self._force_samples += 1

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
        if self.near_zone_time != self.near_zone_time:
            self.near_zone_time = 0.0
        if last == last and last_stamp is not None and 0 < stamp - last_stamp <= self._distance_age:
            dt = (stamp - last_stamp) / SECOND
            self.closing_speed = (last - distance) / dt
            if distance < self._config.near_distance:
                self.near_zone_time += dt

    def ahead_of(self, stamp: int) -> int:
        """Bits LAGGING_* of what is known of a later time than a step that came late."""
        contact, distance = self._contact_stamp, self._distance_stamp
        return (2 if contact is not None and contact > stamp else 0) | (
            4 if distance is not None and distance > stamp else 0
        )

    def totals(self, time: float, path_length: float) -> tuple:
        """The row of SAFETY_FIELDS behind step and time, over the episode: its totals whatever its
        last step lacked. Nothing is momentary.
        """
        rate, samples = self._collisions, self._force_samples
        rates = (rate.value, rate.per(time), rate.per(path_length))
        return (
            *(rates if self._contact_stamp is not None else (NAN, NAN, NAN)),
            rate.collisions, self._contact_stamp is not None, self.in_contact, rate.in_collision,
            self._proximity.value, self._risk.value, self.distance, self.near_zone_time,
            self.closing_speed, NAN, self.moving_distance,
            self.peak_force, math.sqrt(self._force_squares / samples) if samples else NAN,
        )  # fmt: skip

    def values(
        self, stamp: int, time: float, path_length: float, is_moving: bool, lagging: int
    ) -> tuple:
        """The row of SAFETY_FIELDS behind step and time, at the next step.

        `lagging`: bits of QualityMetrics.LAGGING_*. What comes of a stream that lags is unavailable
        at this step, all of it: its late samples will count, but which of them have arrived by now
        is chance.
        """
        self._collisions.add_step()
        contact, force = self._contact_values(stamp, time, path_length, bool(lagging & 2))
        return contact + self._distance_values(stamp, is_moving, bool(lagging & 4)) + force

    def _contact_values(
        self, stamp: int, time: float, path_length: float, is_lagging: bool
    ) -> tuple[tuple, tuple]:
        rate, newest, samples = self._collisions, self._contact_stamp, self._force_samples
        if is_lagging:
            return (NAN, NAN, NAN, self._collisions_shown, False, False, False), (NAN, NAN)
        self._collisions_shown = rate.collisions
        rms_force = math.sqrt(self._force_squares / samples) if samples else NAN
        force = (self.peak_force, rms_force)
        if newest is None or stamp - newest > self._contact_age:
            return (NAN, NAN, NAN, rate.collisions, False, False, False), force
        return (
            rate.value, rate.per(time), rate.per(path_length),
            rate.collisions, True, self.in_contact, rate.in_collision,
        ), force  # fmt: skip

    def _distance_values(self, stamp: int, is_moving: bool, is_lagging: bool) -> tuple:
        if is_lagging:
            return (NAN,) * 7
        newest, distance, closing = self._distance_stamp, self.distance, self.closing_speed
        if newest is None or stamp - newest > self._distance_age:
            distance = closing = NAN
        elif is_moving and not self.moving_distance <= distance:
            self.moving_distance = distance
        return (
            self._proximity.value, self._risk.value, distance, self.near_zone_time, closing,
            distance / closing if closing > 0 else NAN, self.moving_distance,
        )  # fmt: skip
