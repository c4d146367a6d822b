#include "probes/profile/interposer/call.hpp"
#include "probes/profile/interposer/objects.hpp"

namespace fathom::profile {
namespace {

/// fftw_iodim and fftw_iodim64: size and two strides.
constexpr std::size_t kIodimFields = 3;

/// Gathers edges; those beyond the third are folded into it, so that the number of points stays.
class Sizes {
  public:
    Sizes()
    {
        for (std::size_t i = 0; i < 3; ++i)
            object_.sizes[dimension::kEdge + i] = 1;
        object_.sizes[dimension::kBatch] = 1;
    }
    void add_edge(std::int64_t points)
    {
        const std::size_t at = edges_ < 3 ? edges_ : 2;
        object_.sizes[dimension::kEdge + at] *= points;
        ++edges_;
        object_.sizes[dimension::kRank] = edges_ < 3 ? static_cast<std::int64_t>(edges_) : 3;
    }
    void multiply_batch(std::int64_t problems) { object_.sizes[dimension::kBatch] *= problems; }
    Object& object() { return object_; }

  private:
    Object object_{};
    std::size_t edges_ = 0;
};

constexpr std::int64_t kMaxRank = 16; // of FFTW's interfaces; more is garbage

std::int64_t bounded_rank(std::int64_t rank)
{
    return rank < 0 ? 0 : rank > kMaxRank ? kMaxRank : rank;
}

/// `rank` numbers in an array, every `step`-th.
template <class Use>
void each_number(const void* array, bool is_64_bit, std::int64_t rank, std::size_t step, Use use)
{
    for (std::int64_t i = 0; i < bounded_rank(rank); ++i) {
        const std::size_t at = static_cast<std::size_t>(i) * step;
        use(is_64_bit ? Arguments::read<std::int64_t>(array, at) : Arguments::read<std::int32_t>(array, at));
    }
}

/// Reads the sizes of a planner's arguments from position `first` on.
/// @return the position after them, where the buffers begin.
std::size_t read_sizes(char layout, const Arguments& arguments, std::size_t first, Sizes& sizes)
{
    const auto add_edge = [&](std::int64_t points) { sizes.add_edge(points); };
    const auto multiply = [&](std::int64_t problems) { sizes.multiply_batch(problems); };
    switch (layout) {
    case '1':
    case '2':
    case '3': {
        const std::size_t rank = static_cast<std::size_t>(layout - '0');
        for (std::size_t i = 0; i < rank; ++i)
            sizes.add_edge(arguments.integer(first + i));
        return first + rank;
    }
    case 'r':
        each_number(arguments.pointer(first + 1), false, arguments.integer(first), 1, add_edge);
        return first + 2;
    case 'm':
        each_number(arguments.pointer(first + 1), false, arguments.integer(first), 1, add_edge);
        sizes.multiply_batch(arguments.integer(first + 2));
        return first + 3;
    default: // 'g' and 'G'
        each_number(arguments.pointer(first + 1), layout == 'G', arguments.integer(first), kIodimFields, add_edge);
        each_number(arguments.pointer(first + 3), layout == 'G', arguments.integer(first + 2), kIodimFields, multiply);
        return first + 4;
    }
}

} // namespace

void note_fftw_plan(const SymbolInfo& info, const CallFrame& frame)
{
    const Arguments arguments(frame, info.interface);
    const char layout = info.signature[0];
    Sizes sizes;
    // Fortran's planners store the plan in their first argument.
    const std::size_t buffers = read_sizes(layout, arguments, arguments.is_fortran() ? 1 : 0, sizes);
    const std::uint64_t plan =
        arguments.is_fortran() ? Arguments::read<std::uint64_t>(arguments.pointer(0)) : frame.result;
    if (plan == 0) return;
    Object& object = sizes.object();
    object.sizes[dimension::kTransform] = info.signature[1];
    object.input = arguments.pointer(buffers);
    object.output = arguments.pointer(layout == 'm' ? buffers + 4 : buffers + 1);
    remember_object(plan, object);
}

/// cufftPlan…(plan*, …, type, batch) and cufftMakePlan…(plan, …, type, batch, …).
void note_cufft_plan(const SymbolInfo& info, const CallFrame& frame)
{
    if (static_cast<std::uint32_t>(frame.result) != 0) return;
    const Arguments arguments(frame, info.interface);
    const bool makes = info.signature[0] == 'v';
    const char layout = info.signature[makes ? 1 : 0];
    const std::uint64_t plan =
        makes ? arguments.word(0) : static_cast<std::uint64_t>(Arguments::read<std::int32_t>(arguments.pointer(0)));
    Sizes sizes;
    switch (layout) {
    case '1':
        sizes.add_edge(static_cast<std::int32_t>(arguments.word(1)));
        sizes.multiply_batch(static_cast<std::int32_t>(arguments.word(3)));
        break;
    case '2':
    case '3':
        for (std::size_t i = 1; i <= static_cast<std::size_t>(layout - '0'); ++i)
            sizes.add_edge(static_cast<std::int32_t>(arguments.word(i)));
        break;
    default: { // rank, n, three arguments a side, type (cufftXt: two types), batch
        const std::size_t batch = layout == 'x' ? 11 : 10;
        each_number(arguments.pointer(2), info.interface == Interface::kC64,
                    static_cast<std::int32_t>(arguments.word(1)), 1,
                    [&](std::int64_t points) { sizes.add_edge(points); });
        sizes.multiply_batch(info.interface == Interface::kC64 ? static_cast<std::int64_t>(arguments.word(batch))
                                                               : static_cast<std::int32_t>(arguments.word(batch)));
        break;
    }
    }
    remember_object(number_key(plan), sizes.object());
}

void decode_fft(const SymbolInfo& info, const CallFrame& frame, Call& call)
{
    const Arguments arguments(frame, info.interface);
    Object object{};
    if (info.action == Action::kCufftExecute) {
        if (!find_object(number_key(arguments.word(0)), object)) return;
        object.sizes[dimension::kTransform] = info.signature[0];
        object.input = arguments.pointer(1);
        object.output = arguments.pointer(2);
    } else {
        const std::uint64_t plan =
            arguments.is_fortran() ? Arguments::read<std::uint64_t>(arguments.pointer(0)) : arguments.word(0);
        if (!find_object(plan, object)) return;
        for (std::size_t i = 0; info.signature[i] != '\0'; ++i) {
            if (info.signature[i] == 'A') object.input = arguments.pointer(i + 1);
            if (info.signature[i] == 'C') object.output = arguments.pointer(i + 1);
        }
    }
    std::memcpy(call.dimensions, object.sizes, sizeof(call.dimensions));
    call.read[0] = object.input;
    call.written[0] = object.output;
}

} // namespace fathom::profile
