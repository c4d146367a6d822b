#include "core/base/id.hpp"
#include "tests/fuzz/fuzz_input.hpp"

/// An id is what the server gives out: a prefix, and 26 characters that sort by time.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    const std::string_view text = fathom::fuzz::text_of(data, size);
    const std::optional<fathom::JobId> job = fathom::JobId::parse(text);
    const std::optional<fathom::AttemptId> attempt = fathom::AttemptId::parse(text);
    FATHOM_ASSERT(!job || !attempt);
    if (job) FATHOM_ASSERT(job->value == text && text.size() == 30 && text <= "job_7ZZZZZZZZZZZZZZZZZZZZZZZZZ");
    if (attempt) FATHOM_ASSERT(attempt->value == text && fathom::is_ulid(text.substr(4)));
    FATHOM_ASSERT(!fathom::is_ulid(text) ||
                  (text.size() == 26 && text.find_first_of("ILOU_") == std::string_view::npos));
    return 0;
}
