"""Which fields the objects have that clients send, and of which kind their values are."""
from kube.errors import bad_request

ANY = object()  # not looked into
TEXTS = {"*": str}  # a map of texts
LABEL_SELECTOR = {"matchLabels": TEXTS, "matchExpressions": [{"key": str, "operator": str, "values": [str]}]}
METADATA = {
    "annotations": TEXTS, "creationTimestamp": ANY, "deletionGracePeriodSeconds": int, "deletionTimestamp": ANY,
    "finalizers": [str], "generateName": str, "generation": int, "labels": TEXTS, "managedFields": ANY, "name": str,
    "namespace": str, "ownerReferences": [{"apiVersion": str, "blockOwnerDeletion": bool, "controller": bool, "kind": str,
                                           "name": str, "uid": str}],
    "resourceVersion": str, "selfLink": str, "uid": str}
SECCOMP = {"type": str, "localhostProfile": str}
FIELD_REF = {"apiVersion": str, "fieldPath": str}
KEY_REF = {"name": str, "key": str, "optional": bool}
ENV = {"name": str, "value": str, "valueFrom": {
    "fieldRef": FIELD_REF, "resourceFieldRef": {"containerName": str, "divisor": ANY, "resource": str},
    "configMapKeyRef": KEY_REF, "secretKeyRef": KEY_REF}}
RESOURCES = {"limits": {"*": ANY}, "requests": {"*": ANY}, "claims": ANY}
CONTAINER = {
    "args": [str], "command": [str], "env": [ENV], "envFrom": ANY, "image": str, "imagePullPolicy": str, "lifecycle": ANY,
    "livenessProbe": ANY, "name": str, "ports": ANY, "readinessProbe": ANY, "resizePolicy": ANY, "resources": RESOURCES,
    "restartPolicy": str, "startupProbe": ANY, "stdin": bool, "stdinOnce": bool, "terminationMessagePath": str,
    "terminationMessagePolicy": str, "tty": bool, "volumeDevices": ANY, "workingDir": str,
    "securityContext": {
        "allowPrivilegeEscalation": bool, "appArmorProfile": ANY, "capabilities": {"add": [str], "drop": [str]},
        "privileged": bool, "procMount": str, "readOnlyRootFilesystem": bool, "runAsGroup": int, "runAsNonRoot": bool,
        "runAsUser": int, "seLinuxOptions": ANY, "seccompProfile": SECCOMP, "windowsOptions": ANY},
    "volumeMounts": [{"mountPath": str, "mountPropagation": str, "name": str, "readOnly": bool, "recursiveReadOnly": str,
                      "subPath": str, "subPathExpr": str}]}
# Sources of volumes; those of clouds are nobody's here.
SOURCES = {
    "configMap": ANY, "csi": ANY, "downwardAPI": ANY, "emptyDir": {"medium": str, "sizeLimit": ANY}, "ephemeral": ANY,
    "hostPath": {"path": str, "type": str}, "nfs": {"path": str, "readOnly": bool, "server": str},
    "persistentVolumeClaim": {"claimName": str, "readOnly": bool}, "projected": ANY, "secret": ANY}
POD_SPEC = {
    "activeDeadlineSeconds": int, "affinity": ANY, "automountServiceAccountToken": bool, "containers": [CONTAINER],
    "dnsConfig": ANY, "dnsPolicy": str, "enableServiceLinks": bool, "ephemeralContainers": ANY, "hostAliases": ANY,
    "hostIPC": bool, "hostNetwork": bool, "hostPID": bool, "hostUsers": bool, "hostname": str,
    "imagePullSecrets": [{"name": str}], "initContainers": [CONTAINER], "nodeName": str, "nodeSelector": TEXTS, "os": ANY,
    "overhead": ANY, "preemptionPolicy": str, "priority": int, "priorityClassName": str, "readinessGates": ANY,
    "resourceClaims": ANY, "restartPolicy": str, "runtimeClassName": str, "schedulerName": str, "schedulingGates": ANY,
    "securityContext": {
        "appArmorProfile": ANY, "fsGroup": int, "fsGroupChangePolicy": str, "runAsGroup": int, "runAsNonRoot": bool,
        "runAsUser": int, "seLinuxOptions": ANY, "seccompProfile": SECCOMP, "supplementalGroups": [int],
        "supplementalGroupsPolicy": str, "sysctls": ANY, "windowsOptions": ANY},
    "serviceAccount": str, "serviceAccountName": str, "setHostnameAsFQDN": bool, "shareProcessNamespace": bool,
    "subdomain": str, "terminationGracePeriodSeconds": int,
    "tolerations": [{"effect": str, "key": str, "operator": str, "tolerationSeconds": int, "value": str}],
    "topologySpreadConstraints": ANY, "volumes": [{"name": str, **SOURCES}]}
POD_TEMPLATE = {"metadata": METADATA, "spec": POD_SPEC}
KINDS = {
    "jobs": {"apiVersion": str, "kind": str, "metadata": METADATA, "status": ANY, "spec": {
        "activeDeadlineSeconds": int, "backoffLimit": int, "backoffLimitPerIndex": int, "completionMode": str,
        "completions": int, "managedBy": str, "manualSelector": bool, "maxFailedIndexes": int, "parallelism": int,
        "podFailurePolicy": ANY, "podReplacementPolicy": str, "selector": LABEL_SELECTOR, "successPolicy": ANY,
        "suspend": bool, "template": POD_TEMPLATE, "ttlSecondsAfterFinished": int}},
    "pods": {"apiVersion": str, "kind": str, "metadata": METADATA, "spec": POD_SPEC, "status": ANY},
    "nodes": {"apiVersion": str, "kind": str, "metadata": METADATA, "spec": ANY, "status": ANY}}
DELETE_OPTIONS = {
    "apiVersion": str, "kind": str, "dryRun": [str], "gracePeriodSeconds": int, "orphanDependents": bool,
    "preconditions": {"resourceVersion": str, "uid": str}, "propagationPolicy": str}
NAMES = {str: "string", int: "int64", bool: "bool"}


def mismatches(value, schema, path):
    """What of a value is not as its schema has it: (whether its type is wrong, text). A null is as good as nothing."""
    if schema is ANY or value is None:
        return
    if isinstance(schema, dict):
        if not isinstance(value, dict):
            yield True, f"json: cannot unmarshal {type(value).__name__} into Go struct field {path}"
            return
        for name, inner in value.items():
            below = f"{path}.{name}" if path else name
            if "*" in schema or name in schema:
                yield from mismatches(inner, schema.get(name, schema.get("*")), below)
            else:
                yield False, f'unknown field "{below}"'
    elif isinstance(schema, list):
        if not isinstance(value, list):
            yield True, f"json: cannot unmarshal {type(value).__name__} into Go struct field {path}"
            return
        for index, inner in enumerate(value):
            yield from mismatches(inner, schema[0], f"{path}[{index}]")
    elif not isinstance(value, schema) or (schema is int and isinstance(value, bool)):
        yield True, f"json: cannot unmarshal {type(value).__name__} into Go struct field {path} of type {NAMES[schema]}"


def check_fields(value, schema, kind, version, knows_all=True):
    """`knows_all`: unknown fields are refused, as with fieldValidation=Strict."""
    found = list(mismatches(value, schema, ""))
    wrong = [text for is_type, text in found if is_type]
    unknown = [text for is_type, text in found if not is_type]
    start = f'{kind} in version "{version}" cannot be handled as a {kind}: '
    if wrong:
        raise bad_request(start + wrong[0])
    if unknown and knows_all:
        raise bad_request(start + "strict decoding error: " + ", ".join(unknown))
