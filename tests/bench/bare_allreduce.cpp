/// MPI_Allreduce between the processes of a program on one node, for operator_bench to compare with: prints the
/// seconds of one call.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <mpi.h>
#include <vector>

int main(int argc, char** argv)
{
    MPI_Init(&argc, &argv);
    if (argc != 3) {
        std::fputs("usage: mpirun -np PROCESSES bare_allreduce ELEMENTS SECONDS\n", stderr);
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    const int elements = std::atoi(argv[1]);
    const double seconds = std::atof(argv[2]);
    const std::vector<double> mine(static_cast<std::size_t>(elements), 1.0);
    std::vector<double> sum(mine.size());
    const auto time = [&](long times) {
        MPI_Barrier(MPI_COMM_WORLD);
        const double start = MPI_Wtime();
        for (long i = 0; i < times; ++i)
            MPI_Allreduce(mine.data(), sum.data(), elements, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        double elapsed = MPI_Wtime() - start;
        MPI_Bcast(&elapsed, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD); // all must count alike
        return elapsed / static_cast<double>(times);
    };
    time(3); // connections are made at first use
    const double each_s = time(std::max(1L, static_cast<long>(seconds / time(3))));
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) std::printf("%.9e\n", each_s);
    MPI_Finalize();
    return 0;
}
