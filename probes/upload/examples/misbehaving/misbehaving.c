/* Operators that go wrong on purpose, one a build: -DMISBEHAVE=<one of the names below>. The tests of the sandbox
 * upload them all; what is not wrong on purpose is right: y[i] = sqrt(x[i]), checked by squaring.
 */
#define _GNU_SOURCE
#include "fathom_operator.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/ipc.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
    NOTHING,
    CRASH_IN_EXECUTE,
    CRASH_WHEN_LOADED,
    HANG_IN_EXECUTE,
    HANG_IN_PREPARE,
    TRUE_WITHOUT_LOOKING, /* error() is always 0 */
    CONSTANT_RESULT,
    COMPUTE_NOTHING, /* the result was computed in prepare() */
    HALF_A_RESULT,
    DIFFERENT_EACH_TIME,
    CLAIM_TOO_MUCH, /* right, but its manifest counts far too many operations */
    HOG_MEMORY,
    HOG_MEMORY_UNCHECKED,
    OPEN_SOCKET,
    START_PROGRAM,
    FORK_BOMB,
    READ_HOST_FILES,
    WRITE_OUTSIDE,
    ANSWER_BY_ITSELF, /* writes to Fathom's own socket */
    CLOSE_EVERYTHING,
    LEAVE,
    WRONG_ABI,
    WRONG_ID,
    WRONG_RESULT, /* honest: error() says so */
    HUGE_RESULT,
    LARGER_RESULT_THAN_SAID,
    REFUSE_SIZE,
    SEMAPHORES,
    KERNEL_QUEUE,
    CALL_OF_TOMORROW, /* a system call that no kernel has yet */
    CONTROL_TERMINAL
};

#ifndef MISBEHAVE
#define MISBEHAVE NOTHING
#endif

struct roots {
    size_t n;
    double* x;
    double* y;
    char message[200];
};

