#include "core/decide/routing/route_kind_key.hpp"

#include "core/base/byte_key.hpp"
#include "core/decide/routing/route_columns.hpp"

namespace fathom {
namespace {

using byte_key::add;

void add_units(std::string& key, const UnitRequest& units)
{
    add(key, units.type);
    add(key, units.device);
    add(key, units.isa);
    add(key, units.memory_bytes);
    add(key, units.gpu_memory.persistent_bytes);
    add(key, units.gpu_memory.temporary_bytes);
    add(key, units.center);
    add(key, units.count.value_or(0));
    add(key, units.min);
    add(key, units.max);
    add(key, units.ignore_knee);
    add(key, units.sharing);
}

void add_transfer(std::string& key, const RouteRequest& request)
{
    add(key, request.transfer.in_bytes);
    add(key, request.transfer.out_bytes);
    for (const auto& [center, kept_bytes] : request.kept_in_bytes) {
        add(key, center);
        add(key, kept_bytes);
    }
    add(key, request.kept_in_bytes.size());
    add(key, request.staged_in_bytes);
    add(key, request.transfer.network);
    add(key, request.transfer.now);
    add(key, request.transfer.deadline.has_value());
}

void add_gpu_shares(std::string& key, const RouteRequest& request)
{
    for (const auto& [unit_type, expected] : request.gpu_shares) {
        add(key, unit_type);
        add(key, expected.share);
        add(key, expected.spread);
        add(key, expected.until_s);
        add(key, expected.neighbours);
        add(key, expected.basis);
    }
    add(key, request.gpu_shares.size());
}

} // namespace

std::string kind_key(const RouteRequest& request)
{
    std::string key;
    add(key, request.job_type);
    add(key, request.project);
    add(key, request.owner);
    add(key, request.is_probe);
    for (const OperatorDemand& demand : request.operators) {
        add_size(key, demand);
        add(key, demand.count);
    }
    add(key, request.takes_operators);
    add(key, request.known_run ? request.known_run->job_id : std::string());
    add(key, request.operators.size());
    add_units(key, request.units);
    add(key, request.wall_limit_s);
    add(key, request.software.modules);
    add(key, request.software.containers);
    add(key, request.asked_s);
    add_transfer(key, request);
    add(key, request.budget.has_value());
    add(key, request.sites);
    add(key, request.compresses);
    add(key, request.prefer.time);
    add(key, request.prefer.cost);
    add(key, request.prefer.energy);
    add(key, request.project_centers);
    add(key, request.refused_by);
    add(key, request.quota.max_units);
    add(key, request.quota.max_score_hours);
    add(key, request.quota.max_cost);
    add(key, request.gpu_threshold);
    add(key, request.follows_gpu_threshold);
    add_gpu_shares(key, request);
    add(key, request.gpu_kind);
    add(key, request.learned_gpu_memory.persistent_bytes);
    add(key, request.learned_gpu_memory.temporary_bytes);
    return key;
}

} // namespace fathom
