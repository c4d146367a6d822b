"""What the API server does with objects: create, list, patch and delete."""
import base64
import copy
import json
import random
import uuid

from kube import errors, schema
from kube.selectors import selector
from kube.times import now_text
from kube.validation import check_job

KINDS = {"jobs": ("Job", "batch/v1"), "pods": ("Pod", "v1"), "nodes": ("Node", "v1")}
POLICIES = ("Background", "Foreground", "Orphan")
FOREGROUND = "foregroundDeletion"


def random_suffix(length=5):
    return "".join(random.choices("bcdfghjklmnpqrstvwxz2456789", k=length))


def new_metadata(metadata, namespace):
    made = {**copy.deepcopy(metadata), "uid": str(uuid.uuid4()), "creationTimestamp": now_text(), "generation": 1}
    if not made.get("name"):
        made["name"] = made["generateName"] + random_suffix()
    if namespace:
        made["namespace"] = namespace
    for name in ("resourceVersion", "selfLink", "deletionTimestamp"):
        made.pop(name, None)
    return made


def set_pod_defaults(pod):
    pod.setdefault("restartPolicy", "Always")
    pod.setdefault("dnsPolicy", "ClusterFirst")
    pod.setdefault("schedulerName", "default-scheduler")
    pod.setdefault("terminationGracePeriodSeconds", 30)
    pod.setdefault("securityContext", {})
    for volume in pod.get("volumes") or []:
        if all(value is None for name, value in volume.items() if name != "name"):
            volume["emptyDir"] = {}
    for container in (pod.get("containers") or []) + (pod.get("initContainers") or []):
        last = (container.get("image") or "").rpartition("/")[2]
        is_latest = "@" not in last and last.partition(":")[2] in ("", "latest")
        container.setdefault("imagePullPolicy", "Always" if is_latest else "IfNotPresent")
        container.setdefault("terminationMessagePath", "/dev/termination-log")
        container.setdefault("terminationMessagePolicy", "File")
        resources = container.setdefault("resources", {})
        if resources.get("limits"):
            resources["requests"] = {**resources["limits"], **(resources.get("requests") or {})}


def set_job_defaults(job):
    """And the labels by which the controller knows the Job's pods."""
    spec, metadata = job["spec"], job["metadata"]
    if spec.get("completions") is None and spec.get("parallelism") is None:
        spec["completions"] = 1
    spec["parallelism"] = 1 if spec.get("parallelism") is None else spec["parallelism"]
    spec["backoffLimit"] = 6 if spec.get("backoffLimit") is None else spec["backoffLimit"]
    template = spec.setdefault("template", {})
    template.setdefault("metadata", {})
    set_pod_defaults(template.setdefault("spec", {}))
    own = {"controller-uid": metadata["uid"], "job-name": metadata["name"]}
    own |= {f"batch.kubernetes.io/{name}": value for name, value in own.items()}
    template["metadata"]["labels"] = {**(template["metadata"].get("labels") or {}), **own}
    if spec.get("selector") and not spec.get("manualSelector"):
        raise errors.invalid("Job", metadata["name"], [
            ("FieldValueInvalid", "spec.selector", "Invalid value: `selector` not auto-generated")])
    spec["selector"] = {"matchLabels": {"batch.kubernetes.io/controller-uid": metadata["uid"]}}


