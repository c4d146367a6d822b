#include "tests/bench/bare_operators.hpp"

#include <random>

namespace fathom::bench {

std::vector<double> random_vector(std::size_t size)
{
    std::minstd_rand random(1); // NOLINT: the values do not matter
    std::uniform_real_distribution<double> uniform(-1, 1);
    std::vector<double> values(size);
    for (double& value : values)
        value = uniform(random);
    return values;
}

std::unique_ptr<BareOperator> make_bare_operator(std::string_view id)
{
    if (id == "trigonometric") return make_bare_trigonometric();
    if (std::unique_ptr<BareOperator> made = make_bare_library_call(id)) return made;
    if (std::unique_ptr<BareOperator> made = make_bare_kernel(id)) return made;
    if (std::unique_ptr<BareOperator> made = make_bare_sparse(id)) return made;
    return make_bare_transfer(id);
}

} // namespace fathom::bench
