"""Operators as experts upload them: built from the examples, signed by the command line."""
import json
import pathlib
import subprocess

EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / "probes" / "upload" / "examples"


def create_key(net, file):
    """A private key in the file, the public one beside it with .pub; its id."""
    return json.loads(net.cli("--output", "json", "operator", "key", "create", "-o", file))["id"]


def build_package(net, source, manifest, key_file, defines=(), token=None):
    """Compiles the source, signs it with its manifest, and gives the package's file, in the network's folder."""
    name = "-".join([source.stem, manifest["id"], str(manifest["version"]), key_file.stem])
    shared_object, manifest_file = net.folder / f"{name}.so", net.folder / f"{name}-manifest.json"
    subprocess.run(["cc", "-shared", "-fPIC", "-O2", "-fvisibility=hidden", "-I", EXAMPLES.parent, *defines, "-o", shared_object,
                    source, "-lm"], check=True)
    manifest_file.write_text(json.dumps(manifest))
    package = net.folder / f"{name}-package.json"
    net.cli("operator", "sign", "--manifest", manifest_file, "--object", shared_object, "--key", key_file, "-o", package,
            token=token)
    return package


def manifest_in(folder):
    return json.loads((folder / "manifest.json").read_text())
