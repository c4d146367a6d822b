#pragma once

#include "core/decide/routing/route_columns.hpp"
#include "server/catalog/catalog_cache.hpp"

#include <memory>

namespace fathom::server {

/// What is kept of a catalog from one batch of the router to the next, and from one catalog to the next where they are
/// the same. Not thread-safe: for one batch at a time.
class ColumnsOfCatalog {
  public:
    /// Refers to the catalog, which must outlive the use of what this gives.
    std::shared_ptr<RouteColumns> get(const CatalogPointer& catalog)
    {
        if (catalog != catalog_) {
            columns_ =
                std::make_shared<RouteColumns>(catalog->unit_types, catalog->knowledge.estimates, columns_.get());
            catalog_ = catalog;
        }
        return columns_;
    }

    bool is_of(const CatalogPointer& catalog) const { return catalog == catalog_; }
    /// As get(), and makes now what decisions would make: where none waits for it.
    void prepare(const CatalogPointer& catalog) { get(catalog)->prepare(); }

  private:
    CatalogPointer catalog_;
    std::shared_ptr<RouteColumns> columns_;
};

} // namespace fathom::server
