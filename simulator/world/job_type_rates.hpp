#pragma once

#include "core/base/json_reader.hpp"
#include "simulator/world/scenario.hpp"

#include <map>
#include <optional>
#include <string>
#include <vector>

/// The part of a centers file that says how fast what runs where.
namespace fathom::simulation {

/// An item of a list as errors name it: "centers[2]".
std::string item_path(const std::string& list, std::size_t index);

/// Job types as a file lists them and names them elsewhere, each once.
class JobTypeNames {
  public:
    /// How often a job type executes which operators: its speed is then computed from the operators' speeds.
    using OperatorCounts = std::map<std::string, double>;

    /// Reads the list `job_types`.
    void read_list(ObjectReader& document, std::vector<FieldError>& errors);
    /// The index of a type, which is added when it is new.
    std::size_t index_of(const std::string& name);

    const std::vector<JobType>& types() const { return types_; }
    /// By type: the list says how it scales.
    const std::vector<bool>& tells_scaling() const { return tells_scaling_; }
    /// Empty where its rates are given, not computed.
    const OperatorCounts& operators(std::size_t type) const { return operators_[type]; }

  private:
    std::vector<JobType> types_;
    std::vector<OperatorCounts> operators_;
    std::map<std::string, std::size_t, std::less<>> index_;
    std::vector<bool> tells_scaling_;
};

/// What one unit type says of its speed.
struct SpeedsOfUnitType {
    std::map<std::size_t, UnitTypeRate> rates; ///< by job type
    std::optional<UnitTypeRate> other_rate;    ///< "*"
    std::map<std::string, double> operators;   ///< executions per second on one unit
};

/// Reads `rates` and `operators` of a unit type.
SpeedsOfUnitType read_speeds(ObjectReader& unit_type, JobTypeNames& names, std::vector<FieldError>& errors);

/// The rates of all unit types by job type: as given; else computed where the type has operators, as fast as 1 where it
/// runs fastest; else those of "*"; else 0.
std::vector<std::vector<UnitTypeRate>> complete_rates(const std::vector<SpeedsOfUnitType>& speeds,
                                                      const JobTypeNames& names);

} // namespace fathom::simulation
