#include "tests/bench/peer_programs.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <sstream>
#include <sys/wait.h>

namespace fathom::bench {
namespace {

constexpr std::int64_t kTriadSize = 20'000'000;
constexpr std::int64_t kReductionSize = 1'000'000;

/// mpirun refuses root unless told twice, and binds processes to cores of its own choice unless told not to.
constexpr const char* kMpirun = "OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OPENBLAS_NUM_THREADS=1 "
                                "OMP_NUM_THREADS=1 mpirun --bind-to none --oversubscribe";

/// What a shell command prints.
Result<std::string> output_of(const std::string& command)
{
    std::FILE* const pipe = popen((command + " 2>&1").c_str(), "r");
    if (pipe == nullptr) return Error{Errc::kUnavailable, "cannot start a shell"};
    std::string text;
    std::array<char, 4096> part{};
    for (std::size_t got = 1; got > 0;) {
        got = std::fread(part.data(), 1, part.size(), pipe);
        text.append(part.data(), got);
    }
    const int status = pclose(pipe);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return text;
    return Error{Errc::kUnavailable, command + "\n" + text.substr(text.size() > 500 ? text.size() - 500 : 0)};
}

/// The input of HPC Challenge: the size of the matrix that its Linpack part factorizes, from which it takes the sizes
/// of all parts. The other lines tune Linpack, which is not compared. It reads lines by their number.
std::string hpcc_input()
{
    return "operator_bench\n\nHPL.out\n8\n"
           "1\n2500\n"           // one matrix size
           "1\n128\n0\n"         // one block size
           "1\n1\n1\n16.0\n"     // a grid of one process; a threshold for its check
           "1\n2\n1\n4\n1\n2\n"  // how panels are factorized
           "1\n1\n1\n1\n1\n1\n"  // recursion, broadcast, look-ahead
           "2\n64\n0\n0\n1\n8\n" // swapping, layout, alignment
           "\n0\n0\n0\n0\n";     // no more sizes for matrix transposition
}

/// `name=value` lines.
std::map<std::string, double> hpcc_summary(const std::filesystem::path& file)
{
    std::map<std::string, double> summary;
    std::ifstream text(file);
    for (std::string line; std::getline(text, line);) {
        if (const std::size_t equals = line.find('='); equals != std::string::npos)
            summary[line.substr(0, equals)] = std::strtod(line.c_str() + equals + 1, nullptr);
    }
    return summary;
}

Result<std::vector<PeerFigure>> run_hpcc()
{
    std::string pattern = (std::filesystem::temp_directory_path() / "hpcc-XXXXXX").string();
    const std::filesystem::path folder = mkdtemp(pattern.data());
    std::ofstream(folder / "hpccinf.txt") << hpcc_input();
    const Result<std::string> output = output_of(fmt::format("cd {} && {} -np 1 hpcc", folder.string(), kMpirun));
    const std::map<std::string, double> found = hpcc_summary(folder / "hpccoutf.txt");
    std::filesystem::remove_all(folder);
    if (!output) return output.error();
    for (const char* const name : {"DGEMM_N", "SingleDGEMM_Gflops", "FFT_N", "SingleFFT_Gflops", "STREAM_VectorSize",
                                   "SingleSTREAM_Triad", "RandomAccess_N", "SingleRandomAccess_GUPs"}) {
        const auto value = found.find(name);
        if (value == found.end() || !(value->second > 0))
            return Error{Errc::kUnavailable, fmt::format("hpcc reports no {}: {}", name, *output)};
    }
    const double m = found.at("DGEMM_N");
    const double n = found.at("FFT_N");
    const double size = found.at("STREAM_VectorSize");
    const double words = found.at("RandomAccess_N");
    const double update_s = 1e-9 / found.at("SingleRandomAccess_GUPs");
    const double lines = words / 8; // of 64 bytes: as much memory
    const auto whole = [](double value) { return static_cast<std::int64_t>(value); };
    return std::vector<PeerFigure>{
        {"dgemm",
         {{"m", whole(m)}, {"n", whole(m)}, {"k", whole(m)}},
         2e-9 * m * m * m / found.at("SingleDGEMM_Gflops")},
        {"fft1d", {{"n", whole(n)}}, 5e-9 * n * std::log2(n) / found.at("SingleFFT_Gflops")},
        {"stream_triad", {{"n", whole(size)}}, 24e-9 * size / found.at("SingleSTREAM_Triad"), 10},
        {"random_access", {{"n", whole(lines)}}, lines * update_s},
        {.operator_id = "random_updates", .parameters = {}, .seconds = 4 * words * update_s, .make_loop = [words] {
             return make_random_updates(static_cast<std::size_t>(words));
         }}};
}

Result<std::vector<PeerFigure>> run_likwid()
{
    // Ordinary stores, as a compiled loop has them.
    const Result<std::string> output = output_of(
        fmt::format("likwid-bench -t {} -w S0:{}MB:1", __builtin_cpu_supports("avx") ? "stream_avx" : "stream_sse",
                    24 * kTriadSize / 1'000'000));
    if (!output) return output.error();
    const std::size_t place = output->find("MByte/s:");
    const double rate = place == std::string::npos ? 0 : std::strtod(output->c_str() + place + 8, nullptr) * 1e6;
    if (!(rate > 0)) return Error{Errc::kUnavailable, "likwid-bench reports no MByte/s: " + *output};
    return std::vector<PeerFigure>{
        {"stream_triad", {{"n", kTriadSize}}, 24.0 * static_cast<double>(kTriadSize) / rate}};
}

Result<std::vector<PeerFigure>> run_allreduce(const std::string& program)
{
    const Result<std::string> output =
        output_of(fmt::format("{} -np 2 {} {} 0.2 2>/dev/null", kMpirun, program, kReductionSize));
    if (!output) return output.error();
    const double seconds = std::strtod(output->c_str(), nullptr);
    if (!(seconds > 0)) return Error{Errc::kUnavailable, program + " reports no time: " + *output};
    return std::vector<PeerFigure>{{"reduction", {{"n", kReductionSize}}, seconds}};
}

} // namespace

std::vector<PeerProgram> peer_programs(const std::string& allreduce)
{
    std::vector<PeerProgram> programs{{"hpcc", 1, run_hpcc}};
#if defined(__x86_64__)
    programs.push_back({"likwid", 1, run_likwid});
#endif
    if (!allreduce.empty()) programs.push_back({"mpi", 2, [allreduce] { return run_allreduce(allreduce); }});
    return programs;
}

} // namespace fathom::bench
