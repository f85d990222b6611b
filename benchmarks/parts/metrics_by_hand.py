# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The batch metrics as one would write them by hand in vectorised numpy: no checks, one shape."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def lengths(vectors: Floats) -> Floats:
    """Euclidean norms of rows: einsum is the fastest idiom of bare numpy."""
    return np.sqrt(np.einsum('ij,ij->i', vectors, vectors))


def path_length(p: Floats) -> float:
    return lengths(np.diff(p, axis=0)).sum()


def mean_second_difference(p: Floats) -> float:
    return lengths(np.diff(p, 2, axis=0)).mean()


def smoothness(p: Floats) -> float:
    first = np.diff(p, axis=0)
    return lengths(np.diff(first, axis=0)).sum() / lengths(first).sum()


def curvature_change(p: Floats, turns: Floats) -> float:
    """Of turns (T - 1,); segments that are too short are left out, as in ours."""
    segments = lengths(np.diff(p, axis=0))
    keep = segments >= 1e-6
    return np.abs(np.diff(turns[keep] / segments[keep])).mean()


def heading_turns(headings: Floats) -> Floats:
    turns = np.diff(headings)
    return turns - 2 * np.pi * np.ceil((turns - np.pi) / (2 * np.pi))


def rotation_turns(q: Floats) -> Floats:
    """Of any quaternions, exact when small."""
    q = q / lengths(q)[:, None]
    before, after = q[:-1], q[1:]
    sign = np.where(np.einsum('ij,ij->i', before, after) >= 0, 1.0, -1.0)
    return 4.0 * np.arcsin(0.5 * lengths(before * sign[:, None] - after))


def path_curvature_change(p: Floats) -> float:
    segments = np.diff(p, axis=0)
    size = lengths(segments)
    segments, size = segments[size >= 1e-6], size[size >= 1e-6]
    dot = np.einsum('ij,ij->i', segments[:-1], segments[1:])
    turns = np.arctan2(lengths(np.cross(segments[:-1], segments[1:])), dot)
    return np.abs(np.diff(turns / size[:-1])).mean()


def absolute_error(p: Floats, reference: Floats) -> float:
    return lengths(p - reference).mean()


def relative_error(p: Floats, reference: Floats, delta: int) -> float:
    off = p - reference
    return lengths(off[delta:] - off[:-delta]).mean()


def jerk(p: Floats, dt: Floats) -> float:
    velocity = np.diff(p, axis=0) / dt[:, None]
    acceleration = np.diff(velocity, axis=0) / (0.5 * (dt[1:] + dt[:-1]))[:, None]
    rate = np.diff(acceleration, axis=0) / ((dt[2:] + dt[1:-1] + dt[:-2]) / 3.0)[:, None]
    return np.sqrt(np.einsum('ij,ij->', rate, rate) / len(rate))


def even_jerk(p: Floats, dt: float) -> float:
    rate = np.diff(p, 3, axis=0)
    return np.sqrt(np.einsum('ij,ij->', rate, rate) / len(rate)) / dt**3


def gradients(p: Floats) -> float:
    for _ in range(3):
        p = np.gradient(p, axis=0)
    return lengths(p).mean()


def action_steps(actions: Floats, order: int, width: Floats) -> Floats:
    changes = np.abs(np.diff(actions / width, order, axis=0))
    return np.einsum('ij->i', changes) / changes.shape[1]


def tcp_steps(p: Floats, order: int) -> Floats:
    return lengths(np.diff(p, order, axis=0))


def windows(steps: Floats, order: int) -> Floats:
    """Of values that are NaN in the first `order` steps, by running sums."""
    known = np.nancumsum(steps)
    known[8 - order :] -= known[: order - 8].copy()
    count = np.minimum(np.arange(1, len(steps) + 1) - order, 8 - order)
    return known / np.where(count > 0, count, np.nan)


def progress(tcp: Floats, target: Floats, goal: Floats, held: NDArray[np.bool_]) -> Floats:
    to_goal = lengths(tcp - goal)
    left = np.where(held, to_goal, lengths(tcp - target) + lengths(target - goal))
    return 0.5 * (1.0 + np.diff(left / left[0]))


def is_static(p: Floats) -> bool:
    return bool((lengths(p - p[0]) < 5e-3).all())


def align(p: Floats, reference: Floats) -> Floats:
    centred, wanted = p - p.mean(axis=0), reference - reference.mean(axis=0)
    u, _, vt = np.linalg.svd(wanted.T @ centred)
    signs = np.array([1.0, 1.0, np.sign(np.linalg.det(u) * np.linalg.det(vt))])
    return centred @ ((u * signs) @ vt).T + reference.mean(axis=0)


def resample(p: Floats, stamps: Floats, wanted: Floats) -> Floats:
    return np.stack([np.interp(wanted, stamps, p[:, axis]) for axis in range(3)], axis=1)


def confidence_scores(p: Floats) -> Floats:
    top = np.partition(p, -2, axis=-1)
    return 1.0 - (top[..., -1] - top[..., -2]).mean(axis=-1)


def entropy(p: Floats) -> Floats:
    return -(p * np.log(np.where(p > 0, p, 1.0))).sum(axis=-1).mean(axis=-1)


def gini(p: Floats) -> Floats:
    return (1.0 - np.einsum('...i,...i->...', p, p)).mean(axis=-1)


def squared_error(actions: Floats, predicted: Floats) -> float:
    error = actions - predicted
    return np.einsum('ij,ij->', error, error) / len(error)


def risk(distances: Floats) -> float:
    return (1.0 / np.maximum(distances, 1e-3)).mean()


def risk_if_known(distances: Floats) -> float:
    return np.nanmean(1.0 / np.maximum(distances, 1e-3))
