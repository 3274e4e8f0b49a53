# SPDX-License-Identifier: Apache-2.0
"""A stand-in for CUDA on machines without a GPU: it records what it is asked for, reads all memory it is shown, as a
device would, and refuses what CUDA refuses. Copies last until ``finish``."""
import ctypes

PAGE = 4096


class Event:
    def __init__(self, stream):
        self._stream, self.done = stream, stream.idle

    def query(self):
        return self.done

    def synchronize(self):
        self._stream.waits += 1
        self.done = True


class Recorder:
    """Runtime and stream in one. ``fails``: the error of each registration, and of each unregistration."""

    def __init__(self, fails=(0, 0)):
        self.fails = fails
        self.registered, self.known, self.unregistered, self.refused = {}, [], [], 0
        self.idle, self.waits, self.synchronized, self.events = True, 0, 0, []

    def register(self, address, count):
        assert address % PAGE == 0 and count % PAGE == 0 and count > 0
        if any(address < first + size and first < address + count for first, size in self.registered.items()):
            return 712
        ctypes.string_at(address, count)
        if self.fails[0]:
            self.refused += 1
            return self.fails[0]
        self.registered[address] = count
        self.known.append(address)
        return 0

    def unregister(self, address):
        if address not in self.registered:
            return 713
        ctypes.string_at(address, self.registered.pop(address))
        self.unregistered.append(address)
        return self.fails[1]

    def stream(self):
        return self

    def record_event(self):
        self.events.append(Event(self))
        return self.events[-1]

    def finish(self):
        for event in self.events:
            event.done = True

    def synchronize(self, stream):
        assert stream is self
        self.synchronized += 1
        self.finish()

    def holds(self, array):
        """Whether an array lies in registered memory."""
        first, last = array.__array_interface__["data"][0], array.__array_interface__["data"][0] + array.nbytes
        return any(start <= first and last <= start + size for start, size in self.registered.items())
