# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Our client and our server: the same inference as in process, and what goes wrong."""

from __future__ import annotations

import base64
import contextlib
import re
import shutil
import socket
import ssl
import subprocess
import threading
import time
import urllib.request
from dataclasses import fields, replace
from typing import ClassVar

import numpy as np
import pytest
from patience import PATIENCE

pytest.importorskip('msgpack')
pytest.importorskip('websockets')

from remote_servers import JOINTS, TokenPolicy, behaving, observation, serving

from frame_ros.core.errors import FrameRosError, PolicyError, PolicyFailedError, SetupError
from frame_ros.policies.base import Policy
from frame_ros.policies.features import with_reduced_features
from frame_ros.policies.protocol import Inference
from frame_ros.policies.registry import make_policy
from frame_ros.policies.remote import (
    InferenceService,
    PolicyServer,
    connect_remote_policy,
    decode,
    encode,
)
from frame_ros.policies.remote.link import LinkOptions, ServerAbsentError, ServerLink
from frame_ros.policies.remote.messages import ServerDescription
from frame_ros.policies.remote.serving_options import NetworkOptions
from frame_ros.policies.remote.tls_socket import SharedTlsSocket

METADATA = {'frame_ros': ServerDescription('odd').to_message()}


def connect(url: str, **options):
    defaults = {'robot_joint_names': JOINTS, 'deadline': PATIENCE}
    policy = connect_remote_policy(url, **{**defaults, **options})
    assert isinstance(policy, Policy)
    return policy


def eventually(attempt, seconds: float = PATIENCE):
    """Returns the value of `attempt` once it raises no PolicyError."""
    end = time.monotonic() + seconds
    while True:
        try:
            return attempt()
        except PolicyError:
            if time.monotonic() > end:
                raise
            time.sleep(0.05)


def assert_same(remote: Inference, direct: Inference) -> None:
    """All but the times, to the bit."""
    times = {'preprocess', 'forward', 'postprocess', 'transport'}
    for name in {field.name for field in fields(Inference)} - times:
        a, b = getattr(remote, name), getattr(direct, name)
        if name == 'tokens' and b is not None:
            assert all(np.array_equal(getattr(a, f.name), getattr(b, f.name)) for f in fields(b))
        elif isinstance(b, np.ndarray):
            np.testing.assert_array_equal(a, b)
        else:
            assert a == b, name


def test_the_scripted_policy_with_samples_acts_as_in_process():
    options = {'quality': 0.4, 'dt': 0.05}
    direct = make_policy('scripted', samples=4, **options)
    with serving(make_policy('scripted', **options)) as server:
        remote = connect(server.url, samples=4)
        assert (remote.name, remote.cameras, remote.poses) == ('scripted', (), ('object', 'goal'))
        for seed in (7, 8):
            remote.reset(seed)
            direct.reset(seed)
            for step in range(3):
                seen = observation(step)
                answer = remote.infer(seen)
                assert_same(answer, direct.infer(seen))
        assert answer.samples.shape == (4, 20, 6) and np.ptp(answer.samples, axis=0).max() > 0
        assert answer.transport > 0 and answer.memory_rss > 1e6 and answer.cpu_time >= 0
        remote.close()


def test_tokens_rephrasings_history_and_times_come_across():
    served, direct = TokenPolicy(), TokenPolicy()
    with serving(served) as server:
        remote = connect(server.url)
        assert remote.needs_history and remote.history_period == 0.1
        assert remote.needs_instruction and remote.n_action_steps == 2
        assert 'made for a test' in remote.notes and remote.checkpoint == 'made-here'
        remote.reset(5)
        for step in range(4):
            remote.observe(observation(step))
        seen = observation(4, rephrasings=('drop it in', 'bin the cube'))
        answer = remote.infer(seen)
        assert_same(answer, direct.infer(seen))
        assert (answer.preprocess, answer.forward, answer.postprocess) == (0.001, 0.002, 0.003)
        assert answer.tokens.step.dtype == np.int32 and len(answer.rephrasing_confidences) == 2
        assert served.seeds[-1] == 5
        assert [entry.stamp for entry in served.seen] == [o * 10**8 + 10**9 for o in (2, 3, 4)]
        got = served.seen[-1]
        assert list(got.images) == ['front'], 'only what the policy needs is sent'
        np.testing.assert_array_equal(got.images['front'], seen.images['front'])
        np.testing.assert_array_equal(got.poses['object'], seen.poses['object'])
        assert (got.instruction, got.executed, got.joint_names) == (
            seen.instruction, seen.executed, JOINTS,
        )  # fmt: skip
        remote.infer(observation(5))
        assert len(served.seeds) == 1, 'one episode, one reset'
        remote.close()


