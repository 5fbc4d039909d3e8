"""Random words: AES in counter mode, keyed by the operating system.

Given an ideal source the noise is exact; with this one it is exact up to what telling AES-CTR from
ideal bits takes, which is why the guarantee of a release is called computational.
"""

import functools
import os
import threading
from typing import Protocol

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from numpy.typing import NDArray

KEY_BYTES, BLOCK_BYTES = 32, 16
# One key gives at most 2^28 blocks: the birthday bound then keeps an ideal cipher in counter mode
# within (2^28)^2 / 2^129 = 2^-73 of ideal bits.
BYTES_PER_KEY = BLOCK_BYTES << 28


class Bits(Protocol):
    """A source of independent, uniform random words."""

    def fill(self, words: NDArray[np.uint64]) -> None:
        """Overwrite every word of a contiguous array with fresh random bits."""


class KeyStream:
    """One AES-CTR stream, under a key of its own that it renews; for one thread of one process."""

    def __init__(self) -> None:
        """Take a first key."""
        self.process, self._zeros = os.getpid(), b""
        self._renew()

    def _renew(self) -> None:
        key, nonce = os.urandom(KEY_BYTES), os.urandom(BLOCK_BYTES)
        self._encryptor = Cipher(algorithms.AES(key), modes.CTR(nonce)).encryptor()
        self._left = BYTES_PER_KEY

    def fill(self, words: NDArray[np.uint64]) -> None:
        """Overwrite every word with the next words of the stream."""
        if words.nbytes > self._left:
            self._renew()
        if words.nbytes > len(self._zeros):
            self._zeros = bytes(words.nbytes)
        zeros = memoryview(self._zeros)[: words.nbytes]
        self._encryptor.update_into(zeros, words.view(np.uint8).data)
        self._left -= words.nbytes


class SystemBits:
    """Key streams of this process: one for each thread, and new ones after a fork.

    None can repeat a word of another. There is no seed: repeated noise can be subtracted.
    """

    def __init__(self) -> None:
        """Make sure that a forked child forgets the keys of its parent."""
        self._threads = threading.local()
        if hasattr(os, "register_at_fork"):  # there is no fork on Windows
            os.register_at_fork(after_in_child=self._forget)

    def _forget(self) -> None:
        self._threads = threading.local()

    def fill(self, words: NDArray[np.uint64]) -> None:
        """Overwrite every word of a contiguous array with fresh random bits."""
        stream: KeyStream | None = getattr(self._threads, "stream", None)
        # The process is compared as well, for a fork in C code does not call Python's hooks.
        if stream is None or stream.process != os.getpid():
            stream = self._threads.stream = KeyStream()
        stream.fill(words)


@functools.cache
def system_bits() -> SystemBits:
    """Return this process's source of bits, made at its first use."""
    return SystemBits()
