#pragma once

#include "core/schedule/job_options.hpp"
#include "core/schedule/unit_ledger.hpp"

#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

/// Decisions and unit types as core/decide/queue/order_jobs looks at them.
namespace fathom {

/// The feasible places of a decision that could start as soon as they are free, and those that are set aside but remain
/// places for the order of jobs (OfferedPlaces); `unit_type` is the candidate's index. They refer to the decision.
std::vector<PlaceOffers> offers_of(const Decision& decision);

/// The median of the predicted run times of all places; 600 s when there are none: a job of unknown length is taken to
/// be like the others.
double typical_run_s(std::span<const WaitingJobView> views);

/// What each unit type is worth: what is known of it, else what it is worth to the jobs that wait.
/// @param known  by unit type
std::vector<double> shadow_prices_with(std::span<const std::optional<double>> known,
                                       std::span<const JobOptions> waiting, std::span<const UnitTypeLoad> unit_types);

/// What is free, and what frees when. Shadow price and load are 1.
UnitTypeLoad unit_type_load(const UnitTypeView& view);

/// The unit types that waiting jobs could use, few in a large network, numbered in the order in which they occur. Not
/// thread-safe. The constructor's arguments must outlive the object.
class WantedPlaces {
  public:
    /// @param busy_shares  by unit type id; missing: 1.
    /// @param shadow_prices  by unit type id; missing: what the unit type is worth to the jobs that wait.
    WantedPlaces(const UnitLedger& ledger, const std::unordered_map<std::string, double>& busy_shares,
                 const std::unordered_map<std::string, double>& shadow_prices)
        : ledger_(&ledger), busy_shares_(&busy_shares), known_by_id_(&shadow_prices)
    {
    }

    /// The options of a job that is offered these places.
    std::vector<JobOption> options_of(const RouteRequest& request, const OfferedPlaces& offered);
    /// Sets what the unit types are worth and how busy they count as while these jobs wait for them. Shadow prices do
    /// not depend on how fast jobs arrive.
    void weigh(std::span<const WaitingJobView> views);
    /// The unit type with what is left of it now; valid until the ledger changes.
    const UnitTypeView& unit_type(std::size_t number) const { return ledger_->views()[unit_types_[number]]; }
    /// Of each unit type that is numbered, as it is now.
    std::vector<UnitTypeLoad> loads() const;

  private:
    std::size_t number_of(std::size_t index);
    double load_of(const UnitTypeView& view, const WantedUnits& wanted) const;

    const UnitLedger* ledger_;
    const std::unordered_map<std::string, double>* busy_shares_;
    const std::unordered_map<std::string, double>* known_by_id_;
    std::vector<std::size_t> unit_types_; ///< indices of the ledger's
    std::unordered_map<std::size_t, std::size_t> numbers_;
    std::vector<std::optional<double>> known_shadow_prices_;
    std::vector<double> shadow_prices_;
    std::vector<double> loads_; ///< UnitTypeLoad::load
};

} // namespace fathom
