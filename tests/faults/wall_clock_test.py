"""The clock of a part is what the matrix says it is: else a jump that nothing sees would pass as one that harms nothing."""
import os
import subprocess
import sys
import time

from wall_clock import WallClock, build_moved_clock

READER = """
import sys, time
for line in sys.stdin:
    print(time.time() - float(line), time.monotonic(), flush=True)
"""


def test_the_wall_clock_of_a_running_process_jumps_and_its_steady_clock_does_not(tmp_path):
    clock = WallClock(build_moved_clock(tmp_path), tmp_path / "clock")
    environment = {**os.environ, **clock.environment}
    with subprocess.Popen([sys.executable, "-c", READER], env=environment, text=True, stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE) as process:
        def ahead_and_steady():
            process.stdin.write(f"{time.time()}\n")
            process.stdin.flush()
            return map(float, process.stdout.readline().split())

        _, began = ahead_and_steady()
        for ahead_s in (3600, -3600, 86400, 0):
            clock.move(ahead_s)
            ahead, steady = ahead_and_steady()
            assert abs(ahead - ahead_s) < 600, ahead
            assert 0 <= steady - began < 600
        process.stdin.close()
