#include "core/model/operator_package.hpp"
#include "tests/fuzz/fuzz_input.hpp"

/// Whatever is uploaded as an object, machine_of_object() says for which machine it is, or what it is instead.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    const std::string_view object = fathom::fuzz::text_of(data, size);
    const fathom::Result<std::string> machine = fathom::machine_of_object(object);
    if (!machine) {
        fathom::fuzz::check_refusal(machine.error());
        return 0;
    }
    FATHOM_ASSERT(object.starts_with("\x7f"
                                     "ELF") &&
                  object.size() <= fathom::kMaxObjectBytes && !machine->empty());
    return 0;
}
