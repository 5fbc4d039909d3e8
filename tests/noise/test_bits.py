import os
import subprocess
import sys
import threading

import numpy as np
import pytest
from numpy.typing import NDArray

from halfnoise.noise import bits
from halfnoise.noise.bits import KeyStream, SystemBits, system_bits

WORDS = 4096

# Every process prints its words in hexadecimal.
PRELUDE = """
import ctypes, os, sys
import numpy as np
from halfnoise.noise import bits

def show(source):
    words = np.empty(4096, dtype=np.uint64)
    source.fill(words)
    sys.stdout.write(words.tobytes().hex() + "\\n")
    sys.stdout.flush()
"""
FORKS = {
    "Python's fork": ("", "os.fork()"),
    "a fork that Python does not see": ("", "ctypes.CDLL(None).fork()"),
    "a child with its parent's number": ("os.getpid = lambda: 0", "os.fork()"),
}
TWINS = """
{setup}
source = bits.system_bits()
show(source)
pid = {fork}
if pid:
    os.waitpid(pid, 0)
show(source)
show(source)
"""
BROKEN = "os.register_at_fork = lambda **hooks: None\nos.getpid = lambda: 0\n"


def twins(fork: str) -> str:
    """Return a program that draws before and after a fork of this kind, on both sides."""
    setup, call = FORKS[fork]
    return TWINS.format(setup=setup, fork=call)


def words_of(process: "subprocess.Popen[str]") -> list[str]:
    """Return all words that a process printed, 16 hexadecimal digits each."""
    output, _ = process.communicate(timeout=60)
    assert process.returncode == 0
    lines = output.split()
    return [line[i : i + 16] for line in lines for i in range(0, len(line), 16)]


def start(program: str) -> "subprocess.Popen[str]":
    """Start Python on a program."""
    return subprocess.Popen(
        [sys.executable, "-c", PRELUDE + program], stdout=subprocess.PIPE, text=True
    )


def fresh(source: bits.Bits, count: int = WORDS) -> NDArray[np.uint64]:
    """Return words of a source."""
    words = np.zeros(count, dtype=np.uint64)
    source.fill(words)
    return words


@pytest.mark.parametrize("fork", FORKS)
def test_forked_child_and_parent_never_share_a_word(fork: str) -> None:
    """After a fork both sides go on with words that the other one never sees."""
    words = words_of(start(twins(fork)))
    assert len(words) == 5 * WORDS
    assert len(set(words)) == len(words)


@pytest.mark.parametrize("fork", FORKS)
def test_sharing_would_be_seen(fork: str) -> None:
    """Without hook and process check the child repeats its parent, and the test above sees it."""
    words = words_of(start(BROKEN + twins(fork)))
    assert len(words) == 5 * WORDS
    assert len(set(words)) == 3 * WORDS


def test_processes_started_together_never_share_a_word() -> None:
    """Processes that start in the same instant have keys of their own."""
    processes = [start("show(bits.system_bits())") for _ in range(4)]
    words = [word for process in processes for word in words_of(process)]
    assert len(words) == len(set(words)) == 4 * WORDS


def test_threads_never_share_a_word() -> None:
    """Threads that draw from one source at once get different words."""
    source = SystemBits()
    found: list[NDArray[np.uint64]] = []
    together = threading.Barrier(8)

    def work() -> None:
        together.wait()
        found.extend(fresh(source, 1000) for _ in range(50))

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    words = np.concatenate(found)
    assert len(np.unique(words)) == len(words) == 8 * 50 * 1000


def test_no_word_comes_twice() -> None:
    """Fills of all lengths, also odd ones that end inside a cipher block, go on in the stream."""
    source = KeyStream()
    words = np.concatenate([fresh(source, n) for n in (1, 1, 2, 3, 5, 1000, 7, 100_000, 1, 50)])
    assert len(np.unique(words)) == len(words)


def test_fill_writes_every_word_and_nothing_else() -> None:
    """A part of an array is filled to its last word, its neighbours are left alone."""
    words = np.zeros(12, dtype=np.uint64)
    system_bits().fill(words[3:9])
    assert words[3:9].all()
    assert not words[:3].any()
    assert not words[9:].any()
    system_bits().fill(words[:0])


def test_keys_are_renewed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A stream takes a new key before it has given too much under an old one."""
    monkeypatch.setattr(bits, "BYTES_PER_KEY", 1000)
    taken: list[int] = []
    urandom = os.urandom

    def counted(size: int) -> bytes:
        taken.append(size)
        return urandom(size)

    monkeypatch.setattr(os, "urandom", counted)
    source = KeyStream()
    words = np.concatenate([fresh(source, 100) for _ in range(5)])
    assert taken == [bits.KEY_BYTES, bits.BLOCK_BYTES] * 5
    assert len(np.unique(words)) == len(words)


def test_bits_are_balanced() -> None:
    """Each of the 64 bits is set half of the time, within eight standard deviations."""
    count = 1 << 20
    words = fresh(system_bits(), count)
    for bit in range(64):
        ones = int(((words >> np.uint64(bit)) & np.uint64(1)).sum())
        assert abs(ones - count / 2) < 8 * (count / 4) ** 0.5
