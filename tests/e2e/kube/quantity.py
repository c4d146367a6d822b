"""Amounts of resources, as Kubernetes writes them: 500m, 2, 1Gi, 1e3."""
import decimal
import re

FORM = re.compile(r"^([+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+))([KMGTPE]i|[numkMGTPE]|[eE][+-]?[0-9]+)?$")
POWERS = {"n": -9, "u": -6, "m": -3, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}


def parse_quantity(value):
    """ValueError: it is none."""
    found = FORM.match(str(value)) if isinstance(value, (str, int, float)) and not isinstance(value, bool) else None
    if not found:
        raise ValueError("quantities must match the regular expression "
                         "'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'")
    number, suffix = decimal.Decimal(found[1]), found[2] or ""
    if suffix.endswith("i"):
        return number * 1024 ** ("KMGTPE".index(suffix[0]) + 1)
    if suffix in POWERS:
        return number.scaleb(POWERS[suffix])
    return number.scaleb(int(suffix[1:])) if suffix else number


def amounts(resources):
    return {name: parse_quantity(value) for name, value in (resources or {}).items()}
