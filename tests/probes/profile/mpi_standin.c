// Stands in for an MPI library where there is none: its functions wait as MPI's do, by asking again and again.
#include <time.h>

static double now_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static void poll_for(double seconds)
{
    const double end_s = now_s() + seconds;
    while (now_s() < end_s) {
    }
}

int MPI_Barrier(void* communicator)
{
    (void)communicator;
    poll_for(0.3);
    return 0;
}

int MPI_Allreduce(const void* from, void* to, int count, void* type, void* operation, void* communicator)
{
    const double* const values = from;
    double* const sums = to;
    (void)type;
    (void)operation;
    for (int i = 0; i < count; ++i)
        sums[i] = values[i];
    return MPI_Barrier(communicator);
}

void mpi_wait_(int* request, int* status, int* error)
{
    (void)request;
    (void)status;
    poll_for(0.3);
    *error = 0;
}
