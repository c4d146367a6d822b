#pragma once

#include "core/base/result.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace fathom::server {

/// One act as the chain's hashes cover it.
struct ChainedAct {
    std::int64_t number{};
    std::int64_t at_us{}; ///< since 1970
    std::string actor;
    std::string action;
    std::string subject;
    std::string request_id;
    std::string detail; ///< the text that PostgreSQL shows for the jsonb value
    std::string sha256; ///< as stored; empty while it is not chained
};

/// SHA-256, in hex, of the previous hash (64 zeros before the first) and the act's fields, each on a line of its own
/// with its length before it, so that no two acts have one text.
std::string audit_hash(const std::string& previous_sha256, const ChainedAct& act);

/// The ends of what is kept.
struct AuditChainEnds {
    std::int64_t first_number{}; ///< the last act that retention has removed; 0: none
    std::string first_sha256;
    std::int64_t last_number{};
    std::string last_sha256;
};

/// Follows the chain act by act.
class AuditChainCheck {
  public:
    explicit AuditChainCheck(const AuditChainEnds& ends)
        : ends_(ends), number_(ends.first_number), sha256_(ends.first_sha256)
    {
    }

    /// A number and the hash it had at some time, noted elsewhere: proves that the chain was not made anew since.
    void expect(std::int64_t number, std::string sha256);
    /// In order. After the first fault nothing more is looked at.
    void add(const ChainedAct& act);
    void finish();

    std::int64_t number() const { return number_; }       ///< of the last act
    const std::string& sha256() const { return sha256_; } ///< computed, of the last act
    std::int64_t acts() const { return acts_; }
    const std::string& fault() const { return fault_; } ///< empty: none

  private:
    void check_known();

    AuditChainEnds ends_;
    std::int64_t number_;
    std::string sha256_;
    std::int64_t acts_ = 0;
    std::optional<std::int64_t> known_number_;
    std::string known_sha256_;
    std::string fault_;
};

} // namespace fathom::server
