#include "probes/profile/own_code.hpp"

#include "core/base/utf8.hpp"
#include "probes/profile/defined_symbols.hpp"
#include "probes/profile/program_counters.hpp"
#include "probes/profile/routine_work.hpp"

#include <algorithm>
#include <filesystem>
#include <set>
#include <tuple>
#include <utility>

namespace fathom::profile {
namespace {

constexpr std::size_t kMaxLoops = 16;
constexpr std::size_t kMaxLoopsOfFile = 64; // that are looked at: programs may have many small ones
constexpr double kSmallestLoop = 0.005;     // as of operators: less is not worth a probe's time
constexpr std::uint64_t kMinSamples = 20;

std::vector<OperatorCode> code_of(const std::vector<OperatorManifest>& library)
{
    std::vector<OperatorCode> known;
    for (const OperatorCode& one : operator_code()) {
        if (std::any_of(library.begin(), library.end(),
                        [&](const OperatorManifest& manifest) { return manifest.id == one.operator_id; }))
            known.push_back(one);
    }
    return known;
}

/// "mpi/MPI_Allreduce" and "fftw_execute/1d" are the functions' names with what tells their kinds apart.
std::set<std::string, std::less<>> names_of(const std::vector<ObservedCalls>& called)
{
    std::set<std::string, std::less<>> names;
    for (const ObservedCalls& calls : called) {
        const std::string& symbol = calls.operation.symbol;
        const std::size_t slash = symbol.find('/');
        names.insert(symbol.substr(0, slash));
        if (slash != std::string::npos) names.insert(symbol.substr(slash + 1));
    }
    return names;
}

ReadCode reader_of(const SampledFile& file)
{
    return [&file](std::uint64_t offset, std::size_t bytes) { return file.read(offset, bytes); };
}

std::uint64_t samples_of(const SampledFile& file)
{
    std::uint64_t sum = 0;
    for (const auto& [place, count] : file.samples())
        sum += count;
    return sum;
}

/// A file's name without folders, as it can be shown and written as JSON: programs may have any bytes in theirs.
std::string shown_name(const std::string& path)
{
    std::string name = std::filesystem::path(path).filename().string();
    const bool is_text = is_utf8(name);
    for (char& one : name) {
        const auto byte = static_cast<unsigned char>(one);
        if (byte < ' ' || byte == 0x7F || (byte > 0x7F && !is_text)) one = '?';
    }
    return name;
}

/// The files that a loop worth a probe can be in, those with most samples first; the program's own.
std::vector<const SampledFile*> hottest(std::vector<const SampledFile*> files, double fewest_samples)
{
    constexpr std::size_t kMaxFilesOfLoops = 16; // taking all of a file's code apart may last a fifth of a second
    std::erase_if(files, [&](const SampledFile* file) {
        return static_cast<double>(samples_of(*file)) < fewest_samples || is_of_another_processor(reader_of(*file));
    });
    std::sort(files.begin(), files.end(), [](const SampledFile* a, const SampledFile* b) {
        return std::tuple(samples_of(*b), a->path()) < std::tuple(samples_of(*a), b->path());
    });
    if (files.size() > kMaxFilesOfLoops) files.resize(kMaxFilesOfLoops);
    return files;
}

OwnLoop match(const std::string& file, const HotLoop& found, double share, const std::vector<OperatorCode>& known)
{
    OwnLoop loop{file, found.begin, share, found.mix, "", 0, "", 0};
    if (found.mix.waits > 0) return loop;
    const CodeMatch nearest = nearest_operator(found.mix, known);
    loop.similarity = nearest.similarity;
    if (nearest.similarity >= kMinCodeSimilarity) loop.operator_id = nearest.operator_id;
    std::vector<OperatorCode> everywhere = known;
    std::erase_if(everywhere, [](const OperatorCode& one) { return !one.is_on_devices; });
    const CodeMatch stand_in = nearest_operator(found.mix, everywhere);
    loop.stand_in_similarity = stand_in.similarity;
    if (stand_in.similarity >= kMinCodeSimilarity) loop.stand_in = stand_in.operator_id;
    return loop;
}

} // namespace

OwnCode find_own_code(const ProgramCounters& counters, double running, double cpu_s,
                      const std::vector<ObservedCalls>& called, const std::vector<OperatorManifest>& library)
{
    OwnCode code{{}, running, counters.why_none()};
    if (running < kSmallestLoop || !code.why_none.empty()) return code;
    const std::set<std::string, std::less<>> names = names_of(called);
    std::vector<const SampledFile*> own;
    std::uint64_t total = counters.total();
    for (const SampledFile& file : counters.files()) {
        if (defines_any(reader_of(file), names))
            total -= samples_of(file);
        else
            own.push_back(&file);
    }
    if (total < kMinSamples) {
        code.why_none = "too little was seen of the program's own code";
        return code;
    }
    const Disassembler disassembler;
    const std::vector<OperatorCode> known = code_of(library);
    const double share_of_sample = running / static_cast<double>(total + counters.unseen(cpu_s));
    for (const SampledFile* file : hottest(std::move(own), kSmallestLoop / share_of_sample)) {
        const std::string name = shown_name(file->path());
        for (const HotLoop& found : find_loops(file->samples(), reader_of(*file), disassembler, kMaxLoopsOfFile)) {
            const double share = share_of_sample * static_cast<double>(found.samples);
            if (share >= kSmallestLoop) code.loops.push_back(match(name, found, share, known));
        }
    }
    std::sort(code.loops.begin(), code.loops.end(), [](const OwnLoop& a, const OwnLoop& b) {
        return std::tie(b.share, a.file, a.offset) < std::tie(a.share, b.file, b.offset);
    });
    if (code.loops.size() > kMaxLoops) code.loops.resize(kMaxLoops);
    for (const OwnLoop& loop : code.loops)
        code.others -= loop.share;
    code.others = std::max(0.0, code.others);
    return code;
}

} // namespace fathom::profile
