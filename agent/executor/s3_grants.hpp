#pragma once

#include "agent/config/s3_tables.hpp"
#include "agent/config/staging_order.hpp"
#include "core/base/clock.hpp"
#include "core/transfer/object_store.hpp"

#include <chrono>
#include <optional>

namespace fathom::agent {

/// A center's object store with its key, which stays with the executor's process: jobs get URLs that are signed for
/// one object each. Empty endpoint: there is none.
struct S3Store {
    ObjectStoreAccess access{};
    std::vector<S3AccessRule> rules{};
    std::filesystem::path key_file{}; ///< absolute; jobs must not open it
    bool jobs_may_read_key{};         ///< as its administrator says (S3Config)
    std::string refusal{};            ///< not empty: why nothing is signed; for people
};

/// What a store becomes where jobs run as the agent does, and could read the key: nothing is signed, unless its
/// administrator says that they may.
S3Store in_reach_of_jobs(S3Store store);

/// For a center's facts: `s3`, whether s3:// URLs of jobs are signed, and why not or that jobs could read the key.
Json s3_facts(const S3Store& store);

/// Reads the key. Blocks.
/// @error kInvalid  the file holds no key, or others may read it.
Result<S3Store> open_s3_store(const S3Config& config);

/// `rule`, with a grant for each s3:// URL of an order: signed where the project of the order may do that, else a
/// refusal for people.
/// @param lasts  how long what is signed shall be good; at most kMaxSignedTime
StagingRule with_s3_grants(StagingRule rule, const S3Store& store, const AttemptOrder& order, Timestamp now,
                           std::chrono::seconds lasts);

} // namespace fathom::agent
