# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Reviewed lists of rephrasings, and proposals from a real HTTP server that speaks the protocol."""

import datetime
import http.server
import json
import socket
import threading
import time
from pathlib import Path

import pytest

from frame_ros.cli import main
from frame_ros.core.errors import SetupError
from frame_ros.policies.rephrasing.proposals import ChatEndpoint, propose
from frame_ros.policies.rephrasing.rephrasings import (
    MOST_CHARACTERS,
    ReviewedList,
    cleaned,
    load_rephrasings,
    load_reviewed,
    merged,
    save_reviewed,
)

CUBE = 'pick up the cube'
DAY = datetime.date(2026, 5, 4)
LIST = ReviewedList(CUBE, ('grasp the cube', 'lift the cube: now, "gently"'), 'Ada', DAY)
SHIPPED = Path(__file__).resolve().parents[2] / 'config' / 'rephrasings.yaml'


def write(path, **changes):
    """A file of one list with some fields changed."""
    entry = {'reviewed_by': 'Ada', 'reviewed_on': '2026-05-04', 'rephrasings': '[grasp the cube]'}
    lines = [f'  {name}: {value}' for name, value in (entry | changes).items() if value is not None]
    path.write_text('\n'.join([f'{CUBE}:', *lines]))
    return path


def test_the_list_of_the_demo_is_valid_and_has_twenty():
    (found,) = load_reviewed(SHIPPED)
    assert found.instruction == 'pick up the cube and put it in the bin'
    assert len(found.rephrasings) == 20 and found.reviewed_by == 'frame_ros maintainers'


def test_what_is_saved_is_what_is_loaded(tmp_path):
    path = tmp_path / 'new' / 'lists.yaml'
    other = ReviewedList('öffne die Tür', ('mach die Tür auf',), 'Bo', DAY)
    save_reviewed(path, [LIST, other])
    assert load_reviewed(path) == [LIST, other]
    assert load_rephrasings(path) == {CUBE: LIST.rephrasings, other.instruction: other.rephrasings}
    path.write_text('# our own\n# head\n' + path.read_text())
    save_reviewed(path, [other])
    assert path.read_text().startswith('# our own\n# head\n')
    assert load_reviewed(path) == [other]
    assert [file.name for file in path.parent.iterdir()] == ['lists.yaml']
    with pytest.raises(SetupError, match='has two lists'):
        save_reviewed(path, [LIST, LIST])
    with pytest.raises(SetupError, match='it is empty'):
        save_reviewed(path, [ReviewedList(CUBE, ('',), 'Ada', DAY)])
    assert load_reviewed(path) == [other]


@pytest.mark.parametrize(
    ('changes', 'says'),
    [
        ({'reviewed_by': ''}, 'reviewed_by is None; the name of who read them'),
        ({'reviewed_by': None}, 'it has reviewed_on, rephrasings; reviewed_by, '),
        ({'reviewed_on': 'yesterday'}, "reviewed_on is 'yesterday'; a date"),
        ({'reviewed_on': '2026-05-04 10:00:00'}, 'reviewed_on is datetime'),
        ({'comment': 'fine'}, 'it has .*comment'),
        ({'rephrasings': '[]'}, r'rephrasings are \[\]'),
        ({'rephrasings': 'grasp the cube'}, 'a list of texts is expected'),
        ({'rephrasings': '[grasp it, 3]'}, 'rephrasing 2 is 3'),
        ({'rephrasings': '[grasp it, "Grasp  IT!"]'}, 'rephrasing 2.*: it occurs twice'),
        ({'rephrasings': '["Pick up the cube."]'}, 'it is the instruction itself'),
        ({'rephrasings': '["", x]'}, 'rephrasing 1.*: it is empty'),
        ({'rephrasings': '["grasp\\u001b[2J it"]'}, 'control characters'),
        ({'rephrasings': '["grasp \\u202eit"]'}, 'control characters'),
        ({'rephrasings': f'[{"a" * (MOST_CHARACTERS + 1)}]'}, '301 characters; at most 300'),
    ],
)
def test_a_list_that_nobody_can_have_reviewed_is_refused(tmp_path, changes, says):
    with pytest.raises(SetupError, match=says):
        load_rephrasings(write(tmp_path / 'lists.yaml', **changes))


