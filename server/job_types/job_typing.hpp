#pragma once

#include "server/catalog/catalog_snapshot.hpp"

#include <mutex>
#include <string>
#include <unordered_map>

namespace fathom::server {

/// The types of jobs as they are submitted (M11). Jobs come in great numbers of the same few kinds: what a mix of
/// operators is compared with, and the formulas behind it, are looked at once for each kind and catalog. Thread-safe.
class JobTyping {
  public:
    /// @param owner  who submits it: types are known of each submitter by itself.
    std::string type_of(const JobSpec& spec, const std::string& owner, const CatalogPointer& catalog);

  private:
    std::mutex mutex_;
    CatalogPointer catalog_; ///< that `types_` hold for
    std::unordered_map<std::string, std::string> types_;
};

} // namespace fathom::server
