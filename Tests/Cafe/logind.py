"""Plays logind on the café's bus: SIGUSR1 says that the laptop goes to sleep, SIGUSR2 that it is awake again."""

import ctypes
import pathlib
import signal
import sys

SIGNALS = {signal.SIGUSR1: 1, signal.SIGUSR2: 0}

if __name__ == "__main__":
    signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)
    library, bus = ctypes.CDLL("libsystemd.so.0"), ctypes.c_void_p()
    if library.sd_bus_open_system(ctypes.byref(bus)) < 0 or library.sd_bus_request_name(bus, b"org.freedesktop.login1", ctypes.c_uint64(0)) < 0:
        sys.exit("no bus")
    pathlib.Path(sys.argv[1]).write_text("ready\n")
    while True:
        sleeps = SIGNALS[signal.sigwait(SIGNALS)]
        library.sd_bus_emit_signal(bus, b"/org/freedesktop/login1", b"org.freedesktop.login1.Manager", b"PrepareForSleep", b"b", sleeps)
        library.sd_bus_flush(bus)
