// Spends its time in MPI: two all-reduces, and a wait as Fortran asks for it.
#include <stdio.h>

int MPI_Allreduce(const void*, void*, int, void*, void*, void*);
void mpi_wait_(int*, int*, int*);

int main(void)
{
    const double values[3] = {1, 2, 3};
    double sums[3] = {0};
    int request = 7;
    int status = 0;
    int error = 1;
    const int results = MPI_Allreduce(values, sums, 3, 0, 0, 0) + MPI_Allreduce(values, sums, 3, 0, 0, 0);
    mpi_wait_(&request, &status, &error);
    printf("%d %d %g\n", results, error, sums[2]);
    return 0;
}
