#pragma once

#include "core/base/log.hpp"

namespace fathom::server {

/// log(), once what this thread runs in Database has been committed, and not where it is rolled back: for lines that
/// say what a transaction did, whose work may run again. Outside of a database's work: at once. Keeps copies of the
/// texts.
void log_after_commit(LogLevel level, std::string_view event, std::initializer_list<LogField> fields);

} // namespace fathom::server
