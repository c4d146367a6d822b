#include "core/decide/routing/device_ruling.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <span>
#include <utility>

namespace fathom {
namespace {

constexpr std::size_t kMaxRuledCenters = 100; // that a trace names

bool is_measured(PredictionBasis basis)
{
    return basis != PredictionBasis::kEstimated && basis != PredictionBasis::kUnknown;
}

/// What all of the job's operators take on one unit of a type; empty: not all were measured there.
std::optional<double> measured_s(const RouteRequest& request, const RouteKind& kind, std::size_t unit_type)
{
    double total_s = 0;
    if (kind.known != nullptr) {
        if (kind.known->estimated[unit_type] > 0) return std::nullopt;
        for (std::size_t i = 0; i < kind.known->operators.size(); ++i)
            total_s += kind.known->part(unit_type, i);
    } else {
        for (std::size_t i = 0; i < request.operators.size(); ++i) {
            const OperatorTime& time = kind.operators[i]->times[unit_type];
            if (!is_measured(time.basis)) return std::nullopt;
            total_s += static_cast<double>(request.operators[i].count) * time.execution_s;
        }
    }
    return total_s > 0 ? std::optional(total_s) : std::nullopt;
}

double bytes_of(const RouteRequest& request)
{
    double bytes = 0;
    for (const OperatorDemand& one : request.parts())
        bytes += static_cast<double>(one.count) * one.bytes;
    return bytes;
}

/// Whether the place is no later and no worse than another by more than so many times.
bool is_within(const PlaceChoice& place, const PlaceChoice& other, double times)
{
    return place.unknown_parts <= other.unknown_parts && place.completion_s <= times * other.completion_s &&
           place.objective <= times * other.objective;
}

/// ", c = 0.3, v = 0.1 GB/s"; empty where nothing is compressed.
std::string compression_text(const DeviceTerms& terms)
{
    if (!terms.compression) return {};
    return fmt::format(", c = {:.3g}, v = {:.3g} GB/s", terms.compression->fraction, terms.compression->speed_gb);
}

/// Looks at the places of one search.
class Rulings {
  public:
    Rulings(const RouteRequest& request, RouteTable::Impl& table, RouteKind& kind, PlaceChooser& chooser,
            std::span<const Found> places)
        : request_(&request), table_(&table), kind_(&kind), chooser_(&chooser), places_(places),
          bytes_(bytes_of(request))
    {
    }

    /// The ruling that sets the place aside; empty: it stays.
    std::optional<DeviceRuling> against(const Found& place)
    {
        if (!measured_s(*request_, *kind_, place.unit_type)) return std::nullopt;
        return is_device(place.unit_type) ? against_gpu(place) : against_cpu(place);
    }

    /// CPU places for which GPU places are set aside though the search had not looked at them.
    std::vector<Found> take_looked_at()
    {
        std::vector<Found> places;
        for (auto& [unit_type, place] : looked_at_) {
            if (place) places.push_back(std::move(*place));
        }
        return places;
    }

  private:
    bool is_device(std::uint32_t unit_type) const { return table_->columns->facts(unit_type).is_device; }
    std::uint32_t center_of(std::uint32_t unit_type) const { return table_->columns->center_rank()[unit_type]; }
    const UnitTypeView& view_of(std::uint32_t unit_type) const { return table_->unit_types->given(unit_type); }

    std::optional<DeviceRuling> against_gpu(const Found& gpu)
    {
        const std::optional<DeviceRuling> ruling = rule(gpu.unit_type);
        if (!ruling || ruling->answer.runs_on_gpu) return std::nullopt;
        const double times = request_->gpu_threshold;
        const bool has_alternative = std::any_of(places_.begin(), places_.end(), [&](const Found& cpu) {
            return is_at(cpu, gpu, false) && is_within(cpu.choice, gpu.choice, times) &&
                   measured_s(*request_, *kind_, cpu.unit_type);
        });
        if (has_alternative) return ruling;
        const Found* const fastest = look_at(ruling->cpu);
        return fastest != nullptr && is_within(fastest->choice, gpu.choice, times) ? ruling : std::nullopt;
    }

