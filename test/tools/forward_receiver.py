"""fluent2arrow as a process, and what its clients see of it."""
import os
import resource
import signal
import socket
import subprocess

import msgpack

from checks import program


class Receiver:
    """Listens at 127.0.0.1. `descriptors`: the limit of RLIMIT_NOFILE; `environment`: variables to add."""

    def __init__(self, pattern, *options, port=0, descriptors=None, environment=None):
        limit = (lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (descriptors, descriptors))) if descriptors else None
        self.process = subprocess.Popen([program("fluent2arrow"), "-L", f"127.0.0.1:{port}", "-o", pattern, "-v", *options],
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, preexec_fn=limit, env={**os.environ, **(environment or {})})
        line = self.process.stdout.readline()
        self.port = int(line.rsplit(":", 1)[1]) if "listening" in line else None

    def connect(self):
        return socket.create_connection(("127.0.0.1", self.port), timeout=60)

    def stop(self, how=signal.SIGTERM):
        """(status, standard output, standard error)"""
        self.process.send_signal(how)
        out, err = self.process.communicate(timeout=60)
        return self.process.returncode, out, err


def is_closed(link, data=b""):
    """After the data. A receiver that closes the connection before it has read everything resets it."""
    try:
        link.sendall(data)
        return link.recv(100) == b""
    except ConnectionError:
        return True


def acknowledged(link, chunk):
    unpacker = msgpack.Unpacker()
    while data := link.recv(65536):
        unpacker.feed(data)
        for answer in unpacker:
            return answer == {"ack": chunk}
    return False
