"""Loaded by each Python of a job that shares a GPU, by PYTHONPATH: tells libfathom-gpu.so when an optimizer of PyTorch has
stepped, or a step that a JAX program marks for its profiler is over, which ends an iteration (docs/gpu-memory.md). Programs
need not change; without PyTorch and JAX, or without the library, it does nothing."""
import importlib.abc
import importlib.machinery
import importlib.util
import os
import sys

import fathom_gpu  # beside this file


def after_step(gpu, torch):
    """What PyTorch is to call after each step of an optimizer."""
    def end_iteration(_optimizer, _args, _kwargs):
        # Its allocator holds memory for later, of which the driver sees no end. When the turn ends, that goes.
        if gpu.is_turn_over():
            torch.cuda.empty_cache()
        gpu.iteration_end()
    return end_iteration


def hook_optimizers(module):
    """In PyTorch's module of optimizers."""
    register = getattr(module, "register_optimizer_step_post_hook", None)  # PyTorch 2.0 and later
    if register is not None:
        register(after_step(fathom_gpu, sys.modules["torch"]))


def after_exit(gpu, leave):
    """What JAX is to call at the end of a marked step, `leave` being what it calls otherwise."""
    def end_iteration(annotation, error, *details):
        result = leave(annotation, error, *details)
        if error is None:
            gpu.iteration_end()
        return result
    return end_iteration


def hook_steps(module):
    """In JAX's module of the profiler. The class stays the same one: programs may have it under other names, too."""
    step = getattr(module, "StepTraceAnnotation", None)
    if step is not None and hasattr(step, "__exit__"):
        step.__exit__ = after_exit(fathom_gpu, step.__exit__)


HOOKS = {"torch.optim.optimizer": hook_optimizers, "jax.profiler": hook_steps}


class Loader(importlib.abc.Loader):
    """Loads a module as ever, and then leaves the hook with it."""

    def __init__(self, loader, hook):
        self._loader = loader
        self._hook = hook

    def create_module(self, spec):
        return self._loader.create_module(spec)

    def exec_module(self, module):
        self._loader.exec_module(module)
        self._hook(module)


class Finder(importlib.abc.MetaPathFinder):
    """Waits for the modules that get a hook, however the program comes to import them."""

    def __init__(self):
        self._hooks = dict(HOOKS)

    def find_spec(self, fullname, path, target=None):
        hook = self._hooks.pop(fullname, None)
        if hook is None:
            return None
        spec = importlib.machinery.PathFinder.find_spec(fullname, path, target)
        if spec is not None and spec.loader is not None:
            spec.loader = Loader(spec.loader, hook)
        return spec


def load_hidden():
    """The sitecustomize of the program's own environment, which this one hides."""
    here = os.path.dirname(os.path.abspath(__file__))
    folders = [folder for folder in sys.path if os.path.abspath(folder or ".") != here]
    spec = importlib.machinery.PathFinder.find_spec("sitecustomize", folders)
    if spec is not None and spec.loader is not None:
        spec.loader.exec_module(importlib.util.module_from_spec(spec))


if fathom_gpu.is_present():
    sys.meta_path.insert(0, Finder())
load_hidden()
