"""Hides the agent's thunks from gdb's back traces of an instrumented program.

    gdb -x gdb_frame_filter.py --args ./app.instr arguments...

A hooked function returns to a thunk in the agent's library, and that to the real caller. The
thunk's frame is empty and gdb calls it `<signal handler called>`, since it is described like one.
The filter leaves out exactly the frames whose address lies in libhooks.so, or libhooks32.so of a
program of 32 bits, so that a real signal handler still shows. `bt -no-filters` shows everything.
"""

import os

import gdb


class ThunkFilter:
    """A frame filter, as in gdb's manual, "Frame Filter API"."""

    agents = ("libhooks.so", "libhooks32.so")

    def __init__(self):
        self.name = "umbra-thunks"
        self.priority = 100
        self.enabled = True
        gdb.frame_filters[self.name] = self

    def is_thunk(self, frame):
        path = gdb.solib_name(frame.pc())
        return path is not None and os.path.basename(path) in self.agents

    def filter(self, frames):
        return (frame for frame in frames if not self.is_thunk(frame.inferior_frame()))


ThunkFilter()
