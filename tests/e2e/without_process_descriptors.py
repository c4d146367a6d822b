"""Becomes the program of its arguments, for which the system has no pidfd_open(), as kernels before 5.3."""
import ctypes
import errno
import os
import struct
import sys

PIDFD_OPEN = 434  # on every architecture
PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP, SECCOMP_MODE_FILTER = 38, 22, 2
LOAD, JUMP_IF_EQUAL, RETURN = 0x20, 0x15, 0x06
ALLOW, REFUSE = 0x7fff0000, 0x00050000 | errno.ENOSYS

STEPS = [(LOAD, 0, 0, 0), (JUMP_IF_EQUAL, 0, 1, PIDFD_OPEN), (RETURN, 0, 0, REFUSE), (RETURN, 0, 0, ALLOW)]


def refuse_process_descriptors():
    code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *step) for step in STEPS))
    program = ctypes.create_string_buffer(struct.pack("HxxxxxxP", len(STEPS), ctypes.addressof(code)))
    prctl = ctypes.CDLL(None, use_errno=True).prctl
    zero = ctypes.c_ulong(0)
    if os.geteuid() != 0 and prctl(PR_SET_NO_NEW_PRIVS, ctypes.c_ulong(1), zero, zero, zero) != 0:
        raise OSError(ctypes.get_errno(), "no_new_privs")
    if prctl(PR_SET_SECCOMP, ctypes.c_ulong(SECCOMP_MODE_FILTER), program, zero, zero) != 0:
        raise OSError(ctypes.get_errno(), "a filter of system calls")


refuse_process_descriptors()
os.execv(sys.argv[1], sys.argv[1:])
