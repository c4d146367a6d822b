#include "cli/profile/program_profile.hpp"
#include "tests/fuzz/fuzz_input.hpp"

/// Whatever a profile holds, parse_program_profile() reads what a prediction can use, or refuses it.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    const fathom::Result<fathom::Json> json = fathom::parse_json(fathom::fuzz::text_of(data, size));
    if (!json) return 0;
    const fathom::Result<fathom::cli::ProgramProfile> profile = fathom::cli::parse_program_profile(*json);
    if (!profile) {
        fathom::fuzz::check_refusal(profile.error());
        return 0;
    }
    FATHOM_ASSERT(profile->wall_s >= 0 && profile->parallelism > 0);
    FATHOM_ASSERT(profile->waiting_share >= 0 && profile->waiting_share <= 1);
    return 0;
}
