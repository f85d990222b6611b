# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Images as models on OpenPI's servers were trained on them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from frame_ros.core.errors import MissingExtraError, PolicyError, install_hint


def resize_with_border(image: NDArray[np.uint8], size: tuple[int, int]) -> NDArray[np.uint8]:
    """Returns the whole image (H, W, 3) within `size` (H, W), undistorted, in the middle of black.

    By Pillow's bilinear filter, which averages where it shrinks: the same values as openpi-client's
    `resize_with_pad`, which the models are used to. OpenCV's does not.

    Raises:
        MissingExtraError: Pillow is not installed.
    """
    try:
        from PIL import Image
    except ImportError as error:
        raise MissingExtraError(
            f'resizing images for an OpenPI server needs Pillow: {install_hint("remote")}'
        ) from error
    height, width = image.shape[:2]
    if (height, width) == size:
        return image
    ratio = max(height / size[0], width / size[1])
    # The filter takes at least one pixel of a very long or thin image.
    inner = max(1, int(height / ratio)), max(1, int(width / ratio))
    resized = Image.fromarray(image).resize(inner[::-1], resample=Image.Resampling.BILINEAR)
    top, left = (size[0] - inner[0]) // 2, (size[1] - inner[1]) // 2
    result = np.zeros((*size, 3), np.uint8)
    result[top : top + inner[0], left : left + inner[1]] = np.asarray(resized)
    return result


def as_rgb(key: str, value: object) -> NDArray[np.uint8]:
    """Returns an image from the wire as (H, W, 3) uint8: it may come channels first, or as floating
    numbers from 0 to 1.

    Raises:
        PolicyError: it is no such image.
    """
    if isinstance(value, np.ndarray) and value.ndim == 3:
        if value.shape[0] == 3 and value.shape[2] != 3:
            value = np.moveaxis(value, 0, 2)
        if value.shape[2] == 3 and value.dtype == np.uint8:
            return value
        if value.shape[2] == 3 and value.dtype.kind == 'f':
            return np.clip(255 * value, 0, 255).astype(np.uint8)
    is_array = isinstance(value, np.ndarray)
    found = f'{value.dtype} {value.shape}' if is_array else type(value).__name__  # type: ignore[attr-defined]
    raise PolicyError(f'{key!r} is {found}; an image of (H, W, 3), uint8, is expected')
