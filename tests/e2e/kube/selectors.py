"""Selectors of labels and of fields, as in the query of a list or of a watch."""
import re

from kube.errors import bad_request

FIELDS = {
    "pods": ("metadata.name", "metadata.namespace", "spec.nodeName", "spec.restartPolicy", "spec.schedulerName",
             "spec.serviceAccountName", "status.phase", "status.podIP", "status.nominatedNodeName"),
    "jobs": ("metadata.name", "metadata.namespace", "status.successful"),
    "nodes": ("metadata.name", "spec.unschedulable")}
REQUIREMENT = re.compile(r"\s*(?:(!)?\s*([A-Za-z0-9][-A-Za-z0-9_./]*)\s*(?:(==|=|!=)\s*([-A-Za-z0-9_.]*)"
                         r"|\s(in|notin)\s*\(([^()]*)\))?)\s*(?:,|$)")


def label_conditions(text):
    """Functions that each must find a map of labels true."""
    conditions, at = [], 0
    while at < len(text):
        found = REQUIREMENT.match(text, at)
        if not found or (found[1] and (found[3] or found[5])):
            raise bad_request(f"unable to parse requirement: {text!r}")
        conditions.append(condition_of(*found.groups()))
        at = found.end()
    return conditions


def condition_of(no, key, sign, value, word, values):
    listed = {one.strip() for one in (values or "").split(",")}
    if sign in ("=", "=="):
        return lambda labels: labels.get(key) == value
    if sign == "!=":
        return lambda labels: labels.get(key) != value
    if word == "in":
        return lambda labels: labels.get(key) in listed
    if word == "notin":
        return lambda labels: labels.get(key) not in listed
    return (lambda labels: key not in labels) if no else (lambda labels: key in labels)


def field_of(item, path):
    for name in path.split("."):
        item = (item or {}).get(name)
    return "" if item is None else str(item).lower() if isinstance(item, bool) else str(item)


def field_condition(resource, part):
    found = re.fullmatch(r"([^=!]+)(==|=|!=)(.*)", part)
    if not found:
        raise bad_request(f"invalid selector: '{part}'; can't understand '{part}'")
    path, sign, value = found.groups()
    if path not in FIELDS[resource]:
        raise bad_request(f'field label not supported: {path}')
    return lambda item: (field_of(item, path) == value) != (sign == "!=")


def selector(resource, query):
    """Whether an object is among what a query selects."""
    of_labels = label_conditions(query.get("labelSelector", ""))
    of_fields = [field_condition(resource, part) for part in query.get("fieldSelector", "").split(",") if part]
    return lambda item: (all(condition(item["metadata"].get("labels") or {}) for condition in of_labels)
                         and all(condition(item) for condition in of_fields))
