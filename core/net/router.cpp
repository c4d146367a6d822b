#include "core/net/router.hpp"

#include "core/net/url.hpp"

#include <algorithm>
#include <array>

namespace fathom::net {
namespace {

constexpr std::size_t kMethodCount = 7;

/// Everything that answers on one pattern.
struct Route {
    std::string pattern;
    std::vector<std::string> names; ///< of the parameters, left to right
    std::array<Handler, kMethodCount> handlers;
    std::array<BodyRule, kMethodCount> bodies; ///< of the handlers
    WebSocketHandler websocket;

    const Handler& handler(Method method) const { return handlers[static_cast<std::size_t>(method)]; }
    Handler& handler(Method method) { return handlers[static_cast<std::size_t>(method)]; }
};

/// One segment of the paths below it. Tried in this order: literal, parameter with the longest
/// ending, plain parameter, rest of the path.
struct Node {
    std::map<std::string, std::unique_ptr<Node>, std::less<>> literals;
    std::vector<std::pair<std::string, std::unique_ptr<Node>>> parameters; ///< by ending, longest first
    std::unique_ptr<Route> rest;                                           ///< `{name*}`
    std::unique_ptr<Route> route;                                          ///< when the path may end here
};

std::vector<std::string_view> split(std::string_view path)
{
    std::vector<std::string_view> segments;
    while (!path.empty()) {
        path.remove_prefix(1); // the slash
        const std::size_t end = std::min(path.find('/'), path.size());
        segments.push_back(path.substr(0, end));
        path.remove_prefix(end);
    }
    return segments;
}

Node& parameter_child(Node& node, std::string_view ending)
{
    for (auto& [known, child] : node.parameters) {
        if (known == ending) return *child;
    }
    node.parameters.emplace_back(std::string(ending), std::make_unique<Node>());
    std::ranges::sort(node.parameters, std::greater{}, [](const auto& entry) { return entry.first.size(); });
    return parameter_child(node, ending);
}

Node& literal_child(Node& node, std::string_view text)
{
    auto& child = node.literals[std::string(text)];
    if (!child) child = std::make_unique<Node>();
    return *child;
}

Route& ensure_route(std::unique_ptr<Route>& slot, const std::string& pattern, std::vector<std::string> names)
{
    if (slot) {
        // The same place under two sets of names would make path_params depend on the order of adding.
        FATHOM_ASSERT(slot->names == names);
        return *slot;
    }
    slot = std::make_unique<Route>();
    slot->pattern = pattern;
    slot->names = std::move(names);
    return *slot;
}

/// The route of a pattern, made when missing.
Route& find_or_make(Node& root, const std::string& pattern)
{
    FATHOM_ASSERT(pattern.starts_with('/'));
    Node* node = &root;
    std::vector<std::string> names;
    for (const std::string_view segment : split(pattern)) {
        if (!segment.starts_with('{')) {
            node = &literal_child(*node, segment);
            continue;
        }
        const std::size_t close = segment.find('}');
        FATHOM_ASSERT(close != std::string_view::npos && close > 1);
        std::string_view name = segment.substr(1, close - 1);
        if (name.ends_with('*')) {
            name.remove_suffix(1);
            FATHOM_ASSERT(pattern.ends_with("*}"));
            names.emplace_back(name);
            return ensure_route(node->rest, pattern, std::move(names));
        }
        names.emplace_back(name);
        node = &parameter_child(*node, segment.substr(close + 1));
    }
    return ensure_route(node->route, pattern, std::move(names));
}

struct Found {
    const Route* route = nullptr;
    std::vector<std::string> values;
};

bool find(const Node& node, std::span<const std::string> segments, Found& found)
{
    if (segments.empty()) {
        found.route = node.route.get();
        return found.route != nullptr;
    }
    const std::string& segment = segments.front();
    const auto below = segments.subspan(1);
    const auto literal = node.literals.find(segment);
    if (literal != node.literals.end() && find(*literal->second, below, found)) return true;
    for (const auto& [ending, child] : node.parameters) {
        if (segment.size() <= ending.size() || !segment.ends_with(ending)) continue;
        found.values.push_back(segment.substr(0, segment.size() - ending.size()));
        if (find(*child, below, found)) return true;
        found.values.pop_back();
    }
    if (!node.rest) return false;
    std::string rest;
    for (const std::string& part : segments)
        rest += (rest.empty() ? "" : "/") + part;
    found.values.push_back(std::move(rest));
    found.route = node.rest.get();
    return true;
}

std::string allowed_methods(const Route& route)
{
    std::string text;
    const auto add = [&](Method method) {
        if (!text.empty()) text += ", ";
        text += to_string(method);
    };
    for (std::size_t i = 0; i < kMethodCount; ++i) {
        if (route.handlers[i]) add(static_cast<Method>(i));
    }
    if (route.handler(Method::kGet) && !route.handler(Method::kHead)) add(Method::kHead);
    return text;
}

std::map<std::string, std::string> name_values(const Route& route, std::vector<std::string> values)
{
    std::map<std::string, std::string> params;
    for (std::size_t i = 0; i < values.size(); ++i)
        params.emplace(route.names[i], std::move(values[i]));
    return params;
}

} // namespace

struct Router::State {
    Node root;
    Handler page_fallback;
    BodyRule no_body{.most_bytes = 0};
};

Router::Router() : state_(std::make_unique<State>()) {}
Router::~Router() = default;
Router::Router(Router&&) noexcept = default;
Router& Router::operator=(Router&&) noexcept = default;

void Router::add(Method method, std::string pattern, Handler handler, BodyRule body)
{
    Route& route = find_or_make(state_->root, pattern);
    FATHOM_ASSERT(!route.handler(method));
    route.handler(method) = std::move(handler);
    route.bodies[static_cast<std::size_t>(method)] = std::move(body);
}

void Router::add_websocket(std::string pattern, WebSocketHandler handler)
{
    Route& route = find_or_make(state_->root, pattern);
    FATHOM_ASSERT(!route.websocket);
    route.websocket = std::move(handler);
}

void Router::set_page_fallback(Handler handler)
{
    FATHOM_ASSERT(!state_->page_fallback);
    state_->page_fallback = std::move(handler);
}

Router::Match Router::match(Method method, std::string_view path, bool is_upgrade) const
{
    if (!path.starts_with('/')) return NotFound{};
    // Decoded segment by segment, so that %2F inside an id does not become a separator.
    std::vector<std::string> segments;
    for (const std::string_view segment : split(path)) {
        std::optional<std::string> decoded = percent_decode(segment);
        if (!decoded) return NotFound{};
        segments.push_back(std::move(*decoded));
    }

    Found found;
    if (!find(state_->root, segments, found)) {
        const bool is_read = method == Method::kGet || method == Method::kHead;
        if (!is_read || is_upgrade || !state_->page_fallback) return NotFound{};
        return Http{&state_->page_fallback, &state_->no_body, "{page}", {}};
    }
    const Route& route = *found.route;
    if (is_upgrade && method == Method::kGet && route.websocket)
        return Upgrade{&route.websocket, name_values(route, std::move(found.values)), route.pattern};
    const bool by_get = method == Method::kHead && !route.handler(method);
    const auto index = static_cast<std::size_t>(by_get ? Method::kGet : method);
    if (!route.handlers[index]) return WrongMethod{allowed_methods(route)};
    return Http{&route.handlers[index], &route.bodies[index], route.pattern,
                name_values(route, std::move(found.values))};
}

} // namespace fathom::net
