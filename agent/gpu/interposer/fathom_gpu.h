/* What a program that shares a GPU may tell Fathom. Nothing has to be called; without libfathom-gpu.so the functions are not
 * there, so look them up with dlsym() or declare them weak. */
#ifndef FATHOM_GPU_H
#define FATHOM_GPU_H

#ifdef __cplusplus
extern "C" {
#endif

enum fathom_gpu_kind {
    FATHOM_GPU_UNKNOWN = 0,    /* as Fathom finds out */
    FATHOM_GPU_PERSISTENT = 1, /* lives across iterations: weights, optimizer state */
    FATHOM_GPU_TEMPORARY = 2   /* what it holds is dead at the end of an iteration: activations, workspaces */
};

/* What the memory that this process allocates from now on is for. Returns what it was for before. Who calls it is expected to
 * tell of the end of iterations, too: Fathom looks for them no longer. */
int fathom_gpu_set_kind(int kind);

/* How large this program's input is, in a unit of its own that is the same in all of its runs: rows, particles, tokens of a
 * batch. How many iterations it has and how long its kernels take is then learned by it. What is not above 0 changes nothing. */
void fathom_gpu_set_input_size(double size);

/* An iteration has ended: what temporary memory holds may be lost from here on, at the same addresses. If another job waits
 * for the GPU and this one's time is over, the turn is given back; the call does not wait for the next one. Returns 1 if the
 * turn was given back, else 0. */
int fathom_gpu_iteration_end(void);

/* 1 if the next fathom_gpu_iteration_end() gives the turn back: time to let go of memory that is only held for later, as
 * frameworks' allocators do. Else 0. */
int fathom_gpu_is_turn_over(void);

/* 1 while others have memory on a GPU of this process, else 0. */
int fathom_gpu_is_shared(void);

#ifdef __cplusplus
}
#endif

#endif
