#include "agent/app/resource_keeper.hpp"

#include "core/base/file.hpp"
#include "core/base/log.hpp"
#include "core/base/utf8_prefix.hpp"

namespace fathom::agent {
namespace {

constexpr std::size_t kMaxOrderBytes = 8UL << 20U;
constexpr std::size_t kMaxFailureLength = 1000;

} // namespace

Result<ResourceOrder> ResourceKeeper::read() const
{
    const Result<std::string> text = read_file(file_, kMaxOrderBytes);
    if (!text && text.error().code == Errc::kNotFound) return ResourceOrder{};
    if (!text) return text.error();
    const Result<Json> json = parse_json(*text, {.max_bytes = kMaxOrderBytes});
    if (!json) return json.error();
    std::vector<FieldError> errors;
    ObjectReader reader(*json, "", errors);
    ResourceOrder order = read_resource_order(reader, errors);
    return value_or_errors(std::move(order), std::move(errors), "the order of resources");
}

void ResourceKeeper::load()
{
    Result<ResourceOrder> order = read();
    if (order)
        order_ = std::move(*order);
    else
        log_warning("resource_order_not_read",
                    {{"path", file_.string()},
                     {"reason", describe(order.error())},
                     {"effect", "the config file's unit types are offered until the metascheduler says it again"}});
}

Result<bool> ResourceKeeper::take(ResourceOrder order)
{
    if (order == order_) return false;
    if (const Result<void> stored = write_file(file_, to_json(order).dump(), 0600); !stored) return stored.error();
    order_ = std::move(order);
    return true;
}

ResourceState ResourceKeeper::applied(std::vector<ResourceDifference> differences, RemoteRule rule) const
{
    ResourceState state{.version = order_.version,
                        .state = "applied",
                        .permission = std::string(to_string(rule)),
                        .differences = std::move(differences)};
    if (order_.unit_types.empty()) {
        state.state = "file";
    } else if (rule == RemoteRule::kOff) {
        state.state = "forbidden";
        state.detail = "the agent's file has remote_resources = \"off\": its own unit types are offered";
    }
    return state;
}

ResourceState ResourceKeeper::failed(const Error& error, RemoteRule rule) const
{
    return {.version = order_.version,
            .state = "failed",
            .detail = std::string(utf8_prefix(describe(error), kMaxFailureLength)),
            .permission = std::string(to_string(rule))};
}

} // namespace fathom::agent