    std::optional<DeviceRuling> against_cpu(const Found& cpu)
    {
        for (const Found& gpu : places_) {
            const bool is_better = is_at(gpu, cpu, true) && gpu.choice.plan.start_s <= cpu.choice.plan.start_s &&
                                   is_within(gpu.choice, cpu.choice, 1);
            if (!is_better) continue;
            std::optional<DeviceRuling> ruling = rule(gpu.unit_type);
            if (ruling && ruling->answer.runs_on_gpu) return ruling;
        }
        return std::nullopt;
    }

    /// Whether a place is of that kind and at the center of another.
    bool is_at(const Found& place, const Found& other, bool wants_device) const
    {
        return is_device(place.unit_type) == wants_device && center_of(place.unit_type) == center_of(other.unit_type);
    }

    /// Empty where S6 has no answer that is measured.
    std::optional<DeviceRuling> rule(std::uint32_t gpu)
    {
        const auto [known, is_new] = rulings_.try_emplace(gpu);
        if (is_new) known->second = make_ruling(gpu);
        return known->second;
    }

    std::optional<DeviceRuling> make_ruling(std::uint32_t gpu)
    {
        const std::optional<double> gpu_s = measured_s(*request_, *kind_, gpu);
        const std::optional<Fastest> cpu = fastest_cpu(center_of(gpu));
        if (!gpu_s || !cpu) return std::nullopt;
        DeviceRuling ruling;
        ruling.cpu = cpu->unit_type;
        ruling.gpu = gpu;
        ruling.terms =
            terms_at(device_terms(*request_), transfers_of(view_of(cpu->unit_type)), transfers_of(view_of(gpu)));
        const DeviceTimes times{cpu->total_s, *gpu_s, bytes_};
        ruling.answer = compare_devices(times, ruling.terms);
        if (!is_settled(ruling.answer, times, ruling.terms)) return std::nullopt;
        return ruling;
    }

    struct Fastest {
        std::uint32_t unit_type{};
        double total_s{};
    };
    /// Of the unit types that no filter removes but those of load and quota: so it does not depend on what was looked
    /// at before.
    std::optional<Fastest> fastest_cpu(std::uint32_t center) const
    {
        std::optional<Fastest> best;
        for (const std::uint32_t one : table_->columns->of_center(center)) {
            if (kind_->own_filter[one] != RouteKind::kStays || is_device(one)) continue;
            const std::optional<double> total_s = measured_s(*request_, *kind_, one);
            if (total_s && (!best || *total_s < best->total_s)) best = {one, *total_s};
        }
        return best;
    }

    /// The place at a unit type that the search need not have looked at; nullptr: it is none, or is one of its places.
    const Found* look_at(std::uint32_t unit_type)
    {
        const auto [known, is_new] = looked_at_.try_emplace(unit_type);
        if (!is_new) return known->second ? &*known->second : nullptr;
        const bool is_one_of_them =
            std::any_of(places_.begin(), places_.end(), [&](const Found& one) { return one.unit_type == unit_type; });
        if (is_one_of_them) return nullptr;
        const Found& place = table_->look_at(*request_, *chooser_, *kind_, unit_type);
        if (place.choice.removed_by || place.choice.is_beaten) return nullptr;
        known->second = place;
        return &*known->second;
    }

