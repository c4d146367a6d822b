#pragma once

#include "server/billing/usage_store.hpp"

#include <string>
#include <vector>

/// What was used in the formats of computing centers' accounting: APEL messages (EGI) and what Slurm's sacct prints.
namespace fathom::server {

/// What APEL calls the ServiceLevelType of the score: "si2k", "hepspec" or "hepscore23", the only ones that it takes.
/// Empty: records say no service level, since a score is none of these unless both sides agreed that it counts as one.
using ServiceLevelType = std::string;

inline constexpr const char* kApelJobHead = "APEL-individual-job-message: v0.3\n";
inline constexpr const char* kApelSummaryHead = "APEL-summary-job-message: v0.3\n";

/// One record with the %% that ends it. Site is the center, VO the project, LocalJobId the attempt.
void append_apel_job(std::string& out, const UsageRecord& usage, const ServiceLevelType& service_level);

/// What the jobs of a project used in a month on units of one kind.
struct UsageSummary {
    std::string period; ///< "2026-11"
    std::string center;
    std::string project;
    std::string submitted_by;
    std::int64_t score_milli{};
    std::int64_t processors{};
    Timestamp earliest_end{};
    Timestamp latest_end{};
    std::int64_t wall_us{};
    std::int64_t cpu_us{};
    std::int64_t job_count{};
};
void append_apel_summary(std::string& out, const UsageSummary& summary, const ServiceLevelType& service_level);
/// Of attempts of jobs and probes that ran, by month, center, project, submitter, score and processors.
std::vector<UsageSummary> select_usage_summaries(pqxx::work& transaction, const UsageFilter& filter);

/// One line with the fields that Open XDMoD's shredder asks sacct for, with --parsable2 --noheader --allocations; times
/// are UTC.
void append_sacct_line(std::string& out, const UsageRecord& usage);

} // namespace fathom::server
