#pragma once

#include "core/model/attempt.hpp"

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace fathom::agent {

/// What a job may do with one object of the center's object store.
struct S3Grant {
    std::string url{};     ///< of https or http, signed; empty: it may not
    std::string refusal{}; ///< why, for people
};

/// Of a grant, in StagingRule::s3. @param method  "GET" or "PUT"
std::string s3_grant_key(std::string_view method, const std::string& url);

/// Where inputs may come from and outputs go to at this center, besides https.
struct StagingRule {
    bool takes_http = false;                             ///< for inputs
    std::vector<std::filesystem::path> folders{};        ///< below which file URLs of inputs may point
    bool sends_http = false;                             ///< for outputs
    std::vector<std::filesystem::path> output_folders{}; ///< below which file URLs of outputs may point
    /// Of one job: what it may do with the s3:// URLs that it names, by s3_grant_key().
    std::map<std::string, S3Grant> s3{};
};

Json to_json(const StagingRule& rule);
/// @error kInvalid  not what to_json() wrote.
Result<StagingRule> read_staging_rule(const Json& json);

/// The grants of another rule, as to_json() wrote it, take the place of those that this one has. What is no rule
/// changes nothing.
void take_grants(StagingRule& rule, const std::string& renewed);

/// The URL that a transfer is made with: the job's own, or what is signed for it.
/// @param method  "GET" or "PUT"
/// @error kInvalid  it is an s3:// URL that this job may not use so; the detail says why.
Result<std::string> transfer_url(const StagingRule& rule, std::string_view method, const std::string& url);

/// What fathom-stage is to do.
struct StagingOrder {
    std::vector<JobInput> inputs;
    std::vector<JobOutput> outputs;
    StagingRule rule;
    /// Numbers of open files with inputs that the center has already, by SHA-256; their content is to be checked.
    std::map<std::string, int> cached{};
    /// Where it may have more of them, each with its SHA-256 as its name; likewise. Empty: nowhere.
    std::filesystem::path cache_folder{};
};

std::string encode(const StagingOrder& order);
/// @error kInvalid  not what encode() wrote.
Result<StagingOrder> decode_staging_order(const std::string& text);

/// Whether an attempt has inputs or outputs, so that the program fathom-stage has a part in it.
inline bool uses_staging(const AttemptOrder& order)
{
    return !order.inputs.empty() || !order.outputs.empty();
}

/// The order, in the working folder of a job with inputs or outputs.
inline constexpr const char* kStagingOrderName = ".fathom-staging.json";
/// What was signed anew since the order was written, where that is done: a StagingRule of which the grants count, in
/// the folder above the working folder.
inline constexpr const char* kRenewedName = "signed";
/// Where fathom-stage says why it could not stage an input, beside it.
inline constexpr const char* kStagingFailureName = ".fathom-staging-failed";
/// Where it says how long it took to fetch the inputs, how large those are that are complete, how much of that the
/// center had already, and which of what it had was spoiled:
/// `{"seconds": 1.5, "bytes": 48213, "cached_bytes": 7, "spoiled": ["9f86…"]}`.
inline constexpr const char* kStagedInputsName = ".fathom-inputs.json";
/// Where it says which outputs it has stored, and how long that took: `{"outputs": […], "seconds": 0.2}`.
inline constexpr const char* kStoredOutputsName = ".fathom-outputs.json";
/// Where it says why it could not store one.
inline constexpr const char* kOutputFailureName = ".fathom-outputs-failed";
/// The program, in the folder of fathom-probe.
inline constexpr const char* kStagingProgram = "fathom-stage";

} // namespace fathom::agent