    const RouteRequest* request_;
    RouteTable::Impl* table_;
    RouteKind* kind_;
    PlaceChooser* chooser_;
    std::span<const Found> places_;
    double bytes_;
    std::map<std::uint32_t, std::optional<DeviceRuling>> rulings_; ///< by GPU unit type
    std::map<std::uint32_t, std::optional<Found>> looked_at_;      ///< by unit type
};

} // namespace

bool follows_ruling(const RouteRequest& request)
{
    const UnitRequest& units = request.units;
    return request.follows_gpu_threshold && !request.is_probe && !request.parts().empty() && units.type == "any" &&
           units.device.empty() && units.gpu_memory.all_bytes() == 0;
}

std::vector<SetAside> set_devices_aside(const RouteRequest& request, RouteTable::Impl& table, RouteKind& kind,
                                        PlaceChooser& chooser, std::size_t most, RouteSearch& found)
{
    const auto is_gpu = [&](const Found& one) { return table.columns->facts(one.unit_type).is_device; };
    // What a search has looked at beyond the wanted ones depends on what was looked at before.
    const std::span<const Found> places(found.feasible.data(), std::min(most, found.feasible.size()));
    if (!follows_ruling(request) || std::none_of(places.begin(), places.end(), is_gpu)) return {};
    Rulings rulings(request, table, kind, chooser, places);
    std::vector<SetAside> aside;
    std::vector<Found> left;
    for (const Found& one : places) {
        if (const std::optional<DeviceRuling> ruling = rulings.against(one))
            aside.push_back({one, *ruling});
        else
            left.push_back(one);
    }
    if (aside.empty()) return {};
    for (Found& one : rulings.take_looked_at())
        left.push_back(std::move(one));
    put_in_order(table, kind, left);
    const Found& best = places.front();
    const bool is_best_aside = aside.front().found.unit_type == best.unit_type;
    const double times = is_best_aside && is_gpu(best) ? request.gpu_threshold : 1;
    if (left.empty() || !is_within(left.front().choice, best.choice, times)) return {};
    found.feasible = std::move(left);
    return aside;
}

std::string ruling_reason(const DeviceRuling& ruling, const UnitTypeList& unit_types)
{
    const UnitTypeView& cpu = unit_types.given(ruling.cpu);
    const UnitTypeView& gpu = unit_types.given(ruling.gpu);
    const std::string threshold = fmt::format("{:.3g}", ruling.terms.threshold);
    std::string text = "on " + gpu.center_name + "/" + gpu.name + " the job is " +
                       fmt::format("{:.5g}", ruling.answer.speedup) + " times as fast as on " + cpu.center_name + "/" +
                       cpu.name;
    text += ruling.answer.runs_on_gpu ? ", more than the threshold " + threshold + ": its GPUs are taken"
                                      : ", not more than the threshold " + threshold + ": its CPUs are taken";
    text += " (n = " + std::to_string(ruling.terms.unit_count);
    if (!(ruling.terms.network_gb > 0)) return text + ", b not known" + compression_text(ruling.terms) + ")";
    text += ", b = " + fmt::format("{:.3g}", ruling.terms.network_gb) + " GB/s, ";
    text += ruling.terms.is_between_hosts ? "as measured between its hosts" : "its way to the data site";
    return text + compression_text(ruling.terms) + ")";
}

FilterStep speedup_step(const std::vector<SetAside>& aside, const UnitTypeList& unit_types)
{
    std::map<std::string, TracedCenter> centers;
    for (const SetAside& one : aside) {
        const std::string& center = unit_types.given(one.found.unit_type).center_name;
        TracedCenter& traced = centers[center];
        if (traced.removed++ == 0) traced = {center, 1, ruling_reason(one.ruling, unit_types)};
    }
    FilterStep step{Filter::kSpeedup, static_cast<std::int64_t>(aside.size()), {}};
    for (auto& [name, traced] : centers) {
        if (step.centers.size() < kMaxRuledCenters) step.centers.push_back(std::move(traced));
    }
    return step;
}

UnitTransfers transfers_of(const UnitTypeView& view)
{
    return {view.network == nullptr ? 0 : view.network->median_rate_bytes() / 1e9, view.nodes};
}

DeviceTerms device_terms(const RouteRequest& request)
{
    return {.unit_count = request.units.count.value_or(request.units.min),
            .threshold = request.gpu_threshold,
            .is_compressed = request.compresses};
}

} // namespace fathom