class Seeing(TokenPolicy):
    """Has features wider than a message takes, and a fingerprint."""

    fingerprint = {'weights': 'ab' * 32, 'normaliser': 'cd' * 32}

    def infer(self, observation) -> Inference:
        features = np.arange(100.0) * observation.stamp
        return replace(super().infer(observation), features=features, feature_source='an encoder')


def test_malformed_extras_cost_a_served_policy_no_chunk():
    class Careless(TokenPolicy):
        def infer(self, observation):
            found = super().infer(observation)
            return replace(found, samples=found.actions, unavailable={})

    with serving(Careless()) as server:
        remote = connect(server.url)
        answer = remote.infer(observation())
        assert answer.samples is None and answer.tokens is not None
        assert answer.unavailable['samples'] == 'they have shape (3, 2); the chunk has (3, 2)'
        remote.close()


def test_features_and_fingerprint_come_across():
    """Reduced by the server already."""
    with serving(Seeing()) as server:
        remote = connect(server.url)
        assert remote.fingerprint == Seeing.fingerprint
        answer = remote.infer(observation())
        assert_same(answer, with_reduced_features(Seeing().infer(observation())))
        assert answer.features.shape == (64,)
        assert answer.feature_source == 'an encoder, 100 numbers projected to 64'
        remote.close()


def test_a_camera_of_another_name():
    with serving(TokenPolicy()) as server:
        remote = connect(server.url, camera_names={'front': 'wrist'})
        assert remote.cameras == ('wrist',)
        seen = observation()
        swapped = observation(images={'front': seen.images['wrist']})
        assert_same(remote.infer(seen), TokenPolicy().infer(swapped))
        remote.close()
        with pytest.raises(PolicyError, match="needs the cameras .*'front'"):
            connect(server.url, camera_names={'top': 'wrist'}, wait=3.0)


def test_errors_of_the_policy_are_told_and_the_connection_stays():
    with serving(TokenPolicy()) as server:
        remote = connect(server.url)
        with pytest.raises(PolicyFailedError, match="failed: it raised KeyError .*'front'"):
            remote.infer(observation(images={}))
        remote.infer(observation())
        remote.close()


def test_only_faults_of_the_policy_itself_are_its_failures():
    class Failing(Seeing):
        raised: ClassVar[list] = []

        def infer(self, observation):
            if self.raised:
                raise self.raised.pop()
            answer = super().infer(observation)
            return replace(answer, actions=answer.actions * np.nan)

        def observe(self, observation):
            raise KeyError('of before')

    with serving(Failing()) as server:
        remote = connect(server.url)
        card = RuntimeError('CUDA error: lost'), RuntimeError('RESOURCE_EXHAUSTED: Out of memory')
        for error in (MemoryError('full'), *card, ConnectionError('x')):
            Failing.raised.append(error)
            with pytest.raises(PolicyError, match=str(error)) as caught:
                remote.infer(observation())
            assert not isinstance(caught.value, PolicyFailedError)
        Failing.raised.append(SystemExit('a library that ends the process'))
        with pytest.raises(PolicyFailedError, match='it raised SystemExit .*ends the process'):
            remote.infer(observation())
        with pytest.raises(PolicyFailedError, match='the policy failed: .*finite'):
            remote.infer(observation())
        remote.observe(observation())
        with pytest.raises(PolicyFailedError, match='failed: it raised KeyError .*of before'):
            remote.infer(replace(observation(), stamp=observation().stamp + 200_000_000))
        remote.close()


def test_one_client_at_a_time_and_the_next_when_it_has_gone():
    with serving(make_policy('hold')) as server:
        first = connect(server.url)
        assert urllib.request.urlopen(server.url.replace('ws', 'http') + '/healthz').status == 200
        with pytest.raises(PolicyError, match='busy with another client'):
            connect(server.url, wait=2.0)
        first.infer(observation())
        first.close()
        second = connect(server.url)
        second.infer(observation())
        second.close()


