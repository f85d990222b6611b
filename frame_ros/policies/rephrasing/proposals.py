# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Rephrasings proposed by a language model behind an OpenAI-compatible endpoint.

They are untrusted text, and only proposals: the user confirms each.
"""

from __future__ import annotations

import http.client
import ipaddress
import json
import re
import urllib.error
import urllib.parse
import urllib.request
from dataclasses import dataclass, field
from typing import Any

from frame_ros.core.errors import SetupError
from frame_ros.policies.rephrasing.rephrasings import cleaned, problem_of

PATH = '/chat/completions'
MOST_BYTES = 1_000_000
LONGEST_TIMEOUT = 86_400  # s
MOST_LINES = 1_000  # of an answer that are looked at
ROUNDS = 3  # how often it is asked for what is still missing
TASK = (
    'You rephrase instructions for a robot arm. Every rephrasing must ask for exactly the same '
    'thing: the same objects, the same places, the same order, no step more and no step less. '
    'Change words and their order only. Write one rephrasing per line, in lower case, without '
    'numbers, quotes, explanations or blank lines.'
)
_BULLET = re.compile(r'^(\d+[.):]|[-*•])\s+')
_QUOTES = '"\'`“”‘’'
_SHOWN = 200


@dataclass(frozen=True)
class ChatEndpoint:
    """The endpoint."""

    url: str  # up to and without PATH, such as http://127.0.0.1:11434/v1
    model: str
    key: str = field(default='', repr=False)  # sent as a bearer token, '' for none
    timeout: float = 60.0  # s without an answer

    def __post_init__(self) -> None:
        try:
            parts = urllib.parse.urlsplit(self.url)
        except ValueError as error:
            raise SetupError(f'the endpoint is {self.url!r}: {error}') from error
        if parts.scheme not in ('http', 'https') or not parts.hostname:
            raise SetupError(
                f'the endpoint is {self.url!r}; http:// or https:// and a host are expected, such '
                'as http://127.0.0.1:11434/v1'
            )
        if self.key and parts.scheme == 'http' and not _is_loopback(parts.hostname):
            raise SetupError(
                f'the key would travel unencrypted to {parts.hostname}; use https, or no key'
            )
        if not (self.key.isascii() and self.key.isprintable() and ' ' not in self.key):
            # The exception about an invalid HTTP header would show it.
            raise SetupError('the key has blanks, line ends or characters that are not ASCII')
        if not 0 < self.timeout <= LONGEST_TIMEOUT:
            raise SetupError(
                f'the timeout is {self.timeout} s; it must be above 0, {LONGEST_TIMEOUT} at most'
            )


def propose(endpoint: ChatEndpoint, instruction: str, count: int) -> list[str]:
    """Returns `count` different rephrasings of an instruction, cleaned but not reviewed.

    Raises:
        SetupError: the endpoint cannot be reached, refuses, answers something else, or gives too
            few.
    """
    found: list[str] = []
    for _ in range(ROUNDS):
        known = ''.join(f'\n{text}' for text in found)
        without = f'\n\nDo not give these again:{known}' if found else ''
        asked = f'Give {count - len(found)} rephrasings of: {instruction}{without}'
        messages = [{'role': 'system', 'content': TASK}, {'role': 'user', 'content': asked}]
        for line in _lines(_ask(endpoint, messages)):
            if not problem_of(line, instruction, found):
                found.append(line)
            if len(found) == count:
                return found
    raise SetupError(
        f'{endpoint.model} gave {len(found)} usable rephrasings in {ROUNDS} answers; {count} were '
        'asked for: ask for fewer by --count, or name another model'
    )


def _lines(answer: str) -> list[str]:
    first = answer.splitlines()[:MOST_LINES]
    lines = (_BULLET.sub('', cleaned(line)).strip(_QUOTES + ' ') for line in first)
    return [line for line in lines if line and not line.endswith(':')]


def _opener(url: str) -> urllib.request.OpenerDirector:
    """Returns an opener that uses no proxy for this machine, which would read the key."""
    host = urllib.parse.urlsplit(url).hostname or ''
    proxies = urllib.request.ProxyHandler({} if _is_loopback(host) else None)
    return urllib.request.build_opener(proxies)


def _ask(endpoint: ChatEndpoint, messages: list[dict[str, str]]) -> str:
    body = json.dumps({'model': endpoint.model, 'messages': messages, 'stream': False})
    request = urllib.request.Request(
        endpoint.url.rstrip('/') + PATH,
        data=body.encode(),
        headers={'Content-Type': 'application/json', 'Accept': 'application/json'},
        method='POST',
    )
    if endpoint.key:  # which does not follow a redirection to somebody else
        request.add_unredirected_header('Authorization', f'Bearer {endpoint.key}')
    try:
        with _opener(endpoint.url).open(request, timeout=endpoint.timeout) as answer:
            content = answer.read(MOST_BYTES + 1)
    except urllib.error.HTTPError as error:
        phrase = cleaned(str(error.reason))
        raise SetupError(
            f'{endpoint.url} answered {error.code} {phrase}: {_error_detail(error)}'
        ) from None
    except TimeoutError as error:
        raise SetupError(f'{endpoint.url} gave no answer in {endpoint.timeout:g} s') from error
    except (OSError, http.client.HTTPException) as error:
        reason = getattr(error, 'reason', None) or error  # which may quote the answer
        if isinstance(reason, TimeoutError):
            raise SetupError(f'{endpoint.url} gave no answer in {endpoint.timeout:g} s') from error
        reason = cleaned(str(reason)) or type(reason).__name__
        raise SetupError(f'{endpoint.url} cannot be reached: {reason}') from None
    return _content(endpoint.url, content)


def _error_detail(error: urllib.error.HTTPError) -> str:
    try:
        return cleaned(error.read(_SHOWN).decode(errors='replace'))
    except (OSError, http.client.HTTPException):
        return ''


def _content(url: str, body: bytes) -> str:
    if len(body) > MOST_BYTES:
        raise SetupError(f'{url} answered more than {MOST_BYTES} bytes')
    shown = cleaned(body[:_SHOWN].decode(errors='replace'))
    try:
        answer: Any = json.loads(body)
        text = answer['choices'][0]['message']['content']
    except (ValueError, RecursionError) as error:
        raise SetupError(f'{url} answered something other than JSON: {shown!r}') from error
    except (KeyError, IndexError, TypeError) as error:
        raise SetupError(
            f'{url} answered JSON without choices[0].message.content: {shown!r}'
        ) from error
    if not isinstance(text, str):
        raise SetupError(f'{url} answered no text: {shown!r}')
    return text


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == 'localhost'
