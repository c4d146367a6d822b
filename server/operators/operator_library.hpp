#pragma once

#include "core/model/probe_task.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fathom::server {

/// Every version of every operator, as it was when this was made. Never changes, so any thread may read it.
class OperatorLibrary {
  public:
    struct Version {
        OperatorManifest manifest;
        Timestamp created_at{};
        std::optional<Timestamp> withdrawn_at;
        std::string origin{"built_in"};   ///< "built_in", "expert", or "uploaded"
        std::string created_by{"fathom"}; ///< token id
        std::string withdrawn_by{};
        // Of uploaded ones; else empty.
        std::string key_id{}; ///< of the key that signed it
        std::string object_sha256{};
        std::int64_t object_bytes{};
    };

    OperatorLibrary() = default;
    explicit OperatorLibrary(std::vector<Version> versions);

    /// `version` 0: the newest that is not withdrawn. nullptr when there is none.
    const Version* find(std::string_view id, std::int64_t version = 0) const;
    /// As find(), for core/decide: nullptr when there is none.
    const OperatorManifest* manifest(std::string_view id, std::int64_t version) const;
    /// The newest that came with a release, withdrawn or not; nullptr when there is none.
    const Version* built_in(std::string_view id) const;
    /// The newest of each operator that is not withdrawn, by id.
    std::vector<const Version*> newest() const;

    /// Completes the parameters of operator uses with the manifest's defaults, writes the version that 0
    /// stands for, and reports what does not exist, is withdrawn or out of range under `path[i]`.
    std::vector<OperatorUse> resolve(const std::vector<OperatorUse>& uses, const std::string& path,
                                     std::vector<FieldError>& errors) const;

  private:
    /// For a use that find() does not know.
    FieldError why_unknown(const OperatorUse& use, const std::string& field) const;

    std::map<std::string, std::map<std::int64_t, Version>, std::less<>> versions_;
};

using OperatorLibraryPointer = std::shared_ptr<const OperatorLibrary>;

} // namespace fathom::server