class Verbs:
    def __init__(self, store, namespaces):
        self.store, self.namespaces = store, set(namespaces)
        self.snapshots = {}  # of lists that are read page by page

    def create(self, resource, namespace, body, query):
        kind, version = KINDS[resource]
        self.check_body(resource, namespace, body, query)
        if namespace and namespace not in self.namespaces:
            raise errors.not_found("namespaces", namespace)
        made = copy.deepcopy(body)
        if not (made.get("metadata") or {}).get("name") and not (made.get("metadata") or {}).get("generateName"):
            raise errors.invalid(kind, "", [("FieldValueRequired", "metadata.name", "Required value: name or generateName is required")])
        made["metadata"] = new_metadata(made["metadata"], namespace)
        made |= {"kind": kind, "apiVersion": version, "status": made.get("status") or {}}
        if resource == "jobs":
            made["spec"] = made.get("spec") or {}
            made["status"] = {}
            set_job_defaults(made)
            try:
                causes = check_job(made)
            except ValueError as wrong:  # a quantity that is none
                raise errors.bad_request(f"{kind} in version \"v1\" cannot be handled as a {kind}: {wrong}") from wrong
            if causes:
                raise errors.invalid(kind, made["metadata"]["name"], causes)
        elif resource == "pods":
            set_pod_defaults(made["spec"])
            made["status"] = {"phase": "Pending", "qosClass": "Burstable"}
        if query.get("dryRun") == "All":
            return made
        return self.store.create(resource, made)

    def check_body(self, resource, namespace, body, query):
        kind, version = KINDS[resource]
        if not isinstance(body, dict):
            raise errors.bad_request("the object provided is unrecognized (must be of type Job): couldn't get version/kind")
        if body.get("kind") != kind or body.get("apiVersion") != version:
            raise errors.bad_request(f'the API version in the data ({body.get("apiVersion")}), or its kind ({body.get("kind")}), '
                                     f"does not match the expected {version} {kind}")
        schema.check_fields(body, schema.KINDS[resource], kind, version.rpartition("/")[2],
                            query.get("fieldValidation", "Strict") == "Strict")
        given = (body.get("metadata") or {}).get("namespace")
        if given and given != namespace:
            raise errors.bad_request("the namespace of the provided object does not match the namespace sent on the request")

    def list(self, resource, namespace, query):
        kind, version = KINDS[resource]
        selects = selector(resource, query)
        if query.get("continue"):
            items, at, start = self.rest_of(query["continue"])
        else:
            items, at = self.store.list(resource, namespace)
            items, start = [item for item in items if selects(item)], 0
        try:
            limit = int(query.get("limit") or 0)
        except ValueError as wrong:
            raise errors.bad_request(f"limit: {wrong}") from wrong
        metadata = {"resourceVersion": str(at)}
        page = items[start:start + limit] if limit > 0 else items[start:]
        if start + len(page) < len(items):
            key = random_suffix(12)
            self.snapshots[key] = (items, at)
            metadata |= {"continue": token_of(key, start + len(page)), "remainingItemCount": len(items) - start - len(page)}
        # Items of a list say neither their kind nor their version.
        page = [{name: value for name, value in item.items() if name not in ("kind", "apiVersion")} for item in page]
        return {"kind": f"{kind}List", "apiVersion": version, "metadata": metadata, "items": page}

    def rest_of(self, token):
        try:
            key, start = json.loads(base64.urlsafe_b64decode(token))
        except ValueError as wrong:
            raise errors.bad_request("continue key is not valid: " + str(wrong)) from wrong
        if key not in self.snapshots:
            raise errors.expired("The provided continue parameter is too old to display a consistent list result.")
        return *self.snapshots[key], start

    def forget(self):
        """What a list would go on with, and what watches could begin at."""
        self.snapshots.clear()
        self.store.forget()

    def patch(self, resource, namespace, name, body, part):
        """A merge patch; `part` "status": of nothing else."""
        def change(found):
            version = (body.get("metadata") or {}).get("resourceVersion")
            if version and version != found["metadata"]["resourceVersion"]:
                raise errors.conflict(resource, name, "the object has been modified; please apply your changes to the latest version")
            for key in ("status",) if part == "status" else ("metadata", "spec"):
                if key in body:
                    found[key] = merged(found.get(key), body[key])
        return self.store.update(resource, namespace, name, change)

    def delete(self, resource, namespace, name, options):
        found = self.store.get(resource, namespace, name)
        wanted = (options.get("preconditions") or {}).get("uid")
        if wanted and wanted != found["metadata"]["uid"]:
            raise errors.conflict(resource, name, "Precondition failed: UID in precondition: "
                                  f"{wanted}, UID in object meta: {found['metadata']['uid']}")
        policy = options.get("propagationPolicy")
        if policy is not None and policy not in POLICIES:
            raise errors.invalid("DeleteOptions", "", [
                ("FieldValueInvalid", "propagationPolicy", f"Invalid value: {policy}: must be one of {POLICIES} or nil")])
        if resource == "pods":
            return self.delete_pod(found, options)
        if resource == "jobs" and policy == "Foreground":
            return self.store.update(resource, namespace, name, mark_foreground)
        if resource == "jobs" and policy != "Background":
            self.orphan(found)
        self.store.delete(resource, namespace, name)
        return {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "details": {
            "name": name, **({"group": "batch"} if resource == "jobs" else {}), "kind": resource, "uid": found["metadata"]["uid"]}}

    def delete_pod(self, pod, options):
        metadata = pod["metadata"]
        key = ("pods", metadata["namespace"], metadata["name"])
        grace_s = options.get("gracePeriodSeconds")
        grace_s = pod["spec"]["terminationGracePeriodSeconds"] if grace_s is None else grace_s
        has_ended = pod["status"].get("phase") in ("Succeeded", "Failed")
        if grace_s == 0 or has_ended or not pod["spec"].get("nodeName"):
            return self.store.delete(*key)

        def mark(found):
            if "deletionTimestamp" not in found["metadata"] or grace_s < found["metadata"]["deletionGracePeriodSeconds"]:
                found["metadata"] |= {"deletionTimestamp": now_text(grace_s), "deletionGracePeriodSeconds": grace_s}
        return self.store.update(*key, mark)

    def orphan(self, job):
        """As deletions without a policy do with the pods of a Job of batch/v1."""
        for pod in self.store.list("pods", job["metadata"]["namespace"])[0]:
            if owner_uid(pod) == job["metadata"]["uid"]:
                self.store.update("pods", pod["metadata"]["namespace"], pod["metadata"]["name"],
                                  lambda found: found["metadata"].pop("ownerReferences"))


def owner_uid(pod):
    owners = pod["metadata"].get("ownerReferences") or [{}]
    return owners[0].get("uid")


def mark_foreground(job):
    metadata = job["metadata"]
    metadata.setdefault("deletionTimestamp", now_text())
    metadata["deletionGracePeriodSeconds"] = 0
    metadata["finalizers"] = sorted({*(metadata.get("finalizers") or []), FOREGROUND})


def token_of(key, start):
    return base64.urlsafe_b64encode(json.dumps([key, start]).encode()).decode()


def merged(old, patch):
    if not isinstance(patch, dict):
        return patch
    result = dict(old) if isinstance(old, dict) else {}
    for name, value in patch.items():
        if value is None:
            result.pop(name, None)
        else:
            result[name] = merged(result.get(name), value)
    return result
