"""Loaded by each Python of a job that shares a GPU, by PYTHONPATH: tells libfathom-gpu.so when an optimizer of PyTorch has
stepped, which ends an iteration (docs/gpu-memory.md). Programs need not change; without PyTorch, or without the library, it
does nothing."""
import importlib.abc
import importlib.machinery
import importlib.util
import os
import sys

import fathom_gpu  # beside this file

OPTIMIZERS = "torch.optim.optimizer"


def after_step(gpu, torch):
    """What PyTorch is to call after each step of an optimizer."""
    def end_iteration(_optimizer, _args, _kwargs):
        # Its allocator holds memory for later, of which the driver sees no end. When the turn ends, that goes.
        if gpu.is_turn_over():
            torch.cuda.empty_cache()
        gpu.iteration_end()
    return end_iteration


class Loader(importlib.abc.Loader):
    """Loads the module of the optimizers as ever, and then leaves the hook with it."""

    def __init__(self, loader):
        self._loader = loader

    def create_module(self, spec):
        return self._loader.create_module(spec)

    def exec_module(self, module):
        self._loader.exec_module(module)
        register = getattr(module, "register_optimizer_step_post_hook", None)  # PyTorch 2.0 and later
        if register is not None:
            register(after_step(fathom_gpu, sys.modules["torch"]))


class Finder(importlib.abc.MetaPathFinder):
    """Waits for the one module, however the program comes to import it."""

    def find_spec(self, fullname, path, target=None):
        if fullname != OPTIMIZERS:
            return None
        sys.meta_path.remove(self)
        spec = importlib.machinery.PathFinder.find_spec(fullname, path, target)
        if spec is not None and spec.loader is not None:
            spec.loader = Loader(spec.loader)
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
