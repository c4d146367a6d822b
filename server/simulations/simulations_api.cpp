#include "server/simulations/simulations_api.hpp"

#include "server/api/api_router.hpp"
#include "server/simulations/simulations_service.hpp"
#include "simulator/policies/policy.hpp"

namespace fathom::server {
namespace {

constexpr double kMinDays = 0.01;
constexpr std::int64_t kMaxSeed = (std::int64_t{1} << 53U) - 1; ///< what JavaScript holds exactly

ObjectReader::StringRule policy_rule()
{
    ObjectReader::StringRule rule;
    for (const simulation::PolicyName& policy : simulation::policy_names())
        rule.one_of.push_back(policy.name);
    return rule;
}

Result<SimulationOrder> parse_simulation_order(const Json& body)
{
    std::vector<FieldError> errors;
    ObjectReader reader(body, "", errors);
    SimulationOrder order;
    order.days = reader.optional_number("days", kMinDays, SimulationOrder::kMaxDays).value_or(order.days);
    order.max_jobs =
        reader.optional_integer(reader.name_or_former("max_jobs", "most_jobs"), 1, SimulationOrder::kMaxJobs)
            .value_or(SimulationOrder::kMaxJobs);
    order.policy = reader.optional_string("policy", policy_rule()).value_or(order.policy);
    order.policy_after = reader.optional_string("policy_after", policy_rule()).value_or(order.policy);
    order.seed = static_cast<std::uint64_t>(reader.optional_integer("seed", 0, kMaxSeed).value_or(1));
    if (const Json* changes = reader.any("changes"))
        order.changes = simulation::parse_network_changes(*changes, "changes", errors);
    if (errors.empty() && order.changes.empty() && order.policy == order.policy_after)
        reader.fail("changes", "must hold a change, unless policy_after is another one than policy");
    reader.finish(UnknownFields::kReject);
    return value_or_errors(std::move(order), std::move(errors), "the simulation");
}

asio::awaitable<net::Response> compare(SimulationsService* simulations, Call call)
{
    const std::string request_id = call.request.request_id;
    const Result<Json> body = call.json();
    if (!body) co_return net::problem(body.error(), request_id);
    Result<SimulationOrder> order = parse_simulation_order(*body);
    if (!order) co_return net::problem(order.error(), request_id);
    const Result<Json> answer = co_await simulations->compare(std::move(call.principal), std::move(*order));
    if (!answer) {
        net::Response refusal = net::problem(answer.error(), request_id);
        if (answer.error().code == Errc::kTooMany) refusal.headers["Retry-After"] = "10";
        co_return refusal;
    }
    co_return json_response(200, *answer);
}

} // namespace

void add_simulations_routes(ApiRouter& api, SimulationsService& simulations)
{
    api.add_unlined(net::Method::kPost, "/simulations", Permission::kManageNetwork,
                    [service = &simulations](Call call) { return compare(service, std::move(call)); });
}

} // namespace fathom::server
