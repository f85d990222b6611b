# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Numbers for people and for JSON: significant digits, readable units, null instead of NaN."""

from __future__ import annotations

import math
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from frame_ros.core.plain_text import plain

UNAVAILABLE = '–'
# Points of a plot that are drawn.
SERIES_POINTS = 1200
PATH_POINTS = 900
# What was measured and is nearer to 0, in its unit of the SI, is 0 but for rounding of what it was
# computed from.
ROUNDING = 1e-12
RAISED = str.maketrans('-0123456789', '⁻⁰¹²³⁴⁵⁶⁷⁸⁹')

# Units in which small (or large) values read better: unit -> (typical value below or above which,
# factor, new unit).
SMALLER = {
    's': (1.0, 1e3, 'ms'),
    'm': (0.05, 1e3, 'mm'),
}
LARGER = {'bytes': (1e6, 1e-6, 'MB')}


def readable_unit(values: list[float | None], unit: str) -> tuple[float, str]:
    """Returns the factor and the unit in which these values read best; (1, unit) if as they are."""
    known = [abs(v) for v in values if v is not None and math.isfinite(v) and v != 0]
    if known and unit in SMALLER:
        limit, factor, name = SMALLER[unit]
        if max(known) < limit:
            return factor, name
    if known and unit in LARGER:
        limit, factor, name = LARGER[unit]
        if max(known) >= limit:
            return factor, name
    return 1.0, readable_power(unit)


def readable_power(unit: str) -> str:
    """Returns a unit with raised exponents: m/s^3 as m/s³."""
    return unit.replace('^2', '²').replace('^3', '³')


def readable(value: float | None, digits: int = 4, factor: float = 1.0) -> str:
    """Returns a value in `digits` significant digits; a dash if there is none."""
    if value is None or not math.isfinite(value):
        return UNAVAILABLE if value is None or math.isnan(value) else ('∞' if value > 0 else '−∞')
    value *= factor
    if value == 0:
        return '0'
    if abs(value) < 1e-4:
        return _power(f'{value:.{digits - 1}e}')
    if abs(value) >= 10**digits:
        return f'{value:,.0f}'
    text = f'{value:.{digits}g}'
    return f'{float(text):.{digits}g}' if 'e' not in text else f'{value:,.0f}'


def measured(value: float | None, digits: int = 4, factor: float = 1.0) -> str:
    """Returns a measured value as `readable` does, 0 if it is 0 but for rounding.

    value: in its unit of the SI, or without one; no p-value and no difference that is to be 0.
    """
    return readable(0.0 if value is not None and abs(value) < ROUNDING else value, digits, factor)


def _power(text: str) -> str:
    """'3.4e-09' as '3.4 × 10⁻⁹'."""
    mantissa, _, exponent = text.partition('e')
    raised = str(int(exponent)).translate(RAISED)
    return f'{mantissa} × 10{raised}'


def finite(value: Any) -> float | None:
    """Returns a number as float, or None where it is missing, NaN or infinite."""
    if value is None or isinstance(value, str):
        return None
    number = float(value)
    return number if math.isfinite(number) else None


def json_safe(value: Any) -> Any:
    """Returns plain JSON types: arrays as lists, NaN and infinity as null, enums and paths as text
    or number, a dataclass as its fields.
    """
    if is_dataclass(value):
        value = {each.name: getattr(value, each.name) for each in fields(value)}
    if isinstance(value, dict):
        return {str(k): json_safe(v) for k, v in value.items()}
    if isinstance(value, (list, tuple, set)):
        return [json_safe(v) for v in value]
    if isinstance(value, np.ndarray):
        return json_safe(value.tolist())
    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    if isinstance(value, (int, np.integer)):
        return int(value)
    if isinstance(value, (float, np.floating)):
        return finite(value)
    return None if value is None else str(value)


def plot_numbers(values: Any, digits: int = 5) -> list[float | None]:
    """Returns an array for a figure: `digits` significant digits, None where not finite."""
    out: list[float | None] = []
    for v in np.asarray(values, dtype=np.float64).tolist():
        out.append(float(f'{v:.{digits}g}') if math.isfinite(v) else None)
    return out


def shortened(text: str, length: int) -> str:
    """Returns a plain text of at most `length` characters, the last an ellipsis where it was
    longer.
    """
    text = plain(text)
    return text if len(text) <= length else text[: length - 1] + '…'


def peak_indices(values: NDArray, points: int = SERIES_POINTS) -> NDArray[np.intp]:
    """Indices of at most about `points` of (T,) values: of each of points/2 equal parts the
    smallest and the largest.

    The first and last sample stay; a part without any value keeps one sample, so that a gap stays a
    gap.
    """
    length = len(values)
    if length <= points:
        return np.arange(length)
    values = np.asarray(values, dtype=np.float64)
    edges = np.linspace(0, length, points // 2 + 1).astype(int)
    low, high = (
        np.where(np.isnan(values), np.inf, values),
        np.where(np.isnan(values), -np.inf, values),
    )
    kept = [0, length - 1]
    for begin, end in zip(edges[:-1], edges[1:]):
        kept += [begin + int(low[begin:end].argmin()), begin + int(high[begin:end].argmax())]
    return np.unique(kept)
