/// Preloaded into fathom-mpi-probe: an MPI of which one bit of what it brings is wrong.
#include <mpi.h>
#include <vector>

namespace {

std::vector<unsigned char*>& awaited()
{
    static std::vector<unsigned char*> buffers;
    return buffers;
}

void spoil_first(void* buffer)
{
    *static_cast<unsigned char*>(buffer) ^= 1U;
}

} // namespace

// What carries messages has bytes; commands and digests have other types.
int MPI_Recv(void* buffer, int count, MPI_Datatype type, int from, int tag, MPI_Comm communicator, MPI_Status* status)
{
    const int result = PMPI_Recv(buffer, count, type, from, tag, communicator, status);
    if (count > 0 && type == MPI_BYTE) spoil_first(buffer);
    return result;
}

int MPI_Irecv(void* buffer, int count, MPI_Datatype type, int from, int tag, MPI_Comm communicator,
              MPI_Request* request)
{
    awaited().push_back(static_cast<unsigned char*>(buffer));
    return PMPI_Irecv(buffer, count, type, from, tag, communicator, request);
}

int MPI_Waitall(int count, MPI_Request* requests, MPI_Status* statuses)
{
    const int result = PMPI_Waitall(count, requests, statuses);
    if (!awaited().empty()) spoil_first(awaited().back());
    awaited().clear();
    return result;
}

int MPI_Allreduce(const void* sent, void* received, int count, MPI_Datatype type, MPI_Op operation,
                  MPI_Comm communicator)
{
    const int result = PMPI_Allreduce(sent, received, count, type, operation, communicator);
    if (operation == MPI_SUM) *static_cast<double*>(received) += 1;
    return result;
}

int MPI_Alltoall(const void* sent, int sent_count, MPI_Datatype sent_type, void* received, int received_count,
                 MPI_Datatype received_type, MPI_Comm communicator)
{
    const int result =
        PMPI_Alltoall(sent, sent_count, sent_type, received, received_count, received_type, communicator);
    spoil_first(received);
    return result;
}
