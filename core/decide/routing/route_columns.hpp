#pragma once

#include "core/decide/routing/input_texts.hpp"
#include "core/decide/routing/network_hours.hpp"
#include "core/decide/routing/operator_column.hpp"
#include "core/decide/routing/operator_table.hpp"
#include "core/decide/routing/price_hours.hpp"
#include "core/decide/routing/route.hpp"
#include "core/decide/routing/unit_type_facts.hpp"
#include "core/decide/routing/unit_type_order.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

/// What decisions ask of all unit types and what neither time nor load changes; part of core/decide/routing/route.
namespace fathom {

/// What is measured of one unit.
UnitMeasurements units_of(const UnitTypeView& view);

/// Geometric mean of operations (or bytes) per second over what was measured; 0 when nothing was.
double speed_of(const UnitTypeView& view);

/// The columns of one list of unit types, each made when it is first asked for. Names, UnitTypeFacts, what was measured
/// there, how operators scale and what is free there as given must stay as they are; the list may be a copy of that
/// which tables are made of. A newer list takes over what it shares with the one before. Not thread-safe.
class RouteColumns {
  public:
    /// @param before  of unit types as they were; what it has is taken from it, and made anew where a unit type has
    ///                another list of measurements, of curves or of operators now. Where unit types came or went, only
    ///                the columns of operators are.
    explicit RouteColumns(const UnitTypeList& unit_types, std::shared_ptr<const OperatorEstimates> estimates = nullptr,
                          RouteColumns* before = nullptr);

    std::size_t size() const { return unit_types_.size(); }
    std::shared_ptr<const OperatorColumn> find(const OperatorDemand& demand);
    /// Makes now what decisions would make when they first ask for it: brings the columns of operators that were taken
    /// over from an older list up to date, or, where there are none, makes those of the sizes that most unit types were
    /// measured with, kMaxPrepared at most. Decisions are the same without.
    void prepare();
    static constexpr std::size_t kMaxPrepared = 96;
    /// Columns of operators that it has now.
    std::size_t column_count() const { return columns_.size(); }
    /// Of a known run, told by its job's id.
    std::shared_ptr<const KnownRunColumn> find(const KnownRun& known);
    /// When each unit type was last measured at this very size; the least Timestamp: never. Valid until the next call.
    const std::vector<Timestamp>& measured_at(const std::string& operator_id, const std::string& parameters_key);
    /// By unit type: 1 where it runs the operator at all. Valid until the next call.
    const std::vector<std::uint8_t>& offers(const std::string& operator_id);
    const UnitTypeList& unit_types() const { return unit_types_; }
    const UnitTypeFacts& facts(std::size_t unit_type) const { return facts_[unit_type]; }
    /// So many of its units are free at any time as it was given; 0 where some are held for a project.
    std::int64_t idle_units(std::size_t unit_type) const { return idle_units_[unit_type]; }
    const FactColumns& fact_columns() const { return fact_columns_; }
    /// Of the hour of `now`. Valid until the next call.
    /// @param has_all  with what per_s_until() needs
    const PriceHours& price_hours(Timestamp now, bool has_all);
    /// Of the hour of `now`. Valid until the next call.
    const NetworkHours& network_hours(Timestamp now);
    /// Of the inputs of decisions on these unit types. A newer list has them as well, but for those of what nobody has
    /// any more; a copy has none.
    InputTexts& input_texts() { return input_texts_; }
    /// As if a unit type were otherwise: for a copy, of which the list is not that of the original.
    void set_facts(std::size_t unit_type, const UnitTypeFacts& facts);
    const std::shared_ptr<const UnitTypeIndex>& index();
    const FactGroups& fact_groups();

