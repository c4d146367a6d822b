"""The objects of a cluster, and what has lately happened to them: what etcd is to a real API server."""
import collections
import copy
import itertools
import threading
import time

from kube.errors import already_exists, expired, not_found

Change = collections.namedtuple("Change", "version resource before after")  # before None: created; after None: deleted

MAX_CHANGES = 10_000


class Store:
    """Safe for threads. What it gives is the caller's own copy."""

    def __init__(self):
        self.changed = threading.Condition(threading.RLock())
        self.version = 100
        self.forgotten = 100  # changes up to this version are not known any more
        self.objects = {}  # by (resource, namespace, name)
        self.changes = collections.deque()

    def get(self, resource, namespace, name):
        with self.changed:
            found = self.objects.get((resource, namespace, name))
            if found is None:
                raise not_found(resource, name)
            return copy.deepcopy(found)

    def list(self, resource, namespace=None):
        """All of a resource in the order of their names, and the version that they stand at."""
        with self.changed:
            keys = sorted(key for key in self.objects if key[0] == resource and namespace in (None, key[1]))
            return [copy.deepcopy(self.objects[key]) for key in keys], self.version

    def create(self, resource, new):
        metadata = new["metadata"]
        key = (resource, metadata.get("namespace"), metadata["name"])
        with self.changed:
            if key in self.objects:
                raise already_exists(resource, metadata["name"])
            return self._note(key, None, copy.deepcopy(new))

    def update(self, resource, namespace, name, change):
        """`change` alters the object that it is given; raising leaves all as it was."""
        with self.changed:
            before = self.objects.get((resource, namespace, name))
            if before is None:
                raise not_found(resource, name)
            after = copy.deepcopy(before)
            change(after)
            if after == before:
                return after
            return self._note((resource, namespace, name), before, after)

    def delete(self, resource, namespace, name):
        with self.changed:
            key = (resource, namespace, name)
            if key not in self.objects:
                raise not_found(resource, name)
            return self._note(key, self.objects[key], None)

    def since(self, version, wait_s):
        """Changes after a version, as soon as there is one; none when the time is over."""
        end = time.monotonic() + wait_s
        with self.changed:
            while True:
                if version < self.forgotten:
                    raise expired(f"too old resource version: {version} ({self.forgotten})")
                if self.version > version:
                    news = itertools.takewhile(lambda change: change.version > version, reversed(self.changes))
                    return list(news)[::-1]
                left_s = end - time.monotonic()
                if left_s <= 0 or not self.changed.wait(left_s):
                    return []

    def forget(self):
        """As etcd does when it is compacted."""
        with self.changed:
            self.version += 1  # so that who has seen everything has seen too little, too
            self.forgotten = self.version
            self.changes.clear()
            self.changed.notify_all()

    def _note(self, key, before, after):
        self.version += 1
        shown = after if after is not None else copy.deepcopy(before)
        shown["metadata"]["resourceVersion"] = str(self.version)
        if after is None:
            del self.objects[key]
        else:
            self.objects[key] = after
        # A deletion shows the object as it was, at the version of its deletion.
        self.changes.append(Change(self.version, key[0], before, after) if after is not None
                            else Change(self.version, key[0], shown, None))
        while len(self.changes) > MAX_CHANGES:
            self.forgotten = self.changes.popleft().version
        self.changed.notify_all()
        return copy.deepcopy(shown)
