# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Words and exit of scripts/audit.sh where its database answers for some files only."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from patience import PATIENCE

ROOT = Path(__file__).resolve().parent.parent
# In place of an interpreter: makes an environment whose pip does nothing, and whose pip-audit
# answers with a file of $ANSWERS, or not at all.
PYTHON = r"""#!/usr/bin/env bash
if [ "$1" = -m ] && [ "$2" = venv ]; then
  mkdir -p "$3/bin"
  printf '#!/bin/sh\n' >"$3/bin/python"
  printf '#!/bin/sh\nwhile [ "$1" != -r ]; do shift; done\n' >"$3/bin/pip-audit"
  printf 'cat "$ANSWERS/$(basename "$2" .txt)" 2>/dev/null || { echo "timed out" >&2; exit 1; }' \
    >>"$3/bin/pip-audit"
  chmod +x "$3/bin/python" "$3/bin/pip-audit"
else
  exec "$REAL_PYTHON" "$@"
fi
"""
SAFE = '{"dependencies": [{"name": "safe", "version": "1", "vulns": []}]}'
BAD = (
    '{"dependencies": [{"name": "bad", "version": "2", '
    '"vulns": [{"id": "CVE-1", "fix_versions": ["3"]}]}]}'
)
FILES = sorted(file.stem for file in (ROOT / 'requirements' / 'locked').glob('*.txt'))


@pytest.mark.parametrize(
    ('answers', 'status', 'said', 'unsaid'),
    [
        ([SAFE] * len(FILES), 0, ('audit: 1 of 1', ' 0 vuln'), ('not checked', 'SKIPPED')),
        ([BAD] * len(FILES), 1, ('bad 2: CVE-1, mended in 3',), ('not checked',)),
        ([None, BAD], 1, (f'{FILES[0]}.txt was not checked', 'CVE-1', 'timed out'), ('SKIPPED',)),
        ([SAFE, None], 0, (f'{FILES[1]}.txt was not checked', ' 0 vuln'), ('SKIPPED',)),
        ([], 0, ('SKIPPED, nothing was checked', 'timed out'), ('vulnerabilities',)),
    ],
)  # fmt: skip
def test_the_files_for_which_the_database_answers_are_judged(
    tmp_path, answers, status, said, unsaid
):
    python, folder = tmp_path / 'python', tmp_path / 'answers'
    python.write_text(PYTHON)
    python.chmod(0o755)
    folder.mkdir()
    for name, answer in zip(FILES, answers, strict=False):
        if answer is not None:
            (folder / name).write_text(answer)
    done = subprocess.run(
        [str(ROOT / 'scripts' / 'audit.sh')],
        env={
            **os.environ, 'PYTHON': str(python), 'REAL_PYTHON': sys.executable,
            'ANSWERS': str(folder),
        },
        capture_output=True, text=True, timeout=PATIENCE,
    )  # fmt: skip
    assert done.returncode == status, done.stdout + done.stderr
    assert all(each in done.stdout for each in said), done.stdout
    assert not any(each in done.stdout for each in unsaid), done.stdout
