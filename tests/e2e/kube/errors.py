"""What the API server answers when it refuses: a Status object."""


class Refused(Exception):
    """A request that is refused with this HTTP status; `reason` is the word that clients switch on."""

    def __init__(self, code, reason, message, details=None, retry_after_s=None):
        super().__init__(message)
        self.code, self.reason, self.message, self.details = code, reason, message, details or {}
        self.retry_after_s = retry_after_s

    def status(self):
        details = dict(self.details)
        if self.retry_after_s is not None:
            details["retryAfterSeconds"] = self.retry_after_s
        return {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure", "message": self.message,
                "reason": self.reason, **({"details": details} if details else {}), "code": self.code}


def full_name(resource):
    return f"{resource}.batch" if resource == "jobs" else resource


def not_found(resource, name):
    group = {"group": "batch"} if resource == "jobs" else {}
    return Refused(404, "NotFound", f'{full_name(resource)} "{name}" not found', {"name": name, **group, "kind": resource})


def already_exists(resource, name):
    return Refused(409, "AlreadyExists", f'{full_name(resource)} "{name}" already exists', {"name": name, "kind": resource})


def conflict(resource, name, why):
    return Refused(409, "Conflict", f'Operation cannot be fulfilled on {full_name(resource)} "{name}": {why}',
                   {"name": name, "kind": resource})


def bad_request(message):
    return Refused(400, "BadRequest", message)


def expired(message):
    return Refused(410, "Expired", message)


def invalid(kind, name, causes):
    """`causes`: (reason, field, message) of each field that is not as it must be."""
    lines = [f"{field}: {message}" for _, field, message in causes]
    text = lines[0] if len(lines) == 1 else f"[{', '.join(lines)}]"
    shown = "Job.batch" if kind == "Job" else kind
    return Refused(422, "Invalid", f'{shown} "{name}" is invalid: {text}', {
        "name": name, **({"group": "batch"} if kind == "Job" else {}), "kind": kind,
        "causes": [{"reason": reason, "message": message, "field": field} for reason, field, message in causes]})
