"""Measures contenders in processes of their own, in rounds."""
from __future__ import annotations

import threading
from pathlib import Path
from typing import Callable, Dict, List, Sequence, Tuple, TypeVar

T = TypeVar("T")


class Memory(threading.Thread):
    """The peak memory of a process, sampled. The kernel's own number for an ended process is useless, because it
    includes the memory of Python before the program was started."""

    def __init__(self, pid: int, kind: str = "VmHWM"):
        """`kind`: the line of the process's status. VmHWM counts mapped files, RssAnon does not."""
        super().__init__(daemon=True)
        self.path, self.kind, self.kilobytes, self.ended = Path(f"/proc/{pid}/status"), kind + ":", 0, threading.Event()
        self.start()

    def run(self) -> None:
        while not self.ended.wait(0.005):
            try:
                lines = self.path.read_text().splitlines()
            except OSError:
                return
            for line in lines:
                if line.startswith(self.kind):
                    self.kilobytes = max(self.kilobytes, int(line.split()[1]))

    def peak_mb(self) -> float:
        self.ended.set()
        self.join()
        return self.kilobytes / 1024


def turns(contenders: Sequence[T], number: int) -> List[T]:
    """The contenders in the order of round `number`. Each round begins with another one, so that disturbances of the
    machine affect all alike."""
    first = number % len(contenders) if contenders else 0
    return [*contenders[first:], *contenders[:first]]


def in_rounds(contenders: Dict[str, Callable[[], dict]], runs: int,
              slow_s: float = float("inf")) -> Tuple[Dict[str, List[dict]], Dict[str, str]]:
    """The measurements of each contender in `runs` rounds of turns() after a warming round, and the errors of those
    that failed. A contender whose "seconds" in the warming round exceed `slow_s` is measured only by that round."""
    measured: Dict[str, List[dict]] = {}
    failures: Dict[str, str] = {}
    for name, once in contenders.items():
        try:
            first = once()
            measured[name] = [first] if first.get("seconds", 0) > slow_s else []
        except Exception as error:
            failures[name] = str(error)
    alive = [name for name, found in measured.items() if not found]
    for number in range(runs if alive else 0):
        for name in turns(alive, number):
            measured[name].append(contenders[name]())
    return measured, failures