def test_files_that_are_no_lists_are_refused(tmp_path):
    path = tmp_path / 'lists.yaml'
    with pytest.raises(SetupError, match='cannot be read'):
        load_rephrasings(path)
    for text, says in (
        ('[1]', 'must map instructions'),
        ('', 'must map instructions'),
        ('a: {b: [}', 'cannot be read'),
        ('3: {}', 'an instruction must be a text'),
        (f'{CUBE}: []', 'are expected'),
        ('!!python/object/apply:os.getcwd []', 'cannot be read'),
        ('x' * 1_000_001, 'nobody has read that'),
    ):
        path.write_text(text)
        with pytest.raises(SetupError, match=says):
            load_rephrasings(path)
    text = write(path).read_text()
    path.write_text(f'{text}\n{text}')
    with pytest.raises(SetupError, match="'pick up the cube' is given twice"):
        load_rephrasings(path)


def test_lists_of_one_instruction_are_joined_under_the_new_review():
    later = datetime.date(2026, 6, 1)
    added = ReviewedList(CUBE, ('Grasp the cube!', 'take the cube'), 'Bo', later)
    (found,) = merged([LIST], added)
    assert found.rephrasings == (*LIST.rephrasings, 'take the cube')
    assert (found.reviewed_by, found.reviewed_on) == ('Bo', later)
    assert merged([], LIST) == [LIST]


def test_untrusted_text_is_made_plain():
    assert cleaned(' a\x1b[31m\tb\r\n c\u202e\u200b ') == 'a[31m b c'
    assert len(cleaned('x' * 1000)) == MOST_CHARACTERS


class Endpoint(http.server.ThreadingHTTPServer):
    """Speaks chat completions; `answers` are given one after the other, the last for ever."""

    def __init__(self):
        super().__init__(('127.0.0.1', 0), Handler)
        self.answers, self.requests, self.delay = [], [], 0.0
        self.url = f'http://127.0.0.1:{self.server_address[1]}/v1'


