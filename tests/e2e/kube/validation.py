"""Which values the API server takes in a Job."""
import re

from kube.quantity import parse_quantity

LABEL = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?")
SUBDOMAIN = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")
NAME_OF_LABEL = re.compile(r"([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]")
VALUE_OF_LABEL = re.compile(r"(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?")
ENV_NAME = re.compile(r"[-._a-zA-Z][-._a-zA-Z0-9]*")
OWN_RESOURCES = ("cpu", "memory", "ephemeral-storage")
HOST_PATH_TYPES = ("", "DirectoryOrCreate", "Directory", "FileOrCreate", "File", "Socket", "CharDevice", "BlockDevice")
MAX_UID = 2**31 - 1
MAX_ANNOTATION_BYTES = 256 << 10


def is_subdomain(text):
    return len(text) <= 253 and SUBDOMAIN.fullmatch(text) is not None


def is_label(text):
    return len(text) <= 63 and LABEL.fullmatch(text) is not None


def is_qualified(text):
    """The key of a label: a name, or a domain, a slash and a name."""
    *prefix, name = text.split("/")
    return len(prefix) <= 1 and all(is_subdomain(p) for p in prefix) and len(name) <= 63 and bool(NAME_OF_LABEL.fullmatch(name))


class Findings:
    """What is wrong, in the API server's form: (reason, field, message)."""

    def __init__(self):
        self.causes = []

    def wrong(self, field, value, why):
        shown = f'"{value}"' if isinstance(value, str) else str(value)
        self.causes.append(("FieldValueInvalid", field, f"Invalid value: {shown}: {why}"))

    def missing(self, field, why=""):
        self.causes.append(("FieldValueRequired", field, "Required value" + (f": {why}" if why else "")))

    def unsupported(self, field, value, known):
        listed = ", ".join(f'"{one}"' for one in known)
        self.causes.append(("FieldValueNotSupported", field, f'Unsupported value: "{value}": supported values: {listed}'))

    def twice(self, field, value):
        self.causes.append(("FieldValueDuplicate", field, f'Duplicate value: "{value}"'))

    def absent(self, field, value):
        self.causes.append(("FieldValueNotFound", field, f'Not found: "{value}"'))

    def at_least(self, least, field, value):
        if value is not None and value < least:
            self.wrong(field, value, f"must be greater than or equal to {least}")


def check_labels(found, labels, field):
    for name, value in (labels or {}).items():
        if not is_qualified(name):
            found.wrong(field, name, "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and "
                                     "end with an alphanumeric character, of at most 63 characters")
        if len(value) > 63:
            found.wrong(field, value, "must be no more than 63 characters")
        elif not VALUE_OF_LABEL.fullmatch(value):
            found.wrong(field, value, "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' "
                                      "or '.', and must start and end with an alphanumeric character")


def check_metadata(found, metadata, field, name_is_valid=is_subdomain):
    name = metadata.get("name") or ""
    if not name and not metadata.get("generateName"):
        found.missing(f"{field}.name", "name or generateName is required")
    elif not name_is_valid(name):
        found.wrong(f"{field}.name", name, "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, "
                                           "'-' or '.', and must start and end with an alphanumeric character")
    check_labels(found, metadata.get("labels"), f"{field}.labels")
    annotations = metadata.get("annotations") or {}
    for key in annotations:
        if not is_qualified(key.lower()):
            found.wrong(f"{field}.annotations", key, "name part must consist of alphanumeric characters, '-', '_' or '.'")
    if sum(len(key) + len(value) for key, value in annotations.items()) > MAX_ANNOTATION_BYTES:
        found.causes.append(("FieldValueTooLong", f"{field}.annotations", f"Too long: must have at most {MAX_ANNOTATION_BYTES} bytes"))


