"""What slurmctld was asked, by sdiag's text. Pure."""
import re

LINE = re.compile(r"^\s+([A-Z_]+)\s+\(\s*\d+\)\s+count:(\d+)\s+ave_time:\d+\s+total_time:(\d+)\s*$")
# What nodes tell of each job, whoever submits it, and sdiag's own question.
NOT_OF_CLIENTS = {"MESSAGE_NODE_REGISTRATION_STATUS", "MESSAGE_EPILOG_COMPLETE", "REQUEST_COMPLETE_BATCH_SCRIPT",
                  "REQUEST_STEP_COMPLETE", "REQUEST_COMPLETE_PROLOG", "REQUEST_STATS_INFO"}


def requests_of_clients(text):
    """Of `sdiag`, since its last reset: by kind of request, how often it came and how long slurmctld took in all, in microseconds."""
    found = {}
    for line in text.splitlines():
        if line.startswith("Remote Procedure Call statistics by user"):
            break
        match = LINE.match(line)
        if match and match[1] not in NOT_OF_CLIENTS:
            found[match[1]] = (int(match[2]), int(match[3]))
    return found


def per_job(requests, jobs):
    """How many requests a job made, and how long they kept slurmctld, in milliseconds."""
    return (sum(count for count, _ in requests.values()) / jobs, sum(took_us for _, took_us in requests.values()) / jobs / 1000)
