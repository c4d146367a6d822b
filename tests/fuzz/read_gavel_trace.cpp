#include "tests/fuzz/workload_checks.hpp"

#include <filesystem>
#include <fstream>

/// Whatever a job list of Gavel holds, read_gavel_trace() reads jobs of the types that were measured, or refuses it.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    static const std::filesystem::path kBeside = std::filesystem::temp_directory_path() / "fathom-fuzz-gavel";
    static const bool kIsThere = [] {
        std::filesystem::create_directories(kBeside);
        std::ofstream(kBeside / "solo.csv") << "source,gpu,consolidated,model,batch_size,scale_factor,steps_per_s\n"
                                               "sim,k80,1,ResNet-18,16,1,4.79\nsim,v100,1,ResNet-18,16,1,9.5\n"
                                               "sim,v100,1,ResNet-18,16,2,18.2\n";
        return true;
    }();
    FATHOM_ASSERT(kIsThere);
    std::istringstream stream{std::string(fathom::fuzz::text_of(data, size))};
    fathom::fuzz::check_workload_input(
        fathom::simulation::read_gavel_trace(stream, kBeside / "physical_traces.csv", {}));
    return 0;
}
