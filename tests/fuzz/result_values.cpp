#include "probes/upload/result_values.hpp"

#include "tests/fuzz/fuzz_input.hpp"

#include <cstring>

/// Whatever an uploaded operator leaves as its result, it is digested, spoiled and compared.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    if (size < 1) return 0;
    const auto kind = static_cast<fathom::probes::ResultKind>(1 + data[0] % 3);
    const std::size_t count = (size - 1) / fathom::probes::element_bytes(kind);
    std::vector<std::byte> bytes(count * fathom::probes::element_bytes(kind));
    if (bytes.empty()) return 0;
    std::memcpy(bytes.data(), data + 1, bytes.size());
    fathom::probes::ResultValues values(kind, bytes);
    FATHOM_ASSERT(values.count() == count && values.checksum().size() == 16);
    FATHOM_ASSERT(values.checksum() == values.checksum() && values.nonsense_left() <= count);
    values.fill_with_nonsense();
    FATHOM_ASSERT(values.nonsense_left() == (kind == fathom::probes::ResultKind::kBytes ? 0 : count));
    return 0;
}
