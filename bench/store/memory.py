"""Bytes of memory of a store table, some seconds after it was changed."""
from __future__ import annotations

import time
from typing import Callable

LOOK_SECONDS = 6  # the server looks for memory that rows at rest do not need every five seconds
MOST_LOOKS = 10


def when_settled(bytes_now: Callable[[], int]) -> int:
    """bytes_now() when it does not become less any more."""
    before = bytes_now()
    for look in range(MOST_LOOKS):
        time.sleep(LOOK_SECONDS)
        now = bytes_now()
        # Memory goes at the second look at the earliest.
        if now >= before and look >= 2:
            break
        before = now
    return before
