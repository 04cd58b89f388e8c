"""exceptions.txt: what may break a rule, how far, and why. An exception that nothing needs is a violation, too."""
import pathlib

from tree import Violation

FILE = pathlib.Path(__file__).resolve().parent / "exceptions.txt"


def parse(text):
    """{(gate, subject): (limit, reason)} of lines `gate | limit | subject | reason`."""
    found = {}
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        parts = [part.strip() for part in line.split("|")]
        if len(parts) != 4 or not all(parts) or not parts[1].isdigit():
            raise ValueError(f"exceptions.txt:{number}: not `gate | limit | subject | reason`")
        found[parts[0], parts[2]] = int(parts[1]), parts[3]
    return found


def apply(violations, exceptions, used):
    """The violations that no exception allows. Adds the exceptions that are needed to `used`."""
    left = []
    for violation in violations:
        key = violation.gate, violation.subject
        if key in exceptions:
            used.add(key)
        if key not in exceptions or violation.value > exceptions[key][0]:
            left.append(violation)
    return left


def unneeded(exceptions, used, gates):
    """A violation for each exception of the gates that ran and did not need it."""
    return [Violation("exceptions", subject, f"exceptions.txt: {gate} | {subject}: nothing needs it any more")
            for gate, subject in exceptions if gate in gates and (gate, subject) not in used]


def prune(used, gates):
    """Drops the exceptions that nothing needs from the file."""
    kept = []
    for line in FILE.read_text().splitlines():
        parts = [part.strip() for part in line.split("|")]
        if line.startswith("#") or len(parts) != 4 or parts[0] not in gates or (parts[0], parts[2]) in used:
            kept.append(line)
    FILE.write_text("\n".join(kept) + "\n")
