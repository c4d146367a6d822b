#include "probes/mpi/world.hpp"

#include "probes/operators/own_processor.hpp"

#include <algorithm>
#include <iterator>
#include <mpi.h>
#include <sched.h>
#include <set>

namespace fathom::probes {
namespace {

/// The processes of this host, in order of their ranks.
struct HostGroup {
    MPI_Comm communicator = MPI_COMM_NULL;
    int rank{};
    int size{};
};

HostGroup group_of_host(int world_rank)
{
    HostGroup group;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, world_rank, MPI_INFO_NULL, &group.communicator);
    MPI_Comm_rank(group.communicator, &group.rank);
    MPI_Comm_size(group.communicator, &group.size);
    return group;
}

/// The first rank of each host, ascending.
std::vector<int> first_ranks(const HostGroup& group, int world_rank, int world_size)
{
    int first = world_rank;
    MPI_Bcast(&first, 1, MPI_INT, 0, group.communicator);
    std::vector<int> all(static_cast<std::size_t>(world_size));
    MPI_Allgather(&first, 1, MPI_INT, all.data(), 1, MPI_INT, MPI_COMM_WORLD);
    const std::set<int> unique(all.begin(), all.end());
    return {unique.begin(), unique.end()};
}

/// More processes than processors that one of them may use: a launcher may have given each its own.
bool is_crowded(const HostGroup& group, const cpu_set_t& own)
{
    std::vector<cpu_set_t> all(static_cast<std::size_t>(group.size));
    MPI_Allgather(&own, sizeof(own), MPI_BYTE, all.data(), sizeof(own), MPI_BYTE, group.communicator);
    cpu_set_t any = own;
    for (const cpu_set_t& one : all)
        CPU_OR(&any, &any, &one);
    return CPU_COUNT(&any) < group.size;
}

} // namespace

int MpiWorld::peer_index() const
{
    const auto found = std::find(peers.begin(), peers.end(), rank);
    return found == peers.end() ? -1 : static_cast<int>(std::distance(peers.begin(), found));
}

MpiWorld join_world()
{
    MpiWorld world;
    MPI_Comm_rank(MPI_COMM_WORLD, &world.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &world.size);
    HostGroup group = group_of_host(world.rank);
    world.peers = first_ranks(group, world.rank, world.size);
    world.hosts = static_cast<int>(world.peers.size());
    std::erase(world.peers, 0); // the first host's own
    if (world.peers.empty() && world.size > 1) world.peers.push_back(world.size - 1);
    const cpu_set_t allowed = allowed_processors();
    int crowded = is_crowded(group, allowed) ? 1 : 0;
    MPI_Allreduce(MPI_IN_PLACE, &crowded, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    world.is_crowded = crowded != 0;
    bind_to_own_processor(group.rank, group.size, allowed);
    MPI_Comm_free(&group.communicator);
    return world;
}

} // namespace fathom::probes
