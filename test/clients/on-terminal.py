"""Runs a command on a terminal of its own: answers the question once it is asked, and prints what the terminal shows."""

import os
import pty
import sys

answer, command = sys.argv[1], sys.argv[2:]
pid, terminal = pty.fork()
if pid == 0:
    os.execvp(command[0], command)
shown = b""
is_asked = False
while True:
    try:
        data = os.read(terminal, 4096)
    except OSError:  # On Linux, this says that the terminal's program has ended.
        break
    if not data:
        break
    shown += data
    if not is_asked and b"Type yes:" in shown:
        is_asked = True
        os.write(terminal, answer.encode())
sys.stdout.buffer.write(shown)
sys.stdout.flush()
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
