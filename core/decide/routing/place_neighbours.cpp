#include "core/decide/prediction/neighbours.hpp"
#include "core/decide/routing/host_load.hpp"
#include "core/decide/routing/place.hpp"

#include <algorithm>
#include <optional>

// What other jobs on its host, and on the GPU that it would share, are taken to cost a run at one place.
namespace fathom {
namespace {

std::optional<ExpectedGpuShare> expected_share(const RouteRequest& request, const UnitTypeView& view)
{
    if (view.gpu_neighbours && view.gpu_neighbours->knows(request.gpu_kind))
        return view.gpu_neighbours->expect(request.gpu_kind);
    const auto found = request.gpu_shares.find(view.id.value);
    if (found == request.gpu_shares.end()) return std::nullopt;
    return found->second;
}

} // namespace

RunTime PlaceChooser::beside(const UnitTypeView& view, const PlaceRun& known, const RunTime& alone,
                             const Availability& free, std::int64_t count, Beside& others) const
{
    const RunTime on_host = beside_on_host(view, known, alone, free, count, others.neighbours);
    return beside_on_gpu(view, known, on_host, free, count, others.gpu_share);
}

/// Who is there now counts as long as they are expected to be; who comes after them nobody knows, so the interval
/// reaches from the run alone to one that has such neighbours all the time.
RunTime PlaceChooser::beside_on_gpu(const UnitTypeView& view, const PlaceRun& known, const RunTime& alone,
                                    const Availability& free, std::int64_t count, GpuShareCost& cost) const
{
    if (request_->units.is_exclusive() || alone.run_s <= 0) return alone;
    const std::optional<ExpectedGpuShare> known_share = expected_share(*request_, view);
    if (!known_share) return alone;
    const ExpectedGpuShare& expected = *known_share;
    const double start_s = first_start_s(view, alone, free, count);
    if (!(start_s < expected.until_s)) return alone;
    const double run_s = beside_on_gpu_s(alone.run_s, expected.share, expected.until_s - start_s);
    cost = {.is_known = true,
            .share = expected.share,
            .spread = expected.spread,
            .until_s = expected.until_s,
            .alone_s = alone.run_s,
            .neighbours = expected.neighbours,
            .basis = expected.basis};
    // What runs of jobs that name no operators took they took beside neighbours of their own, on average: that is what
    // is predicted, and places are compared by what is different there now.
    const bool has_parts = !estimate_ && known.by_count == nullptr;
    if (!has_parts) {
        cost.penalty_s = run_s - alone.run_s;
        return alone;
    }
    cost.factor = run_s / alone.run_s;
    const double least_share = std::max(expected.share - expected.spread, expected.share / 2);
    return {.run_s = run_s, .low_s = alone.low_s, .high_s = std::max(run_s, alone.high_s / least_share)};
}

/// Those who have parts of its GPU now are gone by then, or sooner after its start. Who comes in their place nobody
/// knows: the interval stays as wide.
void PlaceChooser::start_later_on_gpu(Weighed& weighed, double start_s) const
{
    GpuShareCost& cost = weighed.gpu_share;
    const double correction = choice_.correction.factor;
    const double together_s = std::max(cost.until_s - start_s, 0.0);
    const double run_s = beside_on_gpu_s(cost.alone_s, cost.share, together_s);
    if (cost.factor > 1) {
        weighed.raw.run_s = run_s;
        weighed.compute.run_s = run_s * correction; // as corrected_beside() has it
        weighed.compute.low_s = std::min(weighed.compute.low_s, weighed.compute.run_s);
        cost.factor = run_s / cost.alone_s;
    } else {
        cost.penalty_s = (run_s - cost.alone_s) * correction;
    }
    if (together_s <= 0) cost = {};
}

double PlaceChooser::least_run_s(const Weighed& weighed) const
{
    const GpuShareCost& cost = weighed.gpu_share;
    return cost.factor > 1 ? cost.alone_s * choice_.correction.factor : weighed.compute.run_s;
}

RunTime PlaceChooser::beside_on_host(const UnitTypeView& view, const PlaceRun& known, const RunTime& alone,
                                     const Availability& free, std::int64_t count, NeighbourCost& neighbours) const
{
    const bool has_parts = !estimate_ && known.by_count == nullptr;
    if (!has_parts || alone.run_s <= 0 || !knows_neighbours(known.parts)) return alone;
    const double start_s = first_start_s(view, alone, free, count);
    if (start_s == Availability::kForEver) return alone;
    // Longer runs see more jobs end, and who comes in their place is not known: the interval is for both.
    const double end_s = start_s + std::max(alone.run_s, kMinHeld_s);
    const auto [held, sensitivity] = host_load(view, count, start_s, end_s);
    const RunTime run = beside_neighbours(alone, known.single.run_s, known.parts, held);
    neighbours = {.is_known = true,
                  .busy_cores = held.expected,
                  .factor = run.run_s / alone.run_s,
                  .pressure = held.expected > 0 ? held.pressure : 0};
    if (!choice_.memory || sensitivity <= 0) return run;
    // A bubble on each core of a unit slows others as often as it has cores; what they lose is counted in units as
    // large as its own. The cores cancel out.
    const auto units = static_cast<double>(count);
    neighbours.slowed_unit_s = sensitivity * units * choice_.memory->pressure * run.run_s;
    neighbours.penalty_s = neighbours.slowed_unit_s / units;
    return run;
}

} // namespace fathom
