#include "core/decide/prediction/speedup.hpp"
#include "tests/fuzz/fuzz_input.hpp"

#include <cmath>

/// Whatever is asked, parse_speedup_question() reads a question that has an answer, or refuses it.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    const fathom::Result<fathom::Json> json = fathom::parse_json(fathom::fuzz::text_of(data, size));
    if (!json) return 0;
    const fathom::Result<fathom::SpeedupQuestion> question = fathom::parse_speedup_question(*json);
    if (!question) {
        fathom::fuzz::check_refusal(question.error());
        return 0;
    }
    const fathom::SpeedupAnswer answer = fathom::predict_speedup(*question);
    FATHOM_ASSERT(std::isfinite(answer.cpu_s) && std::isfinite(answer.gpu_s) && std::isfinite(answer.speedup));
    FATHOM_ASSERT(answer.cpu_s >= 0 && answer.gpu_s >= 0 && answer.speedup >= 0);
    return 0;
}