    // As UnitTypeOrder has them.
    const std::vector<std::uint32_t>& id_rank() const { return order_.id_rank(); }
    const std::vector<std::uint32_t>& by_center() const { return order_.by_center(); }
    const std::vector<std::uint32_t>& center_rank() const { return order_.center_rank(); }
    std::size_t center_count() const { return order_.center_count(); }
    std::span<const std::uint32_t> of_center(std::uint32_t center_rank) const { return order_.of_center(center_rank); }
    double start_up_s(std::size_t unit_type);
    double speed(std::size_t unit_type); ///< speed_of()

  private:
    struct Kept {
        OperatorDemand demand;
        std::shared_ptr<OperatorColumn> column;
        std::uint64_t generation{}; ///< of which it is
        std::uint64_t last_used{};
    };
    /// Columns of operators that are kept.
    std::size_t most_columns() const;
    /// Operators at the sizes that some of the unit types were measured with, those of most of them first.
    std::vector<OperatorDemand> measured_sizes() const;
    void take_over(RouteColumns& before);
    /// Columns of operators, where some of the unit types are others: those that stay keep what is known of them.
    void move_columns(RouteColumns& before);
    /// Makes all of a new column; else what has changed since its generation, and estimates where these are others.
    void renew(Kept& kept, bool is_new);
    void set_time(const OperatorDemand& demand, OperatorColumn& column, std::size_t unit_type,
                  std::span<const MeasuredOperator> measured) const;
    /// Where the measurements of an operator stand among those of a unit type.
    struct MeasuredRange {
        std::uint32_t first{};
        std::uint32_t count{};
    };
    MeasuredRange range_of(std::size_t unit_type, const std::string& operator_id) const;
    const std::vector<MeasuredRange>& ranges_of(const std::string& operator_id);
    /// Made when it is first asked for.
    const OperatorTable& table();
    /// Whether the lists of the unit type are others than those that the table was made of.
    bool is_newer_than_table(std::size_t unit_type) const { return changed_at_[unit_type] > table_generation_; }
    std::span<const MeasuredOperator> measured_in(std::size_t unit_type, const MeasuredRange& range) const;

    UnitTypeList unit_types_;
    std::vector<UnitTypeFacts> facts_;                  ///< of each
    FactColumns fact_columns_;                          ///< some of them
    std::vector<std::int64_t> idle_units_;              ///< of each
    PriceHours price_hours_;                            ///< made when they are first asked for, as network_hours_
    std::shared_ptr<const NetworkHours> network_hours_; ///< copies share them
    InputTexts input_texts_;
    std::vector<std::uint32_t> otherwise_;       ///< unit types whose facts were set
    std::shared_ptr<const UnitTypeIndex> index_; ///< made when it is first asked for
    std::shared_ptr<const FactGroups> groups_;   ///< made when it is first asked for
    std::shared_ptr<const OperatorEstimates> estimates_;
    UnitTypeOrder order_;
    std::vector<double> start_up_s_;
    std::vector<double> speeds_;
    std::map<std::string, Kept> columns_;
    std::uint64_t generation_ = 0;          ///< lists that it has taken over from one another
    std::uint64_t estimates_since_ = 0;     ///< the generation from which on the estimates are these
    std::vector<std::uint64_t> changed_at_; ///< by unit type: the generation that made it otherwise
    std::map<std::string, std::shared_ptr<const KnownRunColumn>> known_runs_; ///< by job
    /// When each unit type was last measured at one size of an operator.
    struct KeptTimes {
        std::vector<Timestamp> times;
        std::uint64_t generation{}; ///< of which they are
    };
    std::map<std::pair<std::string, std::string>, KeptTimes> measured_at_;
    std::map<std::string, std::vector<std::uint8_t>> offers_;
    std::shared_ptr<const OperatorTable> table_; ///< of the lists as they were in its generation
    std::uint64_t table_generation_ = 0;
    std::vector<std::uint8_t> is_sorted_; ///< by unit type: whether its measurements stand in order of operators
    std::map<std::string, std::vector<MeasuredRange>> ranges_; ///< by operator, then by unit type
    std::uint64_t uses_ = 0;
};

} // namespace fathom
