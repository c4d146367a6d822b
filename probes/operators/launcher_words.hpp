#pragma once

#include <string>
#include <string_view>
#include <vector>

/// How programs are found that start processes.
namespace fathom::probes {

/// A variable of this process's environment; empty where there is none.
std::string environment_text(const char* name);

/// The path of a program as shells find it; empty when there is none.
std::string find_in_path(const std::string& name);

/// The path of a program that lies beside this one; empty when there is none.
std::string find_beside(std::string_view name);

/// The words of a launcher, the first by its path: what the variable says (words with spaces between them), else
/// `usual`. Empty when there is no such program.
std::vector<std::string> launcher_words(const char* variable, std::vector<std::string> usual);

} // namespace fathom::probes
