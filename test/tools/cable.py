"""A network namespace of a test's own, with a virtual cable between the interfaces left and right."""
import os
import subprocess
import sys

from checks import done


def enter_namespace():
    """Goes on in a namespace with its own interfaces and mounts; a user who is not root is root there."""
    if "STROM_IN_NAMESPACE" in os.environ:
        return
    options = ["-nm"] if os.geteuid() == 0 else ["-rnm"]
    if subprocess.run(["unshare", *options, "true"], capture_output=True).returncode != 0:
        print("no network namespaces here, so nothing can be captured")
        done()
    os.execvpe("unshare", ["unshare", *options, sys.executable, *sys.argv], {**os.environ, "STROM_IN_NAMESPACE": "1"})


def capabilities(process):
    """Those that the threads of a process have or can get back, as bits: a number for each thread."""
    found = []
    for thread in os.listdir(f"/proc/{process.pid}/task"):
        with open(f"/proc/{process.pid}/task/{thread}/status") as file:
            sets = dict(line.split(":\t") for line in file.read().splitlines() if line.startswith("Cap"))
        found.append(int(sets["CapEff"], 16) | int(sets["CapPrm"], 16) | int(sets["CapInh"], 16) | int(sets["CapAmb"], 16))
    return found


def ip(*arguments):
    subprocess.run(["ip", *arguments], check=True)


def make_cable(*options):
    """`options`: of `ip link add`, for both ends."""
    ip("link", "set", "lo", "up")
    ip("link", "add", "left", *options, "type", "veth", "peer", "name", "right", *options)
    for name in ("left", "right"):
        # No packets of the kernel's own.
        subprocess.run(["sysctl", "-qw", f"net.ipv6.conf.{name}.disable_ipv6=1"], capture_output=True)
        ip("link", "set", name, "mtu", "3000", "up")
