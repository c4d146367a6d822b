#pragma once

#include "core/decide/scoring/aggregate_score.hpp"
#include "core/decide/scoring/compare_scores.hpp"
#include "server/api/compute_pool.hpp"
#include "server/metering/metering_store.hpp"
#include "server/metering/scores_store.hpp"
#include "server/metering/trust_store.hpp"
#include "server/operators/operators_service.hpp"
#include "server/store/database.hpp"

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace fathom::server {

/// What one score is for, on a unit type.
enum class ScoreGroup {
    kJobType,  ///< jobs of a type, by the shares of its mix
    kCategory, ///< a category of operators
    kUnitType, ///< everything that the policy weighs
};
std::string_view to_string(ScoreGroup group);

/// A score of what was measured of one operator, by all its results that count together.
struct OperatorScore {
    MeasurementRecord record;
    std::optional<ScoreValue> score; ///< times trust_factor
    std::string missing;             ///< why there is none
    double trust_factor{1};
    std::int64_t diversity{}; ///< active unit types that can run the operator (M18)
};

/// One measurement of a history, with what it scores today.
struct ScorePoint {
    MeasurementRecord record;
    std::optional<ScoreValue> score; ///< not times trust, which is known of the present only
    std::string missing;             ///< why there is none
};

/// One score over several operators.
struct GroupedScore {
    ScoreGroup group{};
    std::string name; ///< of the job type or category; empty for a unit type
    UnitTypeName place;
    AggregateScore aggregate; ///< its score, but not those of its parts, times trust_factor
    double trust_factor{1};
};

/// The same measurements under two policies. Scores are times trust.
struct PolicyTrial {
    struct Place {
        UnitTypeName place;
        ComparedScore scores;
    };
    struct Operator {
        UnitTypeName place;
        std::string operator_id;
        std::string parameters_key;
        ComparedScore scores; ///< ranked among the unit types that were measured with it at this size
    };
    MetricPolicy policy;
    MetricPolicy active;
    std::vector<Place> unit_types;
    std::vector<Operator> operators; ///< measurements on one unit
    std::int64_t unit_type_count{};  ///< of the network; unit_types holds the first 2 000
};

/// Scores (M16), computed from the measurements when asked, so that any policy can be tried on them. Thread-safe.
/// The references must outlive it.
class ScoresService {
  public:
    /// @param trust_lifetime  how long a judgement of trust serves; 0: it is judged at every call
    ScoresService(Database& database, const OperatorsService& operators, ComputePool& compute,
                  std::chrono::milliseconds trust_lifetime)
        : database_(&database), operators_(&operators), compute_(&compute), trust_(trust_lifetime)
    {
    }

    // `policy` is empty for the active one, an id, or id@version.
    // @error kInvalid  no such policy, or not a page token of this list.

    struct OperatorScores {
        MetricPolicy policy;
        Page<OperatorScore> page;
    };
    asio::awaitable<Result<OperatorScores>> by_operator(std::string policy, MeasurementFilter filter, std::int64_t size,
                                                        std::string after);

    struct ScoreHistory {
        MetricPolicy policy;
        Page<ScorePoint> page;
    };
    /// How one operator did on one unit type over time, the newest first. All points are of one version of the operator
    /// and are scored by the same policy.
    /// @error kNotFound  there is no such unit type.
    asio::awaitable<Result<ScoreHistory>> history(std::string policy, HistoryFilter filter, std::int64_t size,
                                                  std::string after);

    struct GroupedScores {
        MetricPolicy policy;
        Page<GroupedScore> page;
    };
    /// By name, center, unit type. `name` keeps one job type or category; the filter's operator is not used.
    asio::awaitable<Result<GroupedScores>> grouped(ScoreGroup group, std::string name, std::string policy,
                                                   MeasurementFilter filter, std::int64_t size, std::string after);

    /// What a stored policy would change.
    asio::awaitable<Result<PolicyTrial>> try_policy(std::string policy);
    /// What a policy would change that is not stored. @error kInvalid  as check_new_policy() says.
    asio::awaitable<Result<PolicyTrial>> try_document(MetricPolicy policy);

  private:
    /// Two policies, and what they are compared by.
    struct Trial {
        MetricPolicy policy;
        MetricPolicy active;
        std::set<std::string> measured_operators;
        std::vector<NamedPlace> places;
        std::map<std::string, std::vector<MeasuredOperator>> measured; ///< by unit type
        TrustByUnitType trust;
        std::int64_t place_count{};
    };
    Trial read_trial(pqxx::transaction_base& transaction, MetricPolicy policy, MetricPolicy active);
    asio::awaitable<Result<PolicyTrial>> judge(Trial trial);
    PolicyTrial compare(Trial trial) const;

    Database* database_;
    const OperatorsService* operators_;
    ComputePool* compute_;
    TrustCache trust_;
};

} // namespace fathom::server