def check_amounts(found, resources, field):
    parsed = {}
    for part in ("limits", "requests"):
        for name, value in (resources.get(part) or {}).items():
            where = f"{field}.{part}[{name}]"
            if name not in OWN_RESOURCES and not name.startswith("hugepages-") and "/" not in name:
                found.wrong(where, name, "must be a standard resource for containers")
            amount = parsed[part, name] = parse_quantity(value)
            if amount < 0:
                found.wrong(where, value, "must be greater than or equal to 0")
            if "/" in name and amount != int(amount):
                found.wrong(where, value, "must be an integer")
    for (part, name), amount in parsed.items():
        limit = parsed.get(("limits", name))
        if part != "requests":
            continue
        if limit is None and "/" in name:
            found.missing(f"{field}.limits", f"Limit must be set for non overcommitable resources: {name}")
        elif limit is not None and "/" in name and amount != limit:
            found.wrong(f"{field}.requests", str(amount), f"must be equal to {name} limit")
        elif limit is not None and amount > limit:
            found.wrong(f"{field}.requests", str(amount), f"must be less than or equal to {name} limit")


def check_container(found, container, field, volumes, names):
    name = container.get("name") or ""
    if not name:
        found.missing(f"{field}.name")
    elif not is_label(name):
        found.wrong(f"{field}.name", name, "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-'")
    elif name in names:
        found.twice(f"{field}.name", name)
    names.add(name)
    image = container.get("image") or ""
    if not image:
        found.missing(f"{field}.image")
    elif image != image.strip():
        found.wrong(f"{field}.image", image, "must not have leading or trailing whitespace")
    if container.get("imagePullPolicy") not in ("Always", "IfNotPresent", "Never"):
        found.unsupported(f"{field}.imagePullPolicy", container.get("imagePullPolicy"), ("Always", "IfNotPresent", "Never"))
    for index, variable in enumerate(container.get("env") or []):
        at = f"{field}.env[{index}]"
        if not variable.get("name"):
            found.missing(f"{at}.name")
        elif not ENV_NAME.fullmatch(variable["name"]):
            found.wrong(f"{at}.name", variable["name"], "a valid environment variable name must consist of alphabetic characters, "
                                                        "digits, '_', '-', or '.'")
        if variable.get("value") and variable.get("valueFrom"):
            found.wrong(f"{at}.valueFrom", "", "may not be specified when `value` is not empty")
    taken = set()
    for index, mount in enumerate(container.get("volumeMounts") or []):
        at = f"{field}.volumeMounts[{index}]"
        if not mount.get("name"):
            found.missing(f"{at}.name")
        elif mount["name"] not in volumes:
            found.absent(f"{at}.name", mount["name"])
        if not mount.get("mountPath"):
            found.missing(f"{at}.mountPath")
        elif mount["mountPath"] in taken:
            found.wrong(f"{at}.mountPath", mount["mountPath"], "must be unique")
        taken.add(mount.get("mountPath"))
        below = mount.get("subPath") or ""
        if below.startswith("/"):
            found.wrong(f"{field}.volumeMounts.subPath", below, "must be a relative path")
        if ".." in below.split("/"):
            found.wrong(f"{field}.volumeMounts.subPath", below, "must not contain '..'")
    check_amounts(found, container.get("resources") or {}, f"{field}.resources")
    check_user(found, container.get("securityContext") or {}, f"{field}.securityContext")


def check_user(found, context, field):
    for name in ("runAsUser", "runAsGroup", "fsGroup"):
        if context.get(name) is not None and not 0 <= context[name] <= MAX_UID:
            found.wrong(f"{field}.{name}", context[name], "must be between 0 and 2147483647, inclusive")
    profile = context.get("seccompProfile")
    known = ("Localhost", "RuntimeDefault", "Unconfined")
    if profile is not None and profile.get("type") not in known:
        found.unsupported(f"{field}.seccompProfile.type", profile.get("type"), known)


