#pragma once

#include "core/model/probe_task.hpp"
#include "server/store/column.hpp"

#include <string>

namespace fathom::server {

/// The document of a stored probe task. One that this release cannot read, as after a return to an older one, is a task
/// of no operators, which nothing can be measured with: it fails by itself, and keeps neither its center's other
/// reports nor others' jobs waiting. It is logged.
ProbeTask read_task_document(const std::string& task_id, const pqxx::field& document);

} // namespace fathom::server
