#include "server/store/sql_array.hpp"

#include "core/base/hex.hpp"

#include <charconv>
#include <cmath>

namespace fathom::server {

void SqlArray::separate()
{
    if (text_.size() > 1) text_ += ',';
}

SqlArray& SqlArray::add(std::string_view value)
{
    separate();
    text_ += '"';
    for (const char c : value) {
        if (c == '"' || c == '\\') text_ += '\\';
        text_ += c;
    }
    text_ += '"';
    return *this;
}

SqlArray& SqlArray::add(std::int64_t value)
{
    separate();
    text_ += std::to_string(value);
    return *this;
}

SqlArray& SqlArray::add(double value)
{
    separate();
    if (std::isnan(value)) {
        text_ += "NaN";
    } else if (std::isinf(value)) {
        text_ += value > 0 ? "Infinity" : "-Infinity";
    } else {
        char buffer[32]; // the longest shortest-round-trip double has 24 characters
        text_.append(buffer, std::to_chars(buffer, buffer + sizeof buffer, value).ptr);
    }
    return *this;
}

SqlArray& SqlArray::add_null()
{
    separate();
    text_ += "NULL"; // unquoted; add("NULL") quotes it, which is a string
    return *this;
}

SqlArray& SqlArray::add_bytes(std::string_view bytes)
{
    separate();
    text_.reserve(text_.size() + bytes.size() * 2 + 5);
    text_ += "\"\\\\x"; // the array's quoting doubles the backslash of bytea's hex format
    for (const char c : bytes)
        append_hex(text_, static_cast<unsigned char>(c));
    text_ += '"';
    return *this;
}

std::string SqlArray::take()
{
    text_ += '}';
    return std::move(text_);
}

std::string sql_array(std::span<const std::string> values)
{
    SqlArray array;
    for (const std::string& value : values)
        array.add(value);
    return array.take();
}

std::string sql_array(std::span<const std::optional<std::string>> values)
{
    SqlArray array;
    for (const std::optional<std::string>& value : values) {
        if (value)
            array.add(*value);
        else
            array.add_null();
    }
    return array.take();
}

std::string sql_array(std::span<const std::int64_t> values)
{
    SqlArray array;
    for (const std::int64_t value : values)
        array.add(value);
    return array.take();
}

std::string sql_array(std::span<const double> values)
{
    SqlArray array;
    for (const double value : values)
        array.add(value);
    return array.take();
}

} // namespace fathom::server
