"""What a test lets go wrong in the API server."""
import dataclasses
import threading
import time


@dataclasses.dataclass
class Fault:
    """Befalls the next requests (`times`) of this verb on this resource; an empty one is any.

    `action`: "refuse" (answers `code`), "slow" (waits `delay_s` first), "cut" (does it, and drops the connection instead
    of answering), "drop" (drops the connection without doing it)."""
    action: str
    verb: str = ""
    resource: str = ""
    times: int = 1
    code: int = 503
    retry_after_s: int | None = None
    delay_s: float = 0.0
    met: int = 0


class Faults:
    def __init__(self):
        self.lock = threading.Lock()
        self.faults = []

    def add(self, action, **more):
        """The fault, whose `met` counts how often it came about."""
        fault = Fault(action, **more)
        with self.lock:
            self.faults.append(fault)
        return fault

    def clear(self):
        with self.lock:
            self.faults.clear()

    def take(self, verb, resource):
        """The fault that befalls this request; None: none does. A slow one has been slow already."""
        with self.lock:
            fault = next((f for f in self.faults if f.met < f.times and f.verb in ("", verb) and f.resource in ("", resource)),
                         None)
            if fault:
                fault.met += 1
        if fault and fault.action == "slow":
            time.sleep(fault.delay_s)
            return None
        return fault
