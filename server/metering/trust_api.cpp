#include "server/metering/trust_api.hpp"

#include "server/metering/trust_store.hpp"

namespace fathom::server {
namespace {

using Answer = asio::awaitable<net::Response>;

Answer list_trust(CurvesService* service, VerificationState verification, Call call)
{
    const Result<std::vector<CurvesService::JudgedUnitType>> judged = co_await service->trust();
    if (!judged) co_return net::problem(judged.error(), call.request.request_id);
    Json items = Json::array();
    for (const CurvesService::JudgedUnitType& one : *judged) {
        Json json = to_json(one.place);
        json.update(to_json(one.trust));
        json["verified"] = to_json(one.verified);
        items.push_back(std::move(json));
    }
    const Json body{{"items", std::move(items)},
                    {"verification", {{"enabled", verification.is_enabled}, {"share", verification.share}}}};
    co_return json_response(200, body);
}

} // namespace

void add_trust_routes(ApiRouter& router, CurvesService& service, VerificationState verification)
{
    router.add(net::Method::kGet, "/trust", Permission::kReadNetwork, [target = &service, verification](Call call) {
        return list_trust(target, verification, std::move(call));
    });
}

} // namespace fathom::server
