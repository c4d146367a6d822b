"""A Python program that knows nothing of sharing, with packages shaped as PyTorch and JAX are where it matters."""
import os
import pathlib
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[3]
HOOK = ROOT / "agent/gpu/python"
LIBRARY = pathlib.Path(os.environ["FATHOM_BIN"]) / "libfathom-gpu.so"

PACKAGES = {
    "torch/__init__.py": "from . import cuda, optim\n",
    "torch/cuda.py": "def empty_cache():\n    print('emptied')\n",
    "torch/optim/__init__.py": "from .optimizer import SGD\n",
    "torch/optim/optimizer.py": """
hooks = []
def register_optimizer_step_post_hook(hook):
    hooks.append(hook)
class SGD:
    def step(self):
        for hook in hooks:
            hook(self, (), {})
""",
    "jax/__init__.py": "from . import profiler\n",
    "jax/_src/__init__.py": "",
    "jax/_src/profiler.py": """
class TraceMe:  # of a library in JAX
    def __init__(self, name, **metadata):
        self.name = name
    def __enter__(self):
        return self
    def __exit__(self, error, value, traceback):
        print('left', self.name, error is None)
class TraceAnnotation(TraceMe):
    pass
class StepTraceAnnotation(TraceAnnotation):
    def __init__(self, name, **metadata):
        super().__init__(name, _r=1, **metadata)
""",
    "jax/profiler.py": "from jax._src.profiler import StepTraceAnnotation as StepTraceAnnotation, TraceAnnotation as TraceAnnotation\n",
}


@pytest.fixture(name="packages")
def fixture_packages(tmp_path):
    for name, text in PACKAGES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


def run(packages, program, preload=True):
    environment = {**os.environ, "PYTHONPATH": f"{HOOK}:{packages}", "PYTHONDONTWRITEBYTECODE": "1"}
    environment.pop("LD_PRELOAD", None)
    if preload:
        environment["LD_PRELOAD"] = str(LIBRARY)
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_each_step_of_an_optimizer_ends_an_iteration(packages):
    program = """
import sitecustomize, torch
print("hooks", len(torch.optim.optimizer.hooks))
torch.optim.SGD().step()
"""
    assert run(packages, program) == "hooks 1\n"


def test_memory_that_is_held_for_later_goes_when_the_turn_ends(packages):
    program = """
import sitecustomize, torch
class Gpu:
    is_over = False
    def is_turn_over(self):
        return self.is_over
    def iteration_end(self):
        print("iteration ends")
gpu = Gpu()
torch.optim.optimizer.hooks[:] = [sitecustomize.after_step(gpu, torch)]
torch.optim.SGD().step()
gpu.is_over = True
torch.optim.SGD().step()
"""
    assert run(packages, program) == "iteration ends\nemptied\niteration ends\n"


def test_without_the_library_pytorch_is_left_alone(packages):
    assert run(packages, "import torch\nprint(len(torch.optim.optimizer.hooks))", preload=False) == "0\n"


COUNTED = """
import fathom_gpu
fathom_gpu.iteration_end = lambda: print("iteration ends")
"""


def test_each_step_that_a_jax_program_marks_ends_an_iteration(packages):
    """After what JAX itself does; other marks end none, and neither does a step that fails."""
    program = COUNTED + """
import jax
from jax._src.profiler import StepTraceAnnotation  # the same class by another name
with jax.profiler.StepTraceAnnotation("train", step_num=1):
    print("step")
with StepTraceAnnotation("again"):
    pass
with jax.profiler.TraceAnnotation("part"):
    pass
try:
    with jax.profiler.StepTraceAnnotation("fails"):
        raise ValueError
except ValueError:
    print("failed")
"""
    assert run(packages, program) == ("step\nleft train True\niteration ends\nleft again True\niteration ends\n"
                                      "left part True\nleft fails False\nfailed\n")


def test_a_program_may_use_both_frameworks(packages):
    program = COUNTED + """
import jax, torch
torch.optim.SGD().step()
with jax.profiler.StepTraceAnnotation("train"):
    pass
"""
    assert run(packages, program) == "iteration ends\nleft train True\niteration ends\n"


def test_a_jax_without_marked_steps_is_left_alone(packages):
    (packages / "jax/profiler.py").write_text("")
    assert run(packages, "import jax\nprint(hasattr(jax.profiler, 'StepTraceAnnotation'))") == "False\n"


@pytest.mark.parametrize("preload", [True, False])
def test_a_program_may_tell_the_size_of_its_input_whether_the_library_is_there_or_not(packages, preload):
    assert run(packages, "import fathom_gpu\nfathom_gpu.set_input_size(200)\nprint(fathom_gpu.is_present())", preload) == f"{preload}\n"


def test_without_the_library_jax_is_left_alone(packages):
    program = COUNTED + "import jax\nwith jax.profiler.StepTraceAnnotation('train'):\n    pass\n"
    assert run(packages, program, preload=False) == "left train True\n"


def test_the_programs_own_sitecustomize_runs_as_well(packages):
    (packages / "sitecustomize.py").write_text("print('own')\n")
    assert run(packages, "print('program')") == "own\nprogram\n"


CALLS = """
import fathom_gpu as gpu
print(gpu.is_present(), gpu.set_kind(gpu.TEMPORARY), gpu.set_kind(gpu.UNKNOWN), gpu.iteration_end(), gpu.is_turn_over(), gpu.is_shared())
"""


def test_a_program_may_say_when_an_iteration_ends_and_what_its_memory_is_for(packages):
    """Who is alone keeps the turn; the kind that was set is the one that is given back."""
    assert run(packages, CALLS) == "True 0 2 False False False\n"


def test_what_a_program_says_without_the_library_changes_nothing(packages):
    assert run(packages, CALLS, preload=False) == "False 0 0 False False False\n"
