# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Some pixels of an image, by which a frozen camera and its time offset are recognised."""

from __future__ import annotations

import zlib
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
EVERY = 8  # rows and columns of which one is looked at
CHANNELS = 64  # pixels whose noise is followed
KINDS = {'16UC1': 'u2', 'mono16': 'u2', '32FC1': 'f4'}  # others: bytes


class ImageSample(NamedTuple):
    """key: the same where the rows that are looked at are. pixels: (P,) of a coarse grid; NaN
    where there is no depth. Empty for a compressed image.
    """

    key: bytes
    pixels: Array

    @property
    def channels(self) -> Array:
        """(C,) of the pixels, spread over the image."""
        return self.pixels[:: max(1, len(self.pixels) // CHANNELS)][:CHANNELS]


def image_sample(
    data: Any, height: int, width: int, step: int, encoding: str, is_bigendian: bool = False
) -> ImageSample:
    """Returns the sample of an image.

    Args:
        data: its bytes, any buffer.
        height, width: pixels; step: bytes of a row.
        encoding: as of sensor_msgs/image_encodings; depth is '16UC1' (mm) or '32FC1' (m).
        is_bigendian: whether the first of a pixel's bytes is the highest.
    """
    content = np.frombuffer(data, np.uint8)
    rows = content[: height * step].reshape(-1, step)[:: EVERY // 2]
    key = zlib.crc32(rows.tobytes()).to_bytes(4, 'little')
    kind = KINDS.get(encoding)
    if kind is None:
        bytes_of_pixel = max(step // max(width, 1), 1)
        return ImageSample(key, rows[::2, :: EVERY * bytes_of_pixel].astype(np.float64).ravel())
    value = np.dtype(kind).newbyteorder('>' if is_bigendian else '<')
    wide = value.itemsize
    pixels = np.ascontiguousarray(rows[::2, : width * wide]).view(value)[:, ::EVERY]
    found = pixels.astype(np.float64).ravel()
    found[~(found > 0.0)] = np.nan  # a hole
    return ImageSample(key, found)


def compressed_sample(data: Any) -> ImageSample:
    """Returns the sample of a compressed image, of which only the bytes are compared."""
    return ImageSample(zlib.crc32(data).to_bytes(4, 'little'), np.zeros(0))


def change_between(before: ImageSample, after: ImageSample) -> float:
    """Returns the mean absolute change of the pixels that both have; NaN without any."""
    if before.pixels.shape != after.pixels.shape or not len(after.pixels):
        return float('nan')
    change = np.abs(after.pixels - before.pixels)
    known = change[np.isfinite(change)]
    # One far edge that a hole uncovers must not outweigh the whole picture.
    return (
        float(np.minimum(known, 10.0 * (np.median(known) + 1e-9)).mean())
        if len(known)
        else (float('nan'))
    )