def check_volumes(found, volumes, field):
    names = set()
    for index, volume in enumerate(volumes):
        at, name = f"{field}[{index}]", volume.get("name") or ""
        if not name:
            found.missing(f"{at}.name")
        elif not is_label(name):
            found.wrong(f"{at}.name", name, "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-'")
        elif name in names:
            found.twice(f"{at}.name", name)
        names.add(name)
        sources = [key for key in volume if key != "name" and volume[key] is not None]
        for source in sources[1:]:
            found.causes.append(("FieldValueForbidden", f"{at}.{source}", "Forbidden: may not specify more than 1 volume type"))
        host = volume.get("hostPath")
        if host is not None:
            if not host.get("path"):
                found.missing(f"{at}.hostPath.path")
            elif ".." in host["path"].split("/"):
                found.wrong(f"{at}.hostPath.path", host["path"], "must not contain '..'")
            if (host.get("type") or "") not in HOST_PATH_TYPES:
                found.unsupported(f"{at}.hostPath.type", host["type"], HOST_PATH_TYPES[1:])
        claim = volume.get("persistentVolumeClaim")
        if claim is not None and not claim.get("claimName"):
            found.missing(f"{at}.persistentVolumeClaim.claimName")
    return names


def check_tolerations(found, tolerations, field):
    for index, one in enumerate(tolerations):
        at = f"{field}[{index}]"
        if one.get("operator") not in (None, "", "Exists", "Equal"):
            found.unsupported(f"{at}.operator", one["operator"], ("Equal", "Exists"))
        if not one.get("key") and one.get("operator") != "Exists":
            found.wrong(f"{at}.operator", one.get("operator"), "operator must be Exists when `key` is empty")
        if one.get("effect") not in (None, "", "NoSchedule", "PreferNoSchedule", "NoExecute"):
            found.unsupported(f"{at}.effect", one["effect"], ("NoSchedule", "PreferNoSchedule", "NoExecute"))


def check_pod(found, pod, field):
    volumes = check_volumes(found, pod.get("volumes") or [], f"{field}.volumes")
    names = set()
    if not pod.get("containers"):
        found.missing(f"{field}.containers")
    for part in ("initContainers", "containers"):
        for index, container in enumerate(pod.get(part) or []):
            check_container(found, container, f"{field}.{part}[{index}]", volumes, names)
    if pod.get("restartPolicy") not in ("Always", "OnFailure", "Never"):
        found.unsupported(f"{field}.restartPolicy", pod.get("restartPolicy"), ("Always", "OnFailure", "Never"))
    known = ("ClusterFirstWithHostNet", "ClusterFirst", "Default", "None")
    if pod.get("dnsPolicy") not in known:
        found.unsupported(f"{field}.dnsPolicy", pod.get("dnsPolicy"), known)
    check_labels(found, pod.get("nodeSelector"), f"{field}.nodeSelector")
    check_tolerations(found, pod.get("tolerations") or [], f"{field}.tolerations")
    check_user(found, pod.get("securityContext") or {}, f"{field}.securityContext")
    found.at_least(0, f"{field}.terminationGracePeriodSeconds", pod.get("terminationGracePeriodSeconds"))
    deadline_s = pod.get("activeDeadlineSeconds")
    if deadline_s is not None and not 1 <= deadline_s <= 2**31 - 1:
        found.wrong(f"{field}.activeDeadlineSeconds", deadline_s, "must be between 1 and 2147483647, inclusive")
    for index, secret in enumerate(pod.get("imagePullSecrets") or []):
        if not secret.get("name"):
            found.missing(f"{field}.imagePullSecrets[{index}].name")


def check_job(job):
    """What is wrong with a Job that has its defaults already."""
    found, spec = Findings(), job["spec"]
    check_metadata(found, job["metadata"], "metadata")
    for name in ("parallelism", "completions", "activeDeadlineSeconds", "backoffLimit", "ttlSecondsAfterFinished"):
        found.at_least(0, f"spec.{name}", spec.get(name))
    template = spec["template"]
    check_labels(found, (template.get("metadata") or {}).get("labels"), "spec.template.labels")
    check_pod(found, template["spec"], "spec.template.spec")
    if template["spec"].get("restartPolicy") == "Always":
        found.missing("spec.template.spec.restartPolicy", 'valid values: "OnFailure", "Never"')
    return found.causes
