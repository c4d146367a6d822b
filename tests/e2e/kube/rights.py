"""Who may do what: the rules that the documentation gives to the agent (RBAC)."""
import pathlib
import re

import yaml

DOCUMENT = pathlib.Path(__file__).resolve().parents[3] / "docs" / "kubernetes.md"


def documented_objects():
    """The objects of the first YAML block below the heading "Rights"."""
    part = DOCUMENT.read_text().split("\n## Rights", 1)[1]
    block = re.search(r"```yaml\n(.*?)```", part, re.DOTALL)[1]
    return [one for one in yaml.safe_load_all(block) if one]


def documented_account():
    """(namespace, name) of the agent's service account."""
    [account] = [one["metadata"] for one in documented_objects() if one["kind"] == "ServiceAccount"]
    return account["namespace"], account["name"]


class User:
    """`rules`: (namespace or None for all, groups, resources, verbs); None: everything is allowed."""

    def __init__(self, name, rules=None):
        self.name, self.rules = name, rules

    def may(self, verb, group, resource, namespace):
        return self.rules is None or any(
            among(group, groups) and among(resource, resources) and among(verb, verbs) and of in (None, namespace)
            for of, groups, resources, verbs in self.rules)


def among(word, words):
    return word in words or "*" in words


def documented_user():
    """The agent's, as the stand-in lets it do things."""
    namespace, name = documented_account()
    objects = documented_objects()
    roles = {(one["kind"], one["metadata"]["name"]): one["rules"] for one in objects if one["kind"] in ("Role", "ClusterRole")}
    rules = []
    for binding in (one for one in objects if one["kind"].endswith("Binding")):
        of = binding["metadata"].get("namespace")
        rules += [(of, rule["apiGroups"], rule["resources"], rule["verbs"])
                  for rule in roles[binding["roleRef"]["kind"], binding["roleRef"]["name"]]]
    return User(f"system:serviceaccount:{namespace}:{name}", rules)
