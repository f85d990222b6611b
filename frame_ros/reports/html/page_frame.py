# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Common parts of every HTML page: template filters, look, scripts, and a policy under which it
loads nothing.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

import jinja2
from markupsafe import Markup

from frame_ros.core.errors import SetupError
from frame_ros.core.plain_text import counted, plain
from frame_ros.reports.html.projections import legend_svg
from frame_ros.reports.html.tables import dot_strip
from frame_ros.reports.model.numbers import measured, readable, readable_unit, shortened

# An escape in JSON that is ASCII; halves of a character together.
_ESCAPED = re.compile(r'\\ud[89ab]..\\ud[c-f]..|\\u....|\\.')
# A space between a number and its unit.
_OF_UNIT = re.compile(r'(?<=\d) (?=(?:%|[mµ]?s|[mc]?m|m/s[²³]?|Hz|MB|N)(?!\w))')
# Has no width, and is used to keep the `%{` of a name from being a placeholder of plotly.
DIVIDER = '\u200b'
ASSETS = Path(__file__).parent / 'page_assets'
FRAGMENTS = Path(__file__).parents[1] / 'sections'


def page_frame(
    name: str, fragments: Mapping[str, str] | None = None
) -> tuple[jinja2.Template, dict[str, Any]]:
    """Returns a template of the pages, and the values that each of them needs.

    name: of a file in `page_assets`. fragments: name -> text of further templates.

    Raises:
        SetupError: plotly's script is not installed.
    """
    loader = jinja2.ChoiceLoader(
        [jinja2.FileSystemLoader((ASSETS, FRAGMENTS)), jinja2.DictLoader(fragments or {})]
    )
    environment = jinja2.Environment(
        loader=loader, autoescape=True, undefined=jinja2.StrictUndefined, finalize=as_shown
    )
    environment.filters.update(
        readable=readable,
        measured=measured,
        units_kept=units_kept,
        counted=counted,
        readable_unit=readable_unit,
        shortened=shortened,
        script=as_json_script,
        strip=dot_strip,
        mark=legend_svg,
    )
    plotly, script = _plotly_script(), (ASSETS / 'report.js').read_text(encoding='utf-8')
    frame = {
        'content_security_policy': content_security_policy(plotly, script),
        'css': Markup((ASSETS / 'report.css').read_text(encoding='utf-8')),
        'plotly': Markup(plotly),
        'script': Markup(script),
    }
    return environment.get_template(name), frame


def units_kept(text: str) -> str:
    """Returns a text whose numbers stay in one line with their units."""
    return _OF_UNIT.sub('\u00a0', text)


def content_security_policy(*scripts: str) -> str:
    """A policy under which the page runs these scripts and nothing else, and loads nothing from
    anywhere.
    """
    digests = (base64.b64encode(hashlib.sha256(s.encode()).digest()).decode() for s in scripts)
    allowed = ' '.join(f"'sha256-{digest}'" for digest in digests)
    return (
        f"default-src 'none'; script-src {allowed}; style-src 'unsafe-inline'; "
        'img-src data: blob:; media-src data:; worker-src blob:; font-src data:; '
        "base-uri 'none'; form-action 'none'"
    )


@lru_cache(maxsize=1)
def _plotly_script() -> str:
    """plotly.js as the plotly package carries it, found without importing the package.

    Line ends are as a browser reads them, so that the hash in the policy fits.
    """
    from importlib.util import find_spec

    spec = find_spec('plotly')
    path = (
        Path(spec.submodule_search_locations[0])
        if spec and spec.submodule_search_locations
        else None
    )
    file = path / 'package_data' / 'plotly.min.js' if path else None
    if file is None or not file.is_file():
        raise SetupError(
            'plotly is not installed, its script is part of every report: pip install plotly'
        )
    return file.read_text(encoding='utf-8').replace('\r\n', '\n').replace('</script', '<\\/script')


def as_shown(value: Any) -> Any:
    """Returns what a template shows of a value: of a text that is no markup, its plain form."""
    return plain(value) if type(value) is str else value


def as_json_script(value: Any) -> Markup:
    """JSON that may stand in a script element: no character of it can end the element or begin a
    comment. Its texts are plain. Such JSON stays as it is.
    """
    if isinstance(value, Markup):
        return value
    text = json.dumps(value, allow_nan=False, separators=(',', ':'))
    text = _ESCAPED.sub(_as_plain, text)
    for character in '<>&\u2028\u2029':
        text = text.replace(character, f'\\u{ord(character):04x}')
    return Markup(text)


def _as_plain(escape: re.Match[str]) -> str:
    text = json.loads(f'"{escape[0]}"')
    return escape[0] if text == DIVIDER else json.dumps(plain(text))[1:-1]
