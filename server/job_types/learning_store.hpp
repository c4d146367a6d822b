#pragma once

#include "core/decide/probing/generate_task.hpp"
#include "core/decide/probing/job_type.hpp"
#include "server/identity/job_scope.hpp"
#include "server/store/page.hpp"
#include "server/store/transaction.hpp"

#include <optional>
#include <string>
#include <vector>

/// Rows of what jobs teach: the learning queue, profiles, and job types. All functions take the caller's transaction,
/// block, and let pqxx's exceptions through to Database::run.
namespace fathom::server {

/// A job that somebody wants to know the operators of.
struct JobEvidence {
    JobId id;
    std::string label;
    std::string name;
    std::string job_type;
    std::string submitted_by;
    std::string operators_from; ///< the job that its type learned them from; empty: its own
    JobSpec spec;
    std::string unit_type_id;   ///< where its newest attempt ran; empty: nowhere yet
    std::int64_t unit_count{1}; ///< of that attempt
    Json profile;               ///< of its newest attempt; null when there is none
    Json outcomes;              ///< of that attempt's operators, by "id parameters_key"; null: there are none
};
std::optional<JobEvidence> select_evidence(pqxx::work& transaction, const std::string& job);

/// Takes the jobs out of the line that have waited longest, at most `limit`.
std::vector<JobId> pop_learning_queue(pqxx::work& transaction, std::int64_t limit);

struct JobTypeRecord {
    std::string name;
    JobTypeOrigin origin{JobTypeOrigin::kUser};
    OperatorMix mix;
    std::vector<OperatorUse> operators; ///< of a whole job, resolved
    bool profiled{false};
    std::string learned_from; ///< id of the job
    Timestamp learned_at{};
    std::string probe_task_id; ///< empty when none could be made
    std::string submitted_by;  ///< whose jobs it was learned from, and is used for
    std::string project;       ///< of those jobs
    Json known_run;            ///< KeptRun; null: none that others could be predicted from
    /// Of the profile of that run: operators beyond those that a job has at most. Empty: there is none, or it was kept
    /// by an older server.
    std::optional<LeftOutOperators> unlisted{};
    LeftOutOperators unprobed{}; ///< of `operators`; no column has it
    Json own_loops;              ///< shown_loops() of that profile; null: there is none
};
/// Adds a type of a submitter and project, or replaces what was known of it; its origin stays.
void upsert_job_type(pqxx::work& transaction, const JobTypeRecord& type);
std::optional<JobTypeRecord> select_job_type(pqxx::work& transaction, const std::string& name,
                                             const std::string& submitted_by, const std::string& project);
/// Who is shown types of jobs.
struct JobTypeReader {
    std::string token_id;
    JobScope scope; ///< what was learned from these jobs alone
};
/// What to show of a type: of several submitters' the reader's own, else the newest.
std::optional<JobTypeRecord> select_shown_job_type(pqxx::work& transaction, const std::string& name,
                                                   const JobTypeReader& reader);
/// By name, each as select_shown_job_type(); `after` is a name.
Page<JobTypeRecord> select_job_types(pqxx::work& transaction, std::int64_t size, const std::string& after,
                                     const JobTypeReader& reader);

Json to_json(const JobTypeRecord& type);
Json to_json(const LeftOutOperators& left_out);

} // namespace fathom::server
