#pragma once

namespace fathom::server {

class ApiRouter;
class LearningService;

/// GET /predictions, GET /predictions:calibration and GET /predictions:operators. The service must outlive the router.
void add_learning_routes(ApiRouter& router, LearningService& learning);

} // namespace fathom::server
