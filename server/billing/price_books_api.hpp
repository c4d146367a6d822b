#pragma once

#include "server/api/api_router.hpp"
#include "server/billing/price_books_service.hpp"

namespace fathom::server {

/// Adds GET and POST /price-books, GET /price-books/current and /price-books/{version}. The service, the database and
/// the clock must outlive the router.
void add_price_books_routes(ApiRouter& router, PriceBooksService& service, Database& database, const Clock& clock);

} // namespace fathom::server
