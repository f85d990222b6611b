# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Contact forces, and how near they come to limits in the manner of ISO/TS 15066."""

from __future__ import annotations

from dataclasses import astuple, dataclass
from math import isfinite

from frame_ros.core.errors import ValueRangeError
from frame_ros.metrics import record
from frame_ros.metrics.constants import NAN

__all__ = ['ContactLimitRatio', 'ContactLimits']


@dataclass(frozen=True)
class ContactLimits:
    """Limits of a contact.

    force: N, of a quasi-static contact; 0: no limit. pressure: Pa, likewise. area: m^2 over which
    a contact is taken to press; 0: not known, so there is no pressure. transient_factor: by how
    much a contact may exceed both while it is transient, its first transient_time (s): ISO/TS
    15066:2016, annex A, has 2 and 0.5 s.

    Raises:
        ValueRangeError: a value that cannot be, or a limit of pressure without an area.
    """

    force: float = 0.0
    pressure: float = 0.0
    area: float = 0.0
    transient_factor: float = 2.0
    transient_time: float = 0.5

    def __post_init__(self) -> None:
        if not all(isfinite(value) and value >= 0.0 for value in astuple(self)):
            raise ValueRangeError(f'{self}: all of them are finite and not negative')
        if self.transient_factor < 1.0:
            raise ValueRangeError(
                f'the transient factor is {self.transient_factor}; a short contact may do as much '
                'as a long one at least: 1 or more'
            )
        if self.pressure and not self.area:
            raise ValueRangeError(
                f'a pressure limit of {self.pressure} Pa needs the contact area in m^2'
            )


class ContactLimitRatio:
    """The largest force and pressure so far over the limit that held for them.

    force_ratio, pressure_ratio: 1; NaN without a limit, and before any force was measured.
    exceedances: contacts in which one of the two was above 1.
    """

    def __init__(self, limits: ContactLimits) -> None:
        self.limits = limits
        self.reset()

    def reset(self) -> None:
        """Forgets everything; a contact that lasts begins again."""
        self.force_ratio = NAN
        self.pressure_ratio = NAN
        self.exceedances = 0
        self._is_in_contact = self._is_counted = False
        self._began = 0.0

    def update(self, time: float, is_contact: bool, force: float, peak: float = NAN) -> None:
        """Takes one sample.

        Args:
            time: s, of the sample.
            is_contact: whether there is a contact that the limits are meant for.
            force: N, now; NaN if not measured.
            peak: N, the largest since this contact began; counts while it is transient, since when
                it was is not known. NaN: no more is known than `force`.
        """
        if not is_contact:
            self._is_in_contact = self._is_counted = False
            # Force is measured and does no harm: the ratios are known, and 0 so far.
            if force == force:
                self._take(0.0, 1.0)
            return
        if not self._is_in_contact:
            self._is_in_contact, self._began = True, time
        is_transient = time - self._began <= self.limits.transient_time
        if is_transient and peak > force:
            force = peak
        if force == force:
            self._take(force, self.limits.transient_factor if is_transient else 1.0)

    def _take(self, force: float, factor: float) -> None:
        limits = self.limits
        worst = 0.0
        if limits.force:
            worst = ratio = force / (factor * limits.force)
            if not self.force_ratio >= ratio:
                self.force_ratio = ratio
        if limits.pressure:
            ratio = force / limits.area / (factor * limits.pressure)
            worst = max(worst, ratio)
            if not self.pressure_ratio >= ratio:
                self.pressure_ratio = ratio
        if worst > 1.0 and not self._is_counted:
            self._is_counted = True
            self.exceedances += 1


PEAK_FORCE = record.safety_metric(
    id='peak_force', name='peak contact force', unit='N', higher_is_better=False,
    reasons=(record.Reason('no contact force is measured'),), sampled_at=record.CONTACTS,
    # Until then it counted what was estimated in free motion too.
    changed_in=2,
    formula='maxₜ ‖Fₜ‖                     over samples in contact',
    shows='The largest force of a contact so far; 0 where force was measured and nothing touched.',
    misleads='A maximum rests on one sample; at low rates the peak of an impact falls between '
        'samples. What the sensor estimates in free motion is not in it; its error while in '
        'contact, and the weight of what is held, are.',
)  # fmt: skip

RMS_FORCE = record.safety_metric(
    id='rms_force', name='RMS contact force while in contact', unit='N', higher_is_better=False,
    reasons=(record.Reason('no contact force was measured while in contact'),),
    sampled_at=record.CONTACTS,
    formula='√( mean ‖Fₜ‖² )               over samples in contact',
    shows='How hard contacts were on the whole.',
    misleads='Expected contacts count too: holding an object firmly raises it. Offsets of the '
        'sensor and the weight of what is held are in it.',
)  # fmt: skip

FORCE_LIMIT_RATIO = record.safety_metric(
    id='force_limit_ratio', name='largest contact force over its limit', unit='1',
    higher_is_better=False,
    reasons=(record.Reason('no limit of the force is set, or no force was measured'),),
    options=('force_limit', 'transient_factor', 'transient_time', 'limited_contacts'),
    formula='max Fₜ / limit                limit: twice as much in the first 0.5 s of a contact',
    shows='How near contacts that were not expected came to the force limit that you set; above 1 '
        'it was exceeded.',
    misleads='The limits and the time that separates transient from quasi-static contact are in '
        'the manner of ISO/TS 15066, annex A, where they depend on the region of the body: choose '
        'the one for yours. This is monitoring; it is no certified safety function, and a ratio '
        'below 1 does not say that a robot may work next to people.',
)  # fmt: skip

PRESSURE_LIMIT_RATIO = record.safety_metric(
    id='pressure_limit_ratio', name='largest contact pressure over its limit', unit='1',
    higher_is_better=False,
    reasons=(record.Reason('no limit of the pressure is set, or no force was measured'),),
    options=(
        'pressure_limit', 'contact_area', 'transient_factor', 'transient_time', 'limited_contacts',
    ),
    formula='max (Fₜ / A) / limit          A: the contact area that you set',
    shows='The same for the pressure that contacts made.',
    misleads='The area is assumed, not measured, and an edge presses on less of it: a real '
        'pressure may be many times higher. Measure with a pressure-sensing film before you rely '
        'on it. Monitoring, no certified safety function.',
)  # fmt: skip
