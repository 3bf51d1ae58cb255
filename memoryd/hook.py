"""What the client starts at each event: it asks the service, and prints what that answers.

Started as ``python -I -S <this file>`` with the client's JSON on standard input. It costs 5 ms more
than a bare interpreter at most, gives up silently, and exits 0 always: a hook that fails or is late
is felt in every prompt. Hence no library, no module written in Python, and nothing but system
calls. ``memoryctl help hooks`` says what it does; `memoryd.locations` has the rule for the socket.
"""

import posix
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

PATIENCE_S = 0.12
"""Seconds for everything, reading and printing included."""

RESERVE_MS = 12
"""Of them, what the way back and printing may take after the service has answered."""

LONGEST = (1 << 20) - 8192
"""Bytes of the client's JSON that are passed on whole: the limit of a request, less the rest."""

HEAD = 4096
"""Bytes in which a longer one must name its event: all that is passed on of it."""

SWITCHES = (
    b"CLAUDE_CODE_DISABLE_AUTO_MEMORY",
    b"CLAUDE_CODE_DISABLE_CLAUDE_MDS",
    b"CLAUDE_CONFIG_DIR",
)
"""Variables that are passed on. No other is looked at: the client's environment holds secrets."""

CHILD = b"MEMORYD_CHILD"
"""Set for a client that memoryd itself started."""

_ANSWER = b'{"jsonrpc":"2.0","id":1,"result":{"output":"'
_EVENT = b'"hook_event_name"'


def socket_path(environ: "Mapping[bytes, bytes]") -> bytes:
    """Return where the service listens."""
    runtime = environ.get(b"MEMORYD_RUNTIME_DIR")
    if not runtime and (shared := environ.get(b"XDG_RUNTIME_DIR")):
        runtime = shared + b"/memoryd"
    if not runtime:
        state = environ.get(b"MEMORYD_STATE_DIR")
        if not state:
            base = environ.get(b"XDG_STATE_HOME") or _home(environ) + b"/.local/state"
            state = base + b"/memoryd"
        runtime = state + b"/run"
    return runtime + b"/memoryd.sock"


def _home(environ: "Mapping[bytes, bytes]") -> bytes:
    home = environ.get(b"HOME")
    if home:
        return home
    import pwd  # noqa: PLC0415 - hardly ever needed

    return pwd.getpwuid(posix.getuid()).pw_dir.encode("utf-8", "surrogateescape")


def head(data: bytes) -> bytes:
    """Return the beginning of a long object up to its event's name, as an object; else nothing."""
    key = data.find(_EVENT, 0, HEAD)
    name = data.find(b'"', key + len(_EVENT), HEAD)
    end = data.find(b'"', name + 1, HEAD)
    if min(key, name, end) < 0 or data[key + len(_EVENT) : name].strip() != b":":
        return b""
    return data[: end + 1] + b',"truncated":true}'


def request(stdin: bytes, environ: "Mapping[bytes, bytes]", deadline_ms: int) -> bytes:
    """Return the line to send.

    Newlines between the tokens of JSON mean nothing and inside a string there are none: without
    them garbage is one line too. The method comes last, where nothing before can name another.
    """
    switches = b""
    for name in SWITCHES:
        if name in environ:
            switches += b',"%b":%b' % (name, _quoted(environ[name]))
    return (
        b'{"jsonrpc":"2.0","id":1,"params":{"stdin":%b,"environment":{%b},"deadline_ms":%d},'
        b'"method":"hook"}\n' % (stdin.replace(b"\n", b" "), switches[1:], deadline_ms)
    )


def _quoted(value: bytes) -> bytes:
    from _json import encode_basestring_ascii  # noqa: PLC0415 - seldom needed

    return encode_basestring_ascii(value.decode("utf-8", "surrogateescape")).encode()


def output(answer: bytes) -> bytes:
    """Return what an answer asks to print; nothing if it is not exactly an answer.

    Raises:
        Exception: it is none, in another way.
    """
    if not answer.startswith(_ANSWER) or answer.startswith(b'"', len(_ANSWER)):
        return b""
    from _json import scanstring  # noqa: PLC0415 - the C part alone, and only where it is needed

    text: str = scanstring(answer.decode(), len(_ANSWER), True)[0]
    return text.encode()


def _read() -> bytes:
    try:
        return posix.read(0, 65536)
    except BlockingIOError:  # left so by whoever had it before
        posix.set_blocking(0, True)
        return posix.read(0, 65536)


def main() -> None:
    """Pass one event on; returns early when there is nothing to be done."""
    began = time.monotonic()
    environ = posix.environ
    if CHILD in environ:
        return
    data = []
    size = 0
    while chunk := _read():
        size += len(chunk)
        if size <= LONGEST:
            data.append(chunk)
    posix.fstat(1)  # or the socket would take its place
    stdin = b"".join(data)
    if size > LONGEST:
        stdin = head(stdin)
    if not stdin:
        return
    import _socket  # noqa: PLC0415 - not needed before

    left = PATIENCE_S - (time.monotonic() - began)
    peer = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
    peer.connect(socket_path(environ))
    peer.sendall(request(stdin, environ, max(0, int(left * 1000) - RESERVE_MS)))
    answer = b""
    while not answer.endswith(b"\n") and len(answer) < LONGEST:
        chunk = peer.recv(65536)
        if not chunk:
            return
        answer += chunk
    text = output(answer)
    while text:
        text = text[posix.write(1, text) :]


def _run() -> None:
    """Do it within the time; never fail, never say anything of its own."""
    try:
        from _signal import (  # type: ignore[import-not-found] # noqa: PLC0415 - built in; typeshed has only the slow `signal`
            ITIMER_REAL,
            SIG_UNBLOCK,
            SIGALRM,
            SIGINT,
            pthread_sigmask,
            setitimer,
            signal,
        )

        def leave(*_: object) -> None:
            posix._exit(0)  # noqa: SLF001 - as below

        signal(SIGINT, leave)
        signal(SIGALRM, leave)
        pthread_sigmask(SIG_UNBLOCK, [SIGALRM])
        setitimer(ITIMER_REAL, PATIENCE_S)
        main()
    except BaseException:  # noqa: BLE001, S110 - silence is the contract
        pass
    # Without taking the interpreter down, which nobody needs.
    posix._exit(0)  # noqa: SLF001 - `os` costs a millisecond


if __name__ == "__main__":
    _run()
