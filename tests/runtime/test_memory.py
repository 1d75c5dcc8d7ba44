"""Memory that was freed is the system's again, where the C library can do that."""

import ctypes
import subprocess
import sys

import pytest

from precede.runtime.device import give_back_memory

FREED = """
import ctypes
from precede.runtime.device import give_back_memory

def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096

libc = ctypes.CDLL(None)
libc.malloc.restype, libc.free.argtypes = ctypes.c_void_p, [ctypes.c_void_p]
blocks = [libc.malloc(64_000) for _ in range(1000)]
for block in blocks:
    ctypes.memset(block, 1, 64_000)
above = libc.malloc(120_000)  # while it is there, the C library keeps what lies below it
for block in blocks:
    libc.free(block)
before = resident()
give_back_memory()
print(before - resident())
"""


@pytest.mark.skipif(sys.platform != "linux", reason="reads the process's memory from /proc")
def test_freed_memory_is_given_back() -> None:
    if not hasattr(ctypes.CDLL(None), "malloc_trim"):
        pytest.skip("this C library gives memory back by itself")
    done = subprocess.run([sys.executable, "-c", FREED], capture_output=True, text=True, check=True)
    assert int(done.stdout) > 30_000_000


def test_a_library_without_such_a_function_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ctypes.CDLL", lambda name: object())
    give_back_memory()
