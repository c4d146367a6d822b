#pragma once

namespace fathom::server {

class ApiRouter;
class LearningService;

/// GET /predictions and GET /predictions:calibration. The service must outlive the router.
void add_learning_routes(ApiRouter& router, LearningService& learning);

} // namespace fathom::server
