#pragma once

#include "probes/profile/disassembly.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace fathom::profile {

/// How often a program was seen at which place of a file's code: samples by offset in the file.
using CodeSamples = std::map<std::uint64_t, std::uint64_t>;

/// A loop, or straight code, in which samples lie.
struct HotLoop {
    std::uint64_t begin{}; ///< offset in the file
    std::uint64_t end{};   ///< behind its last instruction
    std::uint64_t samples{};
    CodeMix mix;
};

/// Reads so many bytes of the file from an offset on, or as many as there are.
using ReadCode = std::function<std::string(std::uint64_t offset, std::size_t bytes)>;

/// The loops in which a file's samples lie, hottest first, at most `most`. A sample belongs to the smallest loop
/// around it: from the target of a backward branch to that branch; where there is none, to the code from it up to where
/// the processor goes elsewhere. Loops that begin at one place are one. Loops longer than 4 KiB are not seen as such.
std::vector<HotLoop> find_loops(const CodeSamples& samples, const ReadCode& read, const Disassembler& disassembler,
                                std::size_t most);

} // namespace fathom::profile
