#include "core/schedule/cycle_replay.hpp"
#include "tests/core/schedule/random_cycle.hpp"
#include "tests/core/schedule/recorded_cycle.hpp"

#include <filesystem>
#include <fstream>
#include <iostream>

namespace fathom {
namespace {

bool record(std::uint64_t seed, const std::filesystem::path& path)
{
    // Of more than 64 unit types most are never looked at closely.
    const test::RandomCycle cycle = test::CycleMaker(500 + seed).make(seed % 5 == 4 ? 80 : 0);
    test::RecordedCycle recorded;
    recorded.cycle = write_cycle(cycle.moment);
    recorded.plan = write_plan(record_of(decide_cycle(cycle.moment, cycle.catalog)));
    write_catalog(cycle.catalog.unit_types, cycle.catalog.knowledge, *cycle.catalog.loads,
                  [&](std::string part) { recorded.parts.push_back(std::move(part)); });
    ByteWriter writer;
    test::fields(writer, recorded);
    std::ofstream file(path, std::ios::binary);
    file << writer.take();
    return file.flush().good();
}

} // namespace
} // namespace fathom

/// Writes the cycles of tests/data/cycles anew: recorded_cycles_test.cpp.
int main(int argc, char** argv)
{
    if (argc != 2) {
        std::cerr << "usage: record_cycles FOLDER\n";
        return 2;
    }
    constexpr std::uint64_t kCycles = 10;
    std::filesystem::create_directories(argv[1]);
    for (std::uint64_t seed = 0; seed < kCycles; ++seed) {
        const std::filesystem::path path = std::filesystem::path(argv[1]) / (std::to_string(seed) + ".cycle");
        if (!fathom::record(seed, path)) {
            std::cerr << "record_cycles: cannot write " << path << "\n";
            return 1;
        }
    }
    return 0;
}
