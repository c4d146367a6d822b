#pragma once

#include "server/jobs/job_filter.hpp"
#include "server/store/transaction.hpp"

#include <pqxx/result>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace fathom::server {

/// The values of a statement whose text is put together: in the text there are their numbers only.
class Parameters {
  public:
    /// "$3", to stand where the value is meant.
    std::string add(std::string value);
    /// Unprepared on purpose: planned for these values, so that each combination of filters uses its own index. Blocks.
    pqxx::result run(pqxx::work& transaction, const std::string& sql) const;

  private:
    std::vector<std::string> values_;
};

/// Which of the jobs that a filter leaves are read: in the order of their ids, which ascend with the submission.
struct JobRange {
    SortDirection direction = SortDirection::kDescending;
    std::string after{};  ///< id of the job behind which they begin; empty: with the first
    std::int64_t most{1}; ///< at most so many
};

/// The jobs that a filter leaves, as the text of a statement that walks an index in the order of their ids and stops
/// when it has enough: it reads few rows beside those that it gives, as long as the filter's other conditions hold for
/// many of the jobs on its way.
class JobChoice {
  public:
    /// Looks up what the filter names: the unit types, and whether few or many jobs are called so. Blocks.
    JobChoice(pqxx::work& transaction, JobFilter filter);

    /// "SELECT j.* FROM …", in the order of the range.
    std::string sql(const JobRange& range, Parameters& parameters) const;
    /// Whether the statement walks an index in the order of ids; else few jobs are found and sorted.
    bool walks_in_order() const { return !are_few_; }

  private:
    /// Whether the filter has a condition, beside place and name, that an index of jobs is for.
    bool is_narrowed() const;
    /// The jobs that are left by everything but their place, counted up to so many. Blocks.
    std::int64_t count_up_to(pqxx::work& transaction, std::int64_t most) const;
    /// On a job `j` without its id, to stand behind WHERE.
    std::string conditions(Parameters& parameters) const;
    /// On the id of a job, beginning with AND.
    std::string id_conditions(const std::string& column, const JobRange& range, Parameters& parameters) const;
    std::string sql_by_place(const JobRange& range, Parameters& parameters) const;
    /// Of few jobs that conditions find, those for which the rest of them hold.
    std::string sql_of_found(const std::string& found, const std::string& rest, const JobRange& range,
                             Parameters& parameters) const;

    JobFilter filter_;
    std::optional<std::string>
        unit_types_;       ///< ids of those where the newest attempt is, as a PostgreSQL array; empty: any
    bool are_few_ = false; ///< that are left by everything but their place
    bool has_rare_name_ = false;
};

} // namespace fathom::server
