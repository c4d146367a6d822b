#include "core/schedule/host_cores.hpp"

#include "core/schedule/taken_views.hpp"

#include <string_view>
#include <unordered_map>

namespace fathom {
namespace {

std::int64_t cores_of(const UnitTypeView& view, std::int64_t units)
{
    return units * view.cores_per_unit;
}

} // namespace

HostCores::HostCores(std::span<const UnitTypeView> given) : given_(given)
{
    std::unordered_map<std::string_view, std::uint32_t> numbers;
    for (std::size_t i = 0; i < given.size(); ++i) {
        if (given[i].host.empty()) continue;
        if (host_of_.empty()) host_of_.resize(given.size(), kNone);
        const auto [found, is_new] = numbers.emplace(given[i].host, static_cast<std::uint32_t>(hosts_.size()));
        if (is_new) hosts_.emplace_back();
        host_of_[i] = found->second;
        Host& host = hosts_[found->second];
        host.cores += cores_of(given[i], given[i].unit_count);
        ++host.types;
    }
}

bool HostCores::has_others(std::size_t index) const
{
    if (host_of_.empty() || host_of_[index] == kNone || given_[index].loads == nullptr) return false;
    const Host& host = hosts_[host_of_[index]];
    return host.types <= kMaxTypes && host.cores > cores_of(given_[index], given_[index].unit_count);
}

void HostCores::note(std::size_t index, const Reservation& reservation)
{
    if (host_of_.empty() || host_of_[index] == kNone) return;
    Host& host = hosts_[host_of_[index]];
    if (host.types < 2 || host.types > kMaxTypes) return;
    const auto added = static_cast<std::uint32_t>(notes_.size());
    notes_.push_back({index, reservation.from_s, reservation.release_s, cores_of(given_[index], reservation.unit_count),
                      reservation.memory});
    if (host.first == kNone)
        host.first = added;
    else
        notes_[host.last].next = added;
    host.last = added;
}

std::optional<OtherCores> HostCores::others_of(std::size_t index) const
{
    if (!has_others(index)) return std::nullopt;
    const Host& host = hosts_[host_of_[index]];
    const std::int64_t count = host.cores - cores_of(given_[index], given_[index].unit_count);
    OtherCores others{count, Availability(count), {}};
    for (std::uint32_t i = host.first; i != kNone; i = notes_[i].next) {
        const Note& one = notes_[i];
        if (one.unit_type == index) continue;
        others.free.take(one.from_s, one.release_s, one.cores);
        if (one.memory) others.memory.add(*one.memory, static_cast<double>(one.cores));
    }
    return others;
}

} // namespace fathom
