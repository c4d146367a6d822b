"""Times as the API writes them."""
import datetime


def now_text(after_s=0):
    at = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(seconds=after_s)
    return at.strftime("%Y-%m-%dT%H:%M:%SZ")


def seconds_since(text):
    at = datetime.datetime.strptime(text, "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=datetime.timezone.utc)
    return (datetime.datetime.now(datetime.timezone.utc) - at).total_seconds()
