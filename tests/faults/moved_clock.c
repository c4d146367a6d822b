/* Preloaded: the wall clock is ahead by the seconds that stand in the file FATHOM_MOVED_CLOCK, read at each look. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static const volatile int64_t* ahead_s;

/* Who may not read the file sees the true time. */
__attribute__((constructor)) static void open_file(void)
{
    const char* path = getenv("FATHOM_MOVED_CLOCK");
    const int file = path == NULL ? -1 : open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return;
    void* content = mmap(NULL, sizeof *ahead_s, PROT_READ, MAP_SHARED, file, 0);
    if (content != MAP_FAILED) ahead_s = content;
    close(file);
}

int clock_gettime(clockid_t clock, struct timespec* now)
{
    const int outcome = (int)syscall(SYS_clock_gettime, clock, now);
    const int is_wall = clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE;
    if (outcome == 0 && is_wall && ahead_s != NULL) now->tv_sec += *ahead_s;
    return outcome;
}

int gettimeofday(struct timeval* restrict now, void* restrict zone)
{
    struct timespec exact;
    (void)zone;
    if (clock_gettime(CLOCK_REALTIME, &exact) != 0) return -1;
    now->tv_sec = exact.tv_sec;
    now->tv_usec = exact.tv_nsec / 1000;
    return 0;
}

time_t time(time_t* now)
{
    struct timespec exact = {0, 0};
    clock_gettime(CLOCK_REALTIME, &exact);
    if (now != NULL) *now = exact.tv_sec;
    return exact.tv_sec;
}
