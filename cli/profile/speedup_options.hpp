#pragma once

#include "cli/client/command_line.hpp"
#include "core/base/json_reader.hpp"

#include <memory>
#include <string>
#include <vector>

namespace fathom::cli {

/// Every field of the question by its name in REST; the flag is the name with dashes.
struct QuestionOptions {
    Json question = Json::object();
    std::int64_t points = 21;
    std::vector<std::string> networks; ///< of curves, "NAME=GB/S"; empty: the question's own
};

/// A flag for a number of the question: the field's name with dashes.
void add_number(CLI::App& verb, const std::shared_ptr<QuestionOptions>& options, const std::string& field,
                const std::string& description);
/// The flags for machines, network, device and threshold, and `--center`, which has them.
void add_machine_options(CLI::App& verb, const std::shared_ptr<QuestionOptions>& options);

/// The error of a question with flags in place of fields: people typed those.
Error with_flags(Error error);

} // namespace fathom::cli
