#pragma once

#include "core/base/json_reader.hpp"
#include "core/net/http.hpp"
#include "server/api/query.hpp"

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fathom::server {

/// What the contract says of one query parameter, of what is checked here.
struct QueryParameter {
    enum class Type { kText, kBoolean, kInteger, kNumber, kTime };
    std::string name;
    Type type = Type::kText;
    bool is_required = false;
    std::vector<std::string> one_of{}; ///< empty: any value
    std::size_t min_length = 0;        ///< bytes
    std::size_t max_length = 4096;     ///< bytes
    std::optional<double> minimum{};
    std::optional<double> maximum{};
    std::optional<double> exclusive_minimum{};
};

/// Checks the queries of one route.
class QueryRules {
  public:
    explicit QueryRules(std::vector<QueryParameter> parameters);

    /// An empty text says the same as no parameter, unless the contract gives it a least length.
    /// @error kInvalid  parameters that the route does not have, that are missing, and values that are none of theirs.
    Result<void> check(const Query& query) const;

  private:
    std::string unknown_text(const std::string& name) const;

    std::vector<QueryParameter> parameters_; ///< by name
};

/// The query parameters of all routes: the OpenAPI document is the one place where they are declared.
class QueryContract {
  public:
    /// @param openapi  the whole document. @error kInvalid  a reference in it leads nowhere.
    static Result<QueryContract> read(const Json& openapi);

    /// @param path  with its parameters in braces, as routes are added. Null: the document does not have the route.
    const QueryRules* find(net::Method method, const std::string& path) const;

  private:
    std::map<std::string, QueryRules> rules_; ///< by "GET /path"
};

/// The OpenAPI document of this build, read once. @error kInvalid  it cannot be read, which is a fault of the build
const Result<Json>& openapi_document();

/// What it says of queries, read once. @error as of openapi_document(), and of read()
const Result<QueryContract>& query_contract();

} // namespace fathom::server
