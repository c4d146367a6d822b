#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace fathom::server {

/// Builds the text of a PostgreSQL array, `{"a","b"}`, to be a statement's parameter: libpqxx 6 has no array
/// parameters. With `unnest($1::text[], $2::bigint[])` it makes multi-row statements.
class SqlArray {
  public:
    SqlArray& add(std::string_view value);
    SqlArray& add(std::int64_t value);
    SqlArray& add(double value);
    SqlArray& add_null();
    /// For a bytea[].
    SqlArray& add_bytes(std::string_view bytes);

    /// The finished text; the builder is used up.
    std::string take();

  private:
    void separate();

    std::string text_ = "{";
};

std::string sql_array(std::span<const std::string> values);
std::string sql_array(std::span<const std::optional<std::string>> values);
std::string sql_array(std::span<const std::int64_t> values);
std::string sql_array(std::span<const double> values);

} // namespace fathom::server
