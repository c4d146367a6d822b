#include "agent/executor/slurm/slurm_orders.hpp"

#include "agent/executor/slurm/rest_orders.hpp"
#include "agent/executor/slurm/slurm_client.hpp"

namespace fathom::agent {

std::unique_ptr<SlurmOrders> make_slurm_orders(const SlurmConfig& config, const std::optional<JobUser>& user)
{
    if (config.rest.empty()) return std::make_unique<SlurmClient>(config, user);
    return std::make_unique<RestOrders>(config);
}

} // namespace fathom::agent