def test_a_client_that_sends_nothing_whole_gives_its_place_to_the_next():
    with serving(make_policy('hold'), client_timeout=0.5) as server:
        port = int(server.url.rpartition(':')[2])
        slow = socket.create_connection(('127.0.0.1', port))
        key = base64.b64encode(bytes(16)).decode()
        slow.sendall(
            f'GET / HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n'
            f'Sec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\n\r\n'.encode()
        )
        assert b'101' in slow.recv(1000)
        # The head of a large frame, of which the rest never comes: it answers no ping either.
        slow.sendall(b'\x82\xff' + (1 << 20).to_bytes(8, 'big') + bytes(100))
        with pytest.raises(PolicyError, match='nothing for 0.5 s'):
            connect(server.url, wait=0.1)
        next_one = connect(server.url, wait=PATIENCE)
        next_one.infer(observation())
        next_one.close()
        slow.close()


def test_shared_clients_are_served_in_turn_and_never_share_an_episode():
    policy = TokenPolicy()
    with serving(policy, is_shared=True) as server:
        first, second = connect(server.url), connect(server.url)
        expected = [TokenPolicy().infer(observation(seed)) for seed in (1, 2)]
        answers: dict[int, list[Inference]] = {1: [], 2: []}

        def work(client, seed: int) -> None:
            answers[seed] = [client.infer(observation(seed)) for _ in range(5)]

        threads = [threading.Thread(target=work, args=pair) for pair in ((first, 1), (second, 2))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for seed in (1, 2):
            for answer in answers[seed]:
                np.testing.assert_array_equal(answer.actions, expected[seed - 1].actions)
        assert len(policy.seeds) >= 2, 'reset whenever the client changes'
        first.close()
        second.close()


def test_a_late_answer_is_never_taken_for_another():
    policy = TokenPolicy()
    with serving(policy) as server:
        remote = connect(server.url, deadline=0.3)
        policy.duration.clear()
        with pytest.raises(PolicyError, match=r'did not answer within 0.3 s'):
            remote.infer(observation(1))
        policy.duration.set()
        answer = eventually(lambda: remote.infer(observation(2)))
        assert_same(answer, TokenPolicy().infer(observation(2)))
        remote.close()


def test_a_server_that_goes_and_comes_back():
    with serving(make_policy('hold')) as server:
        remote = connect(server.url)
        remote.infer(observation())
        port = server.port
    with pytest.raises(PolicyError, match='closed the connection|there is no connection'):
        remote.infer(observation())
    with serving(make_policy('hold'), port=port):
        eventually(lambda: remote.infer(observation()))
    with serving(TokenPolicy(), port=port):
        eventually(lambda: refused(remote, 'now serves binned made-here.*make it again'))
    remote.close()


def test_a_server_that_comes_back_with_other_weights_is_refused():
    with serving(Seeing()) as server:
        remote = connect(server.url)
        port = server.port
    other = Seeing()
    other.fingerprint = {**Seeing.fingerprint, 'weights': 'ef' * 32}
    with serving(other, port=port):
        eventually(lambda: refused(remote, 'other inputs or weights than the binned'))
    remote.close()


def refused(remote, text: str) -> None:
    """Raises PolicyError unless the next inference is refused with this text."""
    with pytest.raises(PolicyError) as caught:
        remote.infer(observation())
    if not re.search(text, str(caught.value)):
        raise caught.value


def answering(*replies):
    """A server that gives one reply after the other, each to one observation."""

    def handle(connection) -> None:
        connection.send(encode(METADATA))
        for reply in replies:
            request = decode(connection.recv())
            made = reply(request) if callable(reply) else reply
            connection.send(made)
        connection.recv()

    return handle


def reply(request, **changes) -> bytes:
    content = {
        'version': 1, 'id': request['frame_ros']['id'], 'dt': 0.1, 'action_names': ['a', 'b'],
        'action_units': ['rad', 'rad'], 'action_space': 'joint_position',
    }  # fmt: skip
    actions = changes.pop('actions', np.zeros((3, 2)))
    return encode({'actions': actions, 'frame_ros': content | changes})


def test_a_server_that_answers_well_is_believed():
    with behaving(answering(reply)) as url:
        remote = connect(url)
        assert remote.infer(observation()).actions.shape == (3, 2)
        remote.close()


@pytest.mark.parametrize(
    ('answer', 'text'),
    [
        (b'\xc1garbage', 'is not msgpack'),
        (encode([1, 2]), 'a map is expected'),
        (encode({'actions': np.zeros((3, 2))}), "lacks 'frame_ros'"),
        (lambda r: reply(r, actions=np.zeros((3, 4))), r'shape \(3, 4\) with 2 names'),
        (lambda r: reply(r, actions=np.zeros((1, 3, 2))), 'with 2 dimensions'),
        (lambda r: reply(r, actions=np.zeros((0, 2))), r'shape \(0, 2\)'),
        (lambda r: reply(r, dt=0.0), 'dt 0.0 s'),
        (lambda r: reply(r, action_space='torque'), "action space 'torque'"),
        (lambda r: reply(r, samples=np.zeros((2, 3, 5))), 'samples of shape'),
        (lambda r: reply(r, id=99), 'answered observation 99 in place of 1'),
        (lambda r: reply(r, version=2), 'speaks version 2'),
        (lambda r: reply(r, tokens={'step': np.zeros(2)}), "lacks 'vocabulary_size'"),
        (lambda r: reply(r, rephrasing_confidences=np.zeros(3)), '3 confidences for 0'),
        ('all went wrong', 'the server says: all went wrong'),
    ],
)
def test_answers_that_cannot_be_used(answer, text):
    with behaving(answering(answer)) as url:
        remote = connect(url)
        with pytest.raises(PolicyError, match=text):
            remote.infer(observation())
        remote.close()


def test_an_answer_in_another_form_is_described_alike_each_time():
    """By its keys and not by its bytes, so that a report counts it as one kind of trouble."""

    def packed(request) -> bytes:
        data = np.random.default_rng().normal(size=(3, 2)).tobytes()
        return reply(request, actions={'nd': True, 'type': '<f8', 'data': data})

    texts = set()
    with behaving(answering(packed)) as url:
        remote = connect(url)
        for _ in range(2):
            remote.wait(PATIENCE)
            with pytest.raises(PolicyError) as caught:
                remote.infer(observation())
            texts.add(str(caught.value))
        remote.close()
    (text,) = texts
    assert "is a map with the keys 'nd', 'type', 'data'; an array of numbers" in text


def test_whether_a_server_runs_is_asked_only_where_none_answered():
    def no_actions(connection) -> None:
        connection.send(encode(METADATA))
        connection.recv()
        connection.send(encode([1, 2]))
        raise ConnectionError

    with behaving(lambda connection: connection.send('busy with another client')) as url:
        with pytest.raises(PolicyError, match='the server refused: busy') as caught:
            connect(url, wait=1.0)
        assert 'Is the server running' not in str(caught.value)
    with behaving(no_actions) as url:
        remote = connect(url)
        with pytest.raises(PolicyError, match='a map is expected'):
            remote.infer(observation())
        with pytest.raises(PolicyError, match='its answer could not be used') as caught:
            remote.infer(observation())
        assert 'Is the server running' not in str(caught.value)
        remote.close()
    with pytest.raises(PolicyError, match=r'refused.*Is the server running \(frame-ros serve\)'):
        connect('ws://127.0.0.1:1', wait=0.3)


def test_an_answer_that_nobody_asked_for_is_not_used():
    sent = threading.Event()

    def handle(connection) -> None:
        connection.send(encode(METADATA))
        request = decode(connection.recv())
        connection.send(reply(request))
        connection.send(reply(request, actions=np.ones((3, 2))))
        sent.set()
        connection.recv()

    with behaving(handle) as url:
        remote = connect(url)
        remote.infer(observation())
        assert sent.wait(PATIENCE)
        time.sleep(0.2)
        with pytest.raises(PolicyError, match='nobody had asked for'):
            remote.infer(observation())
        remote.close()


def test_a_server_that_closes_in_the_middle():
    with behaving(answering(lambda request: exec('raise ConnectionError'))) as url:
        remote = connect(url)
        with pytest.raises(PolicyError, match='closed the connection'):
            remote.infer(observation())
        remote.close()


def stand_still(listener: socket.socket, metadata: bytes, done: threading.Event) -> None:
    """Greets one client, and never reads from it again."""
    from websockets.server import ServerProtocol

    connection, _ = listener.accept()
    protocol = ServerProtocol()
    protocol.receive_data(connection.recv(4096))
    (request,) = protocol.events_received()
    protocol.send_response(protocol.accept(request))
    protocol.send_binary(metadata)
    for data in protocol.data_to_send():
        connection.sendall(data)
    done.wait(PATIENCE)
    connection.close()


def test_a_server_that_takes_nothing_does_not_block():
    metadata = encode({'frame_ros': ServerDescription('odd', cameras=('f',)).to_message()})
    done, large = threading.Event(), np.zeros((3000, 3000, 3), np.uint8)
    with socket.create_server(('127.0.0.1', 0)) as listener:
        thread = threading.Thread(target=stand_still, args=(listener, metadata, done))
        thread.start()
        remote = connect(f'ws://127.0.0.1:{listener.getsockname()[1]}', deadline=0.3)
        with pytest.raises(PolicyError, match='took nothing for 0.3 s'):
            remote.infer(observation(images={'f': large}))
        done.set()
        thread.join()
        remote.close()


def test_who_is_no_server_of_ours():
    def openpi(connection) -> None:
        connection.send(encode({'name': 'pi0'}))
        connection.recv()

    not_ours = pytest.raises(PolicyError, match='not one of frame_ros.*preset: droid')
    with behaving(openpi) as url, not_ours:
        connect(url, wait=3.0)
    garbage = pytest.raises(PolicyError, match='is not msgpack')
    with behaving(lambda connection: connection.send(b'\xc1')) as url, garbage:
        connect(url, wait=3.0)
    with pytest.raises(PolicyError, match='no connection to ws://127.0.0.1:1 after 0.3 s.*serve'):
        connect('ws://127.0.0.1:1', wait=0.3)


def test_the_key_is_asked_for():
    with serving(make_policy('hold'), api_key='secret') as server:
        with pytest.raises(PolicyError, match='401'):
            connect(server.url, wait=3.0)
        remote = connect(server.url, api_key='secret')
        remote.infer(observation())
        remote.close()


def test_headers_that_are_no_key_are_refused_not_failures():
    with serving(make_policy('hold'), api_key='secret') as server:
        for header in (
            b'Authorization: Api-Key s\xe9cret\r\n',
            b'Authorization: Api-Key secret\r\nAuthorization: Api-Key other\r\n',
            b'Authorization: Api-Key secret2\r\n',
            b'',
        ):
            request = (
                b'GET / HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n'
                b'Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Version: 13\r\n'
            )
            with socket.create_connection(('127.0.0.1', server.port)) as probe:
                probe.sendall(request + header + b'\r\n')
                assert probe.recv(100).startswith(b'HTTP/1.1 401'), header


def make_certificate(folder) -> tuple[str, str]:
    """A self-signed certificate for 127.0.0.1, and its key."""
    certificate, key = str(folder / 'certificate.pem'), str(folder / 'key.pem')
    subprocess.run(
        ['openssl', 'req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1',
         '-nodes', '-days', '2', '-subj', '/CN=127.0.0.1', '-addext',
         'subjectAltName=IP:127.0.0.1', '-keyout', key, '-out', certificate],
        check=True,
        capture_output=True,
    )  # fmt: skip
    return certificate, key


@pytest.mark.skipif(shutil.which('openssl') is None, reason='openssl makes the certificate')
def test_tls_with_a_certificate_that_is_trusted_and_one_that_is_not(tmp_path):
    certificate, key = make_certificate(tmp_path)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    seen, answers = [], threading.Event()

    def handle(connection) -> None:
        connection.send(
            encode({'frame_ros': ServerDescription('odd', cameras=('f',)).to_message()})
        )
        while True:
            request = decode(connection.recv())
            seen.append(np.array(request['images']['f']))
            answers.wait(PATIENCE)
            connection.send(reply(request))

    with (
        behaving(handle, ssl=context) as url,
        pytest.raises(PolicyError, match='(?i)certificate verify failed'),
    ):
        connect(url.replace('ws:', 'wss:'), wait=PATIENCE)
    # A server of its own: that of websockets ends if a client leaves before its handshake.
    with behaving(handle, ssl=context) as url:
        remote = connect(url.replace('ws:', 'wss:'), ca_file=certificate, wait=PATIENCE)
        assert isinstance(remote._link._connection.socket, SharedTlsSocket)
        large = np.random.default_rng(0).integers(0, 256, (480, 640, 3), np.uint8)
        answers.set()
        assert remote.infer(observation(images={'f': large})).actions.shape == (3, 2)
        answers.clear()
        remote._deadline = 0.2  # a TLS connection is cut like any other
        with pytest.raises(PolicyError, match='did not answer within|took nothing for'):
            remote.infer(observation(images={'f': large}))
        remote._deadline = PATIENCE
        answers.set()
        eventually(lambda: remote.infer(observation(images={'f': large})))
        assert len(seen) >= 2 and all(np.array_equal(image, large) for image in seen)
        remote.close()


@contextlib.contextmanager
def tls_listener(certificate, key, open_timeout):
    """A listening socket, the TLS that it speaks, and a link that connects to it."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    with socket.create_server(('127.0.0.1', 0)) as listener:
        listener.settimeout(PATIENCE)
        url = f'wss://127.0.0.1:{listener.getsockname()[1]}'
        options = LinkOptions(url, ca_file=certificate, open_timeout=open_timeout)
        link = ServerLink(options, print)
        yield listener, context, link
        link.close()


@pytest.mark.skipif(shutil.which('openssl') is None, reason='openssl makes the certificate')
def test_a_server_that_is_silent_after_the_tls_handshake_is_left_and_asked_again(tmp_path):
    with tls_listener(*make_certificate(tmp_path), open_timeout=0.5) as (listener, context, link):
        for _ in range(2):
            connection, _ = listener.accept()
            connection.settimeout(PATIENCE)
            with (
                context.wrap_socket(connection, server_side=True) as client,
                contextlib.suppress(ConnectionError),
            ):
                while client.recv(4096):  # until the client leaves
                    pass


def make_certificate_of_2049(folder) -> tuple[str, str]:
    """A self-signed certificate for 127.0.0.1 that is not valid yet, and its key."""
    certificate, key = make_certificate(folder)
    (folder / 'index.txt').touch()
    (folder / 'ca.conf').write_text(
        f'[ca]\ndefault_ca = a\n[a]\ndatabase = {folder}/index.txt\nnew_certs_dir = {folder}\n'
        'rand_serial = yes\ndefault_md = sha256\npolicy = p\nx509_extensions = e\n'
        '[p]\ncommonName = supplied\n[e]\nsubjectAltName = IP:127.0.0.1\n'
    )
    for words in (
        ['req', '-new', '-key', key, '-subj', '/CN=127.0.0.1', '-out', f'{folder}/request'],
        ['ca', '-batch', '-selfsign', '-notext', '-config', f'{folder}/ca.conf', '-keyfile', key,
         '-startdate', '490101000000Z', '-enddate', '491231000000Z', '-in', f'{folder}/request',
         '-out', certificate],
    ):  # fmt: skip
        subprocess.run(['openssl', *words], check=True, capture_output=True)
    return certificate, key


@pytest.mark.skipif(shutil.which('openssl') is None, reason='openssl makes the certificate')
def test_a_certificate_that_is_not_valid_yet_may_be_once_the_clock_is_set(tmp_path):
    made = make_certificate_of_2049(tmp_path)
    with tls_listener(*made, open_timeout=PATIENCE) as (listener, context, link):
        for _ in range(2):
            connection, _ = listener.accept()
            with connection, pytest.raises(OSError):
                context.wrap_socket(connection, server_side=True)
        with pytest.raises(ServerAbsentError, match='not yet valid'):
            link.wait(0.0)


class Slow:
    """OpenSSL's side of a TLS socket, with calls that take long; counts those that overlap."""

    def __init__(self, real):
        self._real, self._inside, self.overlaps = real, 0, 0

    def __getattr__(self, name):
        return getattr(self._real, name)

    def _slowly(self, call, *arguments):
        self.overlaps += self._inside > 0
        self._inside += 1
        try:
            time.sleep(0.002)
            return call(*arguments)
        finally:
            self._inside -= 1

    def read(self, *arguments):
        return self._slowly(self._real.read, *arguments)

    def write(self, *arguments):
        return self._slowly(self._real.write, *arguments)


@pytest.mark.skipif(shutil.which('openssl') is None, reason='openssl makes the certificate')
def test_a_thread_that_reads_and_one_that_writes_are_never_both_in_openssl(tmp_path):
    certificate, key = make_certificate(tmp_path)
    of_server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    of_server.load_cert_chain(certificate, key)
    of_client = ssl.create_default_context(cafile=certificate)
    of_client.sslsocket_class = SharedTlsSocket
    size, block = 400_000, bytes(range(250)) * 10
    near, far = socket.socketpair()

    def echo():
        with of_server.wrap_socket(far, server_side=True) as server:
            received = 0
            while received < size:
                data = server.recv(1 << 16)
                received += len(data)
                server.sendall(data)

    server = threading.Thread(target=echo)
    server.start()
    near.settimeout(PATIENCE)
    with of_client.wrap_socket(near, server_hostname='127.0.0.1') as client:
        client.settimeout(0.01)
        with pytest.raises(TimeoutError):
            client.recv(1)
        client.settimeout(PATIENCE)
        client._sslobj = slow = Slow(client._sslobj)
        back = bytearray()

        def read():
            while len(back) < size:
                back.extend(client.recv(1 << 16))

        reader = threading.Thread(target=read)
        reader.start()
        for _ in range(size // len(block)):
            client.sendall(block)
        reader.join(PATIENCE)
        assert bytes(back) == block * (size // len(block)) and slow.overlaps == 0
    server.join(PATIENCE)


def test_browsers_are_refused():
    from websockets.exceptions import InvalidStatus
    from websockets.sync.client import connect as open_websocket

    refused = pytest.raises(InvalidStatus, match='403')
    with serving(make_policy('hold')) as server, refused:
        open_websocket(server.url, origin='https://example.org')


def test_an_address_that_is_taken():
    with serving(make_policy('hold')) as server:
        other = PolicyServer(
            InferenceService(make_policy('hold')), NetworkOptions(port=server.port)
        )
        with pytest.raises(SetupError, match='cannot listen on 127.0.0.1'):
            other.run()


@pytest.mark.parametrize(
    ('options', 'text'),
    [
        ({'url': 'http://here'}, 'must be like ws://'),
        ({'url': 'ws://:80'}, 'must be like ws://'),
        ({'deadline': 0.0}, 'deadline is 0.0; it must be above 0 s'),
        ({'preset': 'magic'}, "preset is 'magic'; it must be frame_ros, openpi, droid"),
        ({'preset': 'openpi'}, 'needs observation_keys'),
        ({'preset': 'droid'}, 'needs gripper_limits'),
        ({'preset': 'openpi', 'observation_keys': {'a': 'wheels'}}, "key 'a' holds 'wheels'"),
        ({'wait': 0.0}, 'name them with cameras'),
    ],
)
def test_wrong_arguments(options, text):
    with pytest.raises(FrameRosError, match=text):
        connect(**{'url': 'ws://127.0.0.1:1', 'wait': 0.1, **options})


def test_a_lerobot_policy_in_the_server(tmp_path):
    pytest.importorskip('torch')
    pytest.importorskip('lerobot')
    from checkpoints import make_act_checkpoint

    folder = make_act_checkpoint(tmp_path, image_size=(48, 64), chunk_size=5)
    offered = {'robot_joint_names': JOINTS, 'folder': folder, 'units': 'rad'}
    direct = make_policy('lerobot', offered)
    with serving(make_policy('lerobot', offered)) as server:
        remote = connect(server.url, deadline=20.0)
        assert (remote.name, remote.cameras) == ('act', ('front', 'wrist'))
        assert_same(remote.infer(observation(3)), direct.infer(observation(3)))
        with pytest.raises(PolicyError, match='wrist'):
            remote.infer(observation(images={'front': np.zeros((48, 64, 3), np.uint8)}))
        remote.close()
