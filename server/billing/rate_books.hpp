#pragma once

#include "core/decide/billing/rate.hpp"
#include "server/store/transaction.hpp"

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

namespace fathom::server {

using RateBooksPointer = std::shared_ptr<const std::vector<RateBook>>;

/// All versions of the price book, in order of (valid_from, version). They never change, so they are read and prepared
/// again only when there are more. Thread-safe.
class RateBooks {
  public:
    /// Blocks; pqxx's exceptions pass through.
    RateBooksPointer get(pqxx::work& transaction);

  private:
    std::mutex mutex_;
    std::int64_t count_ = -1;
    RateBooksPointer books_;
};

} // namespace fathom::server