class Handler(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        server = self.server
        body = self.rfile.read(int(self.headers.get('Content-Length', 0))) or b'null'
        server.requests.append((self.path, dict(self.headers), json.loads(body)))
        time.sleep(server.delay)
        answer = server.answers[min(len(server.requests), len(server.answers)) - 1]
        status, content = answer if isinstance(answer, tuple) else (200, answer)
        if isinstance(content, str):
            content = json.dumps({'choices': [{'message': {'content': content}}]}).encode()
        self.send_response(status)
        if status == 302:
            self.send_header('Location', content.decode())
        self.send_header('Content-Length', str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    do_GET = do_POST

    def log_message(self, *_):
        pass


@pytest.fixture()
def server():
    served = Endpoint()
    thread = threading.Thread(target=served.serve_forever, kwargs={'poll_interval': 0.02})
    thread.start()
    yield served
    served.shutdown()
    thread.join()
    served.server_close()


ANSWER = (
    'Here are some rephrasings:\n1. grasp the cube\n- "lift the cube"\n\nPick up the CUBE.\n'
    'Grasp the cube\n3) take \x1b[2Jthe cube\n'
)


def test_proposals_are_lines_cleaned_and_without_doubles(server):
    server.answers = [ANSWER]
    found = propose(ChatEndpoint(server.url + '/', 'small', 'secret'), CUBE, 3)
    assert found == ['grasp the cube', 'lift the cube', 'take [2Jthe cube']
    path, headers, body = server.requests[0]
    assert path == '/v1/chat/completions' and headers['Authorization'] == 'Bearer secret'
    assert body['model'] == 'small' and body['stream'] is False
    assert body['messages'][1]['content'] == f'Give 3 rephrasings of: {CUBE}'


def test_what_is_missing_is_asked_for_again(server):
    server.answers = ['grasp the cube', 'grasp the cube\ntake the cube', 'seize the cube']
    assert len(propose(ChatEndpoint(server.url, 'small'), CUBE, 3)) == 3
    asked = server.requests[1][2]['messages'][1]['content']
    assert asked.startswith('Give 2 ') and asked.endswith('\ngrasp the cube')
    assert 'Authorization' not in server.requests[0][1]
    with pytest.raises(SetupError, match='small gave 3 usable rephrasings in 3 answers; 20 were'):
        server.requests.clear()
        propose(ChatEndpoint(server.url, 'small'), CUBE, 20)


@pytest.mark.parametrize(
    ('answer', 'says'),
    [
        ((500, b'out of \x1bmemory'), '/v1 answered 500 .*: out of memory'),
        ((401, b'{}'), 'answered 401'),
        ((200, b'<html>'), "answered something other than JSON: '<html>'"),
        ((200, b'[' * 100_000), 'answered something other than JSON'),
        ((200, b'{"error": "x"}'), r'without choices\[0\].message.content'),
        ((200, b'{"choices": []}'), 'without choices'),
        ((200, b'{"choices": [{"message": {"content": 3}}]}'), 'answered no text'),
        ((200, b'x' * 1_000_001), 'more than 1000000 bytes'),
        ('', 'gave 0 usable rephrasings'),
    ],
)
def test_an_endpoint_that_answers_something_else_is_told(server, answer, says):
    server.answers = [answer]
    with pytest.raises(SetupError, match=says):
        propose(ChatEndpoint(server.url, 'small', 'secret'), CUBE, 2)


def test_a_long_answer_of_a_hostile_endpoint_takes_no_time(server):
    server.answers = [''.join(f'{number:x}\n' for number in range(150_000))]
    endpoint = ChatEndpoint(server.url, 'small')
    assert propose(endpoint, CUBE, 20) == [f'{number:x}' for number in range(20)]
    server.answers = ['a\n' * 300_000]
    with pytest.raises(SetupError, match='gave 1 usable'):
        propose(endpoint, CUBE, 20)


@pytest.mark.parametrize(
    'line',
    [
        b'HTTP/1.0 500 \x1b[31mred\x1b[2J\r\nContent-Length: 0\r\n\r\n',
        b'\x1b[2J\x07nonsense\r\n\r\n',
    ],
)
def test_what_an_endpoint_says_instead_of_a_status_is_made_plain(line):
    with socket.socket() as listening:
        listening.bind(('127.0.0.1', 0))
        listening.listen()

        def serve():
            connection, _ = listening.accept()
            connection.recv(65_536)
            connection.sendall(line)
            connection.close()

        thread = threading.Thread(target=serve)
        thread.start()
        url = f'http://127.0.0.1:{listening.getsockname()[1]}/v1'
        with pytest.raises(SetupError) as told:
            propose(ChatEndpoint(url, 'small', timeout=5.0), CUBE, 1)
        thread.join()
    assert '\x1b' not in str(told.value) and '\x07' not in str(told.value)
    assert '[2J' in str(told.value)


@pytest.mark.parametrize('key', ['sk-secret\n', 'sk secret', 'sk-s\u00e9cret', 'sk\r\nX: secret'])
def test_a_key_that_no_header_can_hold_is_refused_and_not_shown(server, key):
    with pytest.raises(SetupError, match='the key has blanks') as told:
        ChatEndpoint(server.url, 'small', key)
    assert 'cret' not in str(told.value)


def test_what_is_asked_of_this_machine_goes_through_no_proxy(server, monkeypatch):
    for name in ('no_proxy', 'NO_PROXY'):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv('http_proxy', 'http://127.0.0.1:9')
    server.answers = ['grasp the cube']
    assert propose(ChatEndpoint(server.url, 'small', 'secret'), CUBE, 1) == ['grasp the cube']


def test_an_endpoint_that_is_silent_or_not_there_is_told(server):
    server.answers, server.delay = ['late'], 0.5
    with pytest.raises(SetupError, match=r'no answer in 0\.1 s'):
        propose(ChatEndpoint(server.url, 'small', timeout=0.1), CUBE, 1)
    with socket.socket() as closed:
        closed.bind(('127.0.0.1', 0))
        url = f'http://127.0.0.1:{closed.getsockname()[1]}/v1'
        with pytest.raises(SetupError, match='cannot be reached'):
            propose(ChatEndpoint(url, 'small'), CUBE, 1)


def test_the_key_goes_to_nobody_else(server):
    other = Endpoint()
    thread = threading.Thread(target=other.serve_forever, kwargs={'poll_interval': 0.02})
    thread.start()
    try:
        other.answers = ['grasp the cube']
        server.answers = [(302, f'{other.url}/chat/completions'.encode())]
        assert propose(ChatEndpoint(server.url, 'small', 'secret'), CUBE, 1) == ['grasp the cube']
        assert server.requests[0][1]['Authorization'] == 'Bearer secret'
        assert [headers.get('Authorization') for _, headers, _ in other.requests] == [None]
    finally:
        other.shutdown()
        thread.join()
        other.server_close()
    assert 'secret' not in repr(ChatEndpoint(server.url, 'small', 'secret'))
    with pytest.raises(SetupError, match='would travel unencrypted to example.org'):
        ChatEndpoint('http://example.org/v1', 'small', 'secret')
    with pytest.raises(SetupError, match='the endpoint is .*Invalid IPv6'):
        ChatEndpoint('http://[::1/v1', 'small')
    for timeout in (0.0, float('nan'), float('inf')):
        with pytest.raises(SetupError, match='it must be above 0'):
            ChatEndpoint(server.url, 'small', timeout=timeout)
    for url in ('file:///etc/passwd', 'ftp://x/v1', 'localhost:1234', 'http:///v1'):
        with pytest.raises(SetupError, match='http:// or https:// and a host'):
            ChatEndpoint(url, 'small')


@pytest.fixture()
def says(monkeypatch):
    """Types lines at the prompts, then ends the input; returns the questions."""

    def prepare(*lines):
        left, asked = list(lines), []

        def answer(question=''):
            asked.append(question)
            if not left:
                raise EOFError
            return left.pop(0)

        monkeypatch.setattr('builtins.input', answer)
        return asked

    return prepare


def rephrase(tmp_path, *arguments):
    path = tmp_path / 'lists.yaml'
    return main(['rephrase', CUBE, '--file', str(path), *arguments]), path


def test_only_what_a_person_confirms_is_written(server, tmp_path, says, capsys, monkeypatch):
    monkeypatch.setenv('OUR_KEY', 'secret')
    server.answers = ['grasp the cube\neat the cube\nlift the box\ntake the cube\nseize the cube']
    says('a', 'r', 'what', 'e', 'Pick up the cube', 'e', 'lift the cube', 'a', 'q', 'Ada')
    endpoint = ('--url', server.url, '--model', 'small', '--key-variable', 'OUR_KEY')
    code, path = rephrase(tmp_path, *endpoint, '--count', '5')
    assert code == 0
    (found,) = load_reviewed(path)
    assert found.rephrasings == ('grasp the cube', 'lift the cube', 'take the cube')
    assert found.reviewed_by == 'Ada' and found.reviewed_on == datetime.date.today()
    out = capsys.readouterr().out
    assert '2/5  eat the cube' in out and '3 rephrasings added' in out
    assert 'not taken: it is the instruction itself' in out and 'secret' not in out
    assert server.requests[0][1]['Authorization'] == 'Bearer secret'
    says('r', 'a')
    code, _ = rephrase(tmp_path, *endpoint, '--count', '5', '--reviewer', 'Bo')
    (found,) = load_reviewed(path)
    assert code == 0 and found.rephrasings[-1] == 'lift the box'
    assert 'grasp the cube\n    left out: it occurs twice' in capsys.readouterr().out


def test_without_an_endpoint_a_person_types_or_names_a_file(tmp_path, says, capsys):
    says('grasp the cube', 'Grasp the cube', 'take it', '')
    code, path = rephrase(tmp_path, '--reviewer', 'Ada')
    assert code == 0 and load_rephrasings(path) == {CUBE: ('grasp the cube', 'take it')}
    (tmp_path / 'texts.txt').write_text('lift \x1b[1mit\n\nhold it\n')
    says('a', 'r')
    code, path = rephrase(tmp_path, '--reviewer', 'Ada', '--text', str(tmp_path / 'texts.txt'))
    assert code == 0 and load_rephrasings(path)[CUBE][-1] == 'lift [1mit'
    assert '\x1b' not in capsys.readouterr().out


def test_nothing_accepted_writes_nothing(tmp_path, says, capsys):
    says('')
    code, path = rephrase(tmp_path)
    assert code == 1 and not path.exists()
    assert 'nothing is written' in capsys.readouterr().out
    says('grasp the cube', '', '')
    code, path = rephrase(tmp_path)
    assert code == 2 and not path.exists()
    assert 'needs the name of its reviewer' in capsys.readouterr().err


@pytest.mark.parametrize(
    ('arguments', 'message'),
    [
        (['--url', 'http://127.0.0.1:9/v1'], '--url needs --model'),
        (
            ['--url', 'http://127.0.0.1:9/v1', '--model', 'x', '--text', __file__],
            'give one of them',
        ),
        (['--text', 'nowhere.txt'], "there is no file 'nowhere.txt'"),
        (['--count', '0'], '--count is 0; it must be at least 1'),
        (['--url', 'http://127.0.0.1:9/v1', '--model', 'x', '--timeout', '0'], 'above 0'),
    ],
)
def test_wrong_arguments_are_told(tmp_path, says, capsys, arguments, message):
    says()
    assert rephrase(tmp_path, *arguments)[0] == 2
    assert message in capsys.readouterr().err
