#include "server/calendar/reservation_api.hpp"

#include "core/model/name_limits.hpp"
#include "server/api/idempotency.hpp"
#include "server/api/paging.hpp"
#include "server/api/render_page.hpp"

namespace fathom::server {
namespace {

using Answer = asio::awaitable<net::Response>;

constexpr std::chrono::days kMaxReservation{31};

Result<ReservationService::Wanted> parse_reservation(const Call& call, Timestamp now)
{
    const Result<Json> json = call.json();
    if (!json) return json.error();
    std::vector<FieldError> errors;
    ObjectReader reader(*json, "", errors);
    ReservationService::Wanted wanted;
    wanted.project =
        reader.optional_string("project", {.min_length = 1, .max_length = kMaxProjectNameBytes}).value_or("default");
    wanted.center = reader.required_string("center", {.min_length = 1, .max_length = kMaxCenterNameBytes});
    wanted.unit_type = reader.required_string("unit_type", {.min_length = 1, .max_length = kMaxUnitTypeNameBytes});
    wanted.unit_count = reader.required_integer("unit_count", 1, 1'000'000'000);
    wanted.period = read_period(reader, now, kMaxReservation);
    reader.finish(UnknownFields::kReject);
    if (const auto nul = find_nul(*json)) errors.push_back({*nul, "must not contain a NUL character"});
    return value_or_errors(std::move(wanted), std::move(errors), "the reservation");
}

Answer create_reservation(ReservationService* service, const Clock* clock, Call call)
{
    Result<ReservationService::Wanted> wanted = parse_reservation(call, clock->now());
    if (!wanted) co_return net::problem(wanted.error(), call.request.request_id);
    const auto right = has_permission(call.principal.role, Permission::kManageNetwork)
                           ? ReservationService::Right::kAny
                           : ReservationService::Right::kGiven;
    const Result<AdvanceReservation> reservation = co_await service->create(caller_of(call), std::move(*wanted), right);
    if (!reservation) co_return net::problem(reservation.error(), call.request.request_id);
    net::Response response = json_response(201, to_json(*reservation));
    response.headers["Location"] = "/api/v1/reservations/" + reservation->id.value;
    co_return response;
}

/// Who reserved what for whom is told to those who see all jobs, and else to the maker and the project's members.
std::string visible_creator_of(const Call& call)
{
    const bool sees_all = has_permission(call.principal.role, Permission::kReadAllJobs);
    return sees_all ? std::string() : call.principal.token_id.value;
}

Answer list_reservations(ReservationService* service, Call call)
{
    const Result<PageRequest> page = parse_page_request(call.request);
    if (!page) co_return net::problem(page.error(), call.request.request_id);
    const Query& query = call.request.query;
    ReservationFilter filter{query_text(query, "project"), query_text(query, "center"),
                             query_flag(query, "open").value_or(false), visible_creator_of(call)};
    const Result<Page<AdvanceReservation>> reservations =
        co_await service->list(std::move(filter), page->size, page->after);
    if (!reservations) co_return net::problem(reservations.error(), call.request.request_id);
    co_return render_page(*reservations);
}

Answer get_reservation(ReservationService* service, Call call)
{
    const Result<AdvanceReservation> reservation =
        co_await service->get(call.request.path_params["id"], visible_creator_of(call));
    if (!reservation) co_return net::problem(reservation.error(), call.request.request_id);
    co_return json_response(200, to_json(*reservation));
}

Answer cancel_reservation(ReservationService* service, Call call)
{
    const auto whose = has_permission(call.principal.role, Permission::kManageNetwork)
                           ? ReservationService::Whose::kAnybodys
                           : ReservationService::Whose::kOwn;
    const Result<AdvanceReservation> reservation =
        co_await service->cancel(caller_of(call), call.request.path_params["id"], whose);
    if (!reservation) co_return net::problem(reservation.error(), call.request.request_id);
    co_return json_response(200, to_json(*reservation));
}

} // namespace

void add_reservation_routes(ApiRouter& router, ReservationService& service, Database& database, const Clock& clock)
{
    using net::Method;
    const auto bind = [&service](auto handler) -> ApiHandler {
        return [handler, target = &service](Call call) { return handler(target, std::move(call)); };
    };
    ApiHandler create = [target = &service, time = &clock](Call call) {
        return create_reservation(target, time, std::move(call));
    };
    router.add(Method::kPost, "/reservations", Permission::kSubmitJobs, idempotent(database, std::move(create)));
    router.add(Method::kGet, "/reservations", Permission::kReadNetwork, bind(list_reservations));
    router.add(Method::kGet, "/reservations/{id}", Permission::kReadNetwork, bind(get_reservation));
    router.add(Method::kDelete, "/reservations/{id}", Permission::kSubmitJobs, bind(cancel_reservation));
}

} // namespace fathom::server
