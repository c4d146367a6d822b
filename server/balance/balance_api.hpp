#pragma once

#include "server/balance/balance_service.hpp"

namespace fathom::server {

class ApiRouter;

/// `/balanced-units`, `/centers/{id}/units/{unit}/balance` and its stream. The service must outlive the router.
void add_balance_routes(ApiRouter& api, BalanceService& balance);

} // namespace fathom::server
