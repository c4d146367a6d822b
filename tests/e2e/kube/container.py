"""A container's command as processes of this machine: the first of them is 1 in a process namespace of its own, where that is
allowed (root), as in a container."""
import contextlib
import functools
import os
import pathlib
import re
import signal
import subprocess
import time

MARK = "FATHOM_KUBE_CONTAINER"
OWN_NAMESPACE = ("unshare", "--pid", "--fork", "--kill-child", "--mount-proc")
REFERENCE = re.compile(r"\$(\$|\(([-._a-zA-Z][-._a-zA-Z0-9]*)\))")
REFERENCE_FIELDS = {"metadata.name": ("metadata", "name"), "metadata.namespace": ("metadata", "namespace"),
                    "metadata.uid": ("metadata", "uid"), "spec.nodeName": ("spec", "nodeName")}


class CannotRun(Exception):
    """As the kubelet tells it: `reason` is CreateContainerError or CreateContainerConfigError."""

    def __init__(self, reason, message):
        super().__init__(message)
        self.reason, self.message = reason, message


@functools.cache
def can_unshare():
    return os.geteuid() == 0 and subprocess.run([*OWN_NAMESPACE, "true"], capture_output=True).returncode == 0


def expanded(text, environment):
    """As the kubelet does in commands and in values: $(NAME) where there is such a variable, and $$ for one $."""
    return REFERENCE.sub(lambda found: "$" if found[1] == "$" else environment.get(found[2], found[0]), text)


def environment_of(pod, container):
    made = {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOSTNAME": pod["metadata"]["name"]}
    for variable in container.get("env") or []:
        reference = ((variable.get("valueFrom") or {}).get("fieldRef") or {}).get("fieldPath")
        if reference:
            if reference not in REFERENCE_FIELDS:
                raise CannotRun("CreateContainerConfigError", f"the stand-in does not know the field {reference}")
            part, name = REFERENCE_FIELDS[reference]
            made[variable["name"]] = pod[part][name]
        else:
            made[variable["name"]] = expanded(variable.get("value") or "", made)
    return made


def check_mounts(pod, container, claims):
    """Nothing is mounted here: each folder must be at the path that the container has it at. `claims`: folders by the names of
    claims."""
    volumes = {volume["name"]: volume for volume in pod["spec"].get("volumes") or []}
    for mount in container.get("volumeMounts") or []:
        volume, at = volumes[mount["name"]], pathlib.Path(mount["mountPath"])
        if "hostPath" in volume:
            root, kind = pathlib.Path(volume["hostPath"]["path"]), volume["hostPath"].get("type") or ""
            if kind == "Directory" and not root.is_dir():
                raise CannotRun("ContainerCreating", f'MountVolume.SetUp failed for volume "{mount["name"]}": hostPath type check failed: '
                                                     f"{root} is not a directory")
            if kind == "DirectoryOrCreate":
                root.mkdir(parents=True, exist_ok=True)
        elif "persistentVolumeClaim" in volume:
            claim = volume["persistentVolumeClaim"]["claimName"]
            if claim not in claims:
                raise CannotRun("ContainerCreating", f'persistentvolumeclaim "{claim}" not found')
            root = pathlib.Path(claims[claim])
        else:
            continue
        source = root / (mount.get("subPath") or "")
        if source.resolve() != at.resolve():
            raise CannotRun("CreateContainerError", f"the stand-in cannot show {source} at {at}, which is another path")


class Container:
    """Started by its making."""

    def __init__(self, pod, container, claims, log_path):
        check_mounts(pod, container, claims)
        environment = environment_of(pod, container)
        self.mark = f"{pod['metadata']['uid']}/{container['name']}/{time.monotonic_ns()}"
        environment[MARK] = self.mark
        command = [expanded(word, environment) for word in (container.get("command") or []) + (container.get("args") or [])]
        if not command:
            raise CannotRun("CreateContainerError", "the stand-in has no images, so that a container needs a command")
        context = {**(pod["spec"].get("securityContext") or {}), **(container.get("securityContext") or {})}
        start = [*(OWN_NAMESPACE if can_unshare() else ()), *user_of(context), *command]
        with open(log_path, "ab") as log:
            try:
                self.process = subprocess.Popen(start, stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=environment,
                                                cwd=container.get("workingDir") or "/", start_new_session=True)
            except OSError as wrong:
                raise CannotRun("CreateContainerError", str(wrong)) from wrong

    def first(self):
        """The process that is the container's first."""
        if not can_unshare():
            return self.process.pid
        below = pathlib.Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text().split()
        return int(below[0])

    def processes(self):
        """All of the container's, also those that left its session."""
        found, mark = [], f"{MARK}={self.mark}".encode()
        for entry in pathlib.Path("/proc").iterdir():
            if entry.name.isdigit():
                with contextlib.suppress(OSError):
                    if mark in (entry / "environ").read_bytes().split(b"\0") and int(entry.name) != self.process.pid:
                        found.append(int(entry.name))
        return found

    def kill(self):
        for pid in [*self.processes(), *([] if can_unshare() else [self.process.pid])]:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    def stop(self, grace_s):
        """SIGTERM for its first process, and after that time SIGKILL for all. Without such a time, SIGKILL at once."""
        if grace_s > 0:
            with contextlib.suppress(OSError, IndexError):
                os.kill(self.first(), signal.SIGTERM)
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.process.wait(grace_s)
        is_killed = False
        while not self.has_ended():  # what is just about to start a process is killed with the next round
            is_killed = True
            self.kill()
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.process.wait(0.2)
        code = self.wait()
        return 128 + signal.SIGKILL if is_killed else code  # unshare tells of a child that was killed by 1

    def wait(self):
        """Its exit code; above 128 by a signal. With its first process all others end."""
        code = self.process.wait()
        self.kill()
        return 128 - code if code < 0 else code

    def has_ended(self):
        return self.process.poll() is not None


def user_of(context):
    """Words before a command that make it run as the container's user."""
    user, group = context.get("runAsUser"), context.get("runAsGroup")
    if user is None:
        if context.get("runAsNonRoot"):
            raise CannotRun("CreateContainerConfigError", "container has runAsNonRoot and image will run as root")
        return ()
    if context.get("runAsNonRoot") and user == 0:
        raise CannotRun("CreateContainerConfigError", "container's runAsUser breaks non-root policy")
    group = user if group is None else group
    if os.geteuid() != 0:
        if (user, group) != (os.geteuid(), os.getegid()):
            raise CannotRun("CreateContainerError", f"the stand-in is not root and cannot run it as {user}:{group}")
        return ()
    others = context.get("supplementalGroups") or []
    groups = ("--groups", ",".join(map(str, others))) if others else ("--clear-groups",)
    return ("setpriv", f"--reuid={user}", f"--regid={group}", *groups, "--")
