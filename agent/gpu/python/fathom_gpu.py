"""What a Python program that shares a GPU may tell Fathom (docs/gpu-memory.md), as fathom_gpu.h has it for C. Nothing has to be
called. Where libfathom-gpu.so is not preloaded, every function does nothing, so programs may call them anywhere."""
import ctypes

UNKNOWN = 0     # as Fathom finds out
PERSISTENT = 1  # lives across iterations: weights, optimizer state
TEMPORARY = 2   # what it holds is dead at the end of an iteration: activations, workspaces


def _find_library():
    """What is preloaded; None where it is not."""
    library = ctypes.CDLL(None)
    return library if hasattr(library, "fathom_gpu_iteration_end") else None


_LIBRARY = _find_library()


def is_present():
    """Whether anybody listens."""
    return _LIBRARY is not None


def set_kind(kind):
    """What the memory that this process allocates from now on is for. Returns what it was for before."""
    return _LIBRARY.fathom_gpu_set_kind(kind) if is_present() else UNKNOWN


def set_input_size(size):
    """How large this program's input is, in a unit of its own that is the same in all of its runs: rows, particles, tokens of a
    batch. How many iterations it has and how long its kernels take is then learned by it."""
    if is_present():
        _LIBRARY.fathom_gpu_set_input_size(ctypes.c_double(size))


def iteration_end():
    """An iteration has ended. Returns whether the turn was given back to another job."""
    return is_present() and _LIBRARY.fathom_gpu_iteration_end() == 1


def is_turn_over():
    """Whether the next iteration_end() gives the turn back: time to let go of memory that is only held for later."""
    return is_present() and _LIBRARY.fathom_gpu_is_turn_over() == 1


def is_shared():
    """Whether others have memory on a GPU of this process."""
    return is_present() and _LIBRARY.fathom_gpu_is_shared() == 1
