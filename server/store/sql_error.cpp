#include "server/store/sql_error.hpp"

#include <pqxx/except>

#include <string_view>

namespace fathom::server {
namespace {

constexpr const char* kNotAvailable = "the database is not available; try again";

/// libpq's messages end in a newline and can have several lines; one is enough for a log field.
std::string first_line(std::string_view text)
{
    const std::size_t end = text.find('\n');
    return std::string(text.substr(0, end));
}

SqlFailure classify_sqlstate(const pqxx::sql_error& e)
{
    const std::string& state = e.sqlstate();
    const std::string message = first_line(e.what());
    const std::string_view group = std::string_view(state).substr(0, 2);
    if (state == "57014") return {Error{Errc::kDeadline, "the database statement took too long"}, false, false, state};
    if (state == "55P03") return {Error{Errc::kConflict, "the row is locked; try again"}, false, false, state};
    // 57P01–57P03: shut down or starting. 25006: read-only, an old primary after a failover. 08: connection.
    if (state.starts_with("57P0") || state == "25006" || group == "08")
        return {Error{Errc::kUnavailable, kNotAvailable}, false, true, state, message};
    if (group == "53") // out of memory, disk or connections
        return {Error{Errc::kUnavailable, "the database is out of resources"}, false, false, state, message};
    return {Error{Errc::kInternal, message}, false, false, state, message};
}

} // namespace

SqlFailure classify_sql_exception(const std::exception_ptr& thrown)
{
    try {
        std::rethrow_exception(thrown);
    } catch (const pqxx::in_doubt_error&) {
        return {Error{Errc::kUnavailable, "the connection broke during COMMIT; whether it took place is not known"},
                false, true};
    } catch (const pqxx::broken_connection& e) {
        return {Error{Errc::kUnavailable, kNotAvailable}, false, true, {}, first_line(e.what())};
    } catch (const pqxx::serialization_failure& e) {
        return {Error{Errc::kConflict, "others changed the same data; try again"}, true, false, "40001"};
    } catch (const pqxx::deadlock_detected& e) {
        return {Error{Errc::kConflict, "others changed the same data; try again"}, true, false, "40P01"};
    } catch (const pqxx::unique_violation& e) {
        return {Error{Errc::kConflict, "something like this exists already"}, false, false, e.sqlstate(),
                first_line(e.what())};
    } catch (const pqxx::sql_error& e) {
        return classify_sqlstate(e);
    } catch (const std::exception& e) {
        return {Error{Errc::kInternal, first_line(e.what())}, false, false, {}, first_line(e.what())};
    } catch (...) {
        return {Error{Errc::kInternal, "an exception of unknown type"}};
    }
}

} // namespace fathom::server
