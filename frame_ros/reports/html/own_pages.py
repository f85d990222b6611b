# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Pages that a command wrote itself, and may write again."""

from __future__ import annotations

from pathlib import Path

from frame_ros.core.errors import SetupError

_HEAD = 16384  # bytes in which the mark stands; a page may have many MB


def refuse_other_page(file: Path, kind: str) -> None:
    """Checks that a page to write replaces none but a page of its kind. Devices and pipes pass.

    Args:
        kind: the command, such as 'frame_ros scenes report', which the page has as the content of
            its `application-name`.

    Raises:
        SetupError: another file is there, or it cannot be read.
    """
    if not file.is_file():
        return
    try:
        with file.open('rb') as page:
            head = page.read(_HEAD)
    except OSError as error:
        raise SetupError(f'{file} is there and cannot be read: {error.strerror}') from error
    if head and f'<meta name="application-name" content="{kind}">'.encode() not in head:
        raise SetupError(
            f'{file} is there and is no page of {kind}, which would overwrite it. Give another '
            '--output, or remove it'
        )