static uint64_t mixed(uint64_t seed, uint64_t index)
{
    uint64_t z = seed * UINT64_C(0xd1342543de82ef95) + (index + 1) * UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

__attribute__((constructor)) static void when_loaded(void)
{
    if (MISBEHAVE == CRASH_WHEN_LOADED) raise(SIGSEGV);
}

static void* roots_create(const fathom_parameter* parameters, uint32_t count, int32_t threads)
{
    struct roots* self;
    (void)threads;
    if (MISBEHAVE == REFUSE_SIZE || count != 1) return NULL;
    self = calloc(1, sizeof *self);
    if (self != NULL) self->n = (size_t)parameters[0].value;
    return self;
}

static uint64_t roots_memory_bytes(void* opaque)
{
    return 16 * ((struct roots*)opaque)->n;
}

static void compute(struct roots* self)
{
    size_t i;
    for (i = 0; i < self->n; ++i)
        self->y[i] = MISBEHAVE == CONSTANT_RESULT ? 1.0 : sqrt(self->x[i]);
}

static int32_t report(struct roots* self, const char* what)
{
    snprintf(self->message, sizeof self->message, "%s: %s", what, strerror(errno));
    return FATHOM_FAILED;
}

static int32_t roots_prepare(void* opaque, uint64_t seed)
{
    struct roots* self = opaque;
    size_t i;
    if (MISBEHAVE == HANG_IN_PREPARE) {
        for (;;)
            pause();
    }
    self->x = malloc(self->n * sizeof(double));
    self->y = calloc(self->n, sizeof(double));
    if (self->x == NULL || self->y == NULL) return FATHOM_OUT_OF_MEMORY;
    if (MISBEHAVE == DIFFERENT_EACH_TIME) seed ^= mixed((uint64_t)(uintptr_t)self->x ^ (uint64_t)(uintptr_t)&seed, 1);
    for (i = 0; i < self->n; ++i)
        self->x[i] = 1.0 + (double)(mixed(seed, i) >> 11) * 0x1p-53;
    if (MISBEHAVE == COMPUTE_NOTHING) compute(self);
    return FATHOM_OK;
}

static int32_t hog(void)
{
    for (;;) {
        const size_t block = 16u << 20;
        volatile char* memory = malloc(block); /* volatile, so that no compiler leaves any of it out */
        size_t i;
        if (memory == NULL && MISBEHAVE == HOG_MEMORY) return FATHOM_OUT_OF_MEMORY;
        for (i = 0; i < block; i += 4096)
            memory[i] = 1;
    }
}

static int32_t reach_out(struct roots* self)
{
    char* const arguments[] = {"/usr/bin/id", NULL};
    if (MISBEHAVE == OPEN_SOCKET) {
        const int fd = socket(AF_INET, SOCK_STREAM, 0);
        if (fd < 0) return report(self, "socket");
        close(fd);
    }
    if (MISBEHAVE == START_PROGRAM && execv(arguments[0], arguments) < 0) return report(self, "execv");
    if (MISBEHAVE == READ_HOST_FILES && open("/etc/passwd", O_RDONLY) < 0) return report(self, "/etc/passwd");
    if (MISBEHAVE == WRITE_OUTSIDE && open("/usr/written", O_WRONLY | O_CREAT, 0644) < 0 &&
        open("/written", O_WRONLY | O_CREAT, 0644) < 0)
        return report(self, "/written");
    if (MISBEHAVE == SEMAPHORES && semget(IPC_PRIVATE, 32000, 0600) < 0) return report(self, "semget");
    if (MISBEHAVE == KERNEL_QUEUE) {
        unsigned long queue = 0;
        if (syscall(SYS_io_setup, 65536, &queue) < 0) return report(self, "io_setup");
    }
    if (MISBEHAVE == CALL_OF_TOMORROW && syscall(1000) < 0) return report(self, "call 1000");
    if (MISBEHAVE == CONTROL_TERMINAL && ioctl(0, TIOCSTI, "x") < 0) return report(self, "ioctl");
    while (MISBEHAVE == FORK_BOMB)
        if (fork() < 0) return report(self, "fork");
    return FATHOM_OK;
}

static int32_t roots_execute(void* opaque)
{
    struct roots* self = opaque;
    int fd;
    volatile uintptr_t nowhere = 0x10; /* volatile: compilers refuse what they can see to be wrong */
    if (MISBEHAVE == CRASH_IN_EXECUTE) *(volatile int*)nowhere = 1;
    if (MISBEHAVE == HANG_IN_EXECUTE) {
        for (;;)
            pause();
    }
    if (MISBEHAVE == LEAVE) _exit(7);
    if (MISBEHAVE == ANSWER_BY_ITSELF && write(3, "done", 4) < 0) return FATHOM_FAILED;
    if (MISBEHAVE == CLOSE_EVERYTHING) {
        for (fd = 0; fd < 16; ++fd)
            close(fd);
    }
    if (MISBEHAVE == HOG_MEMORY || MISBEHAVE == HOG_MEMORY_UNCHECKED) return hog();
    if (reach_out(self) != FATHOM_OK) return FATHOM_FAILED;
    if (MISBEHAVE == COMPUTE_NOTHING) return FATHOM_OK;
    if (MISBEHAVE == HALF_A_RESULT) {
        struct roots half = *self;
        half.n /= 2;
        compute(&half);
        return FATHOM_OK;
    }
    compute(self);
    return FATHOM_OK;
}

static double roots_error(void* opaque)
{
    const struct roots* self = opaque;
    double worst = 0;
    size_t i;
    if (MISBEHAVE == TRUE_WITHOUT_LOOKING || MISBEHAVE == CONSTANT_RESULT) {
        for (i = 0; MISBEHAVE == CONSTANT_RESULT && i < self->n; ++i)
            if (self->y[i] != 1.0) return 1;
        return 0;
    }
    if (MISBEHAVE == WRONG_RESULT) return 0.25;
    for (i = 0; i < (MISBEHAVE == HALF_A_RESULT ? self->n / 2 : self->n); ++i) {
        const double difference = fabs(self->y[i] * self->y[i] - self->x[i]) / self->x[i];
        if (!(difference <= worst)) worst = difference;
    }
    return worst;
}

static fathom_result roots_result(void* opaque)
{
    const struct roots* self = opaque;
    const fathom_result result = {self->y,
                                  MISBEHAVE == HUGE_RESULT               ? UINT64_MAX / 8
                                  : MISBEHAVE == LARGER_RESULT_THAN_SAID ? 3 * self->n
                                                                         : self->n,
                                  FATHOM_DOUBLES};
    return result;
}

static const char* roots_library(void* opaque)
{
    (void)opaque;
    return "roots\n1.0"; /* a line break, that Fathom must not print */
}

static const char* roots_message(void* opaque)
{
    return opaque != NULL ? ((struct roots*)opaque)->message : "not this size";
}

static void roots_destroy(void* opaque)
{
    struct roots* self = opaque;
    free(self->x);
    free(self->y);
    free(self);
}

const fathom_operator_v1* fathom_operator(void)
{
    static const fathom_operator_v1 table = {MISBEHAVE == WRONG_ABI ? 99u : FATHOM_OPERATOR_ABI,
                                             sizeof(fathom_operator_v1),
                                             MISBEHAVE == WRONG_ID ? "other" : "roots",
                                             roots_create,
                                             roots_memory_bytes,
                                             roots_prepare,
                                             roots_execute,
                                             roots_error,
                                             roots_result,
                                             roots_library,
                                             roots_message,
                                             roots_destroy};
    return &table;
}
