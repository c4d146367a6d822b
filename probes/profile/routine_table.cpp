#include "probes/profile/routine_table.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace fathom::profile {
namespace {

double smaller(const Sizes& s)
{
    return std::min(s.m, s.n);
}
double larger(const Sizes& s)
{
    return std::max(s.m, s.n);
}
double cube(double x)
{
    return x * x * x;
}

// The letters of the signature are the parameters' names for the routines whose operators use them; those that no
// operator names get longer ones (`parameter_names`).
constexpr Routine kRoutines[] = {
    {"axpy", "svvv", [](const Sizes& s) { return 2 * s.n; }, [](const Sizes& s) { return 3 * s.n; }},
    {"copy", "vv", [](const Sizes&) { return 0.0; }, [](const Sizes& s) { return 2 * s.n; }},
    {"swap", "vv", [](const Sizes&) { return 0.0; }, [](const Sizes& s) { return 4 * s.n; }},
    {"scal", "svv", [](const Sizes& s) { return s.n; }, [](const Sizes& s) { return 2 * s.n; }},
    {"dot", "vvs", [](const Sizes& s) { return 2 * s.n; }, [](const Sizes& s) { return 2 * s.n; }},
    {"nrm2", "vs", [](const Sizes& s) { return 2 * s.n; }, [](const Sizes& s) { return s.n; }},
    {"asum", "vs", [](const Sizes& s) { return s.n; }, [](const Sizes& s) { return s.n; }},
    {"amax", "vs", [](const Sizes& s) { return s.n; }, [](const Sizes& s) { return s.n; }},
    {"rot", "vvvv", [](const Sizes& s) { return 6 * s.n; }, [](const Sizes& s) { return 4 * s.n; }},
    {"gemv", "mvv", [](const Sizes& s) { return 2 * s.m * s.n; }, [](const Sizes& s) { return s.m * s.n + s.m + s.n; }},
    {"gbmv", "mvv", [](const Sizes& s) { return 2 * smaller(s); }, [](const Sizes& s) { return 3 * smaller(s); }},
    {"symv", "mvv", [](const Sizes& s) { return 2 * s.n * s.n; }, [](const Sizes& s) { return s.n * s.n / 2; }},
    {"hemv", "mvv", [](const Sizes& s) { return 2 * s.n * s.n; }, [](const Sizes& s) { return s.n * s.n / 2; }},
    {"spmv", "mvv", [](const Sizes& s) { return 2 * s.n * s.n; }, [](const Sizes& s) { return s.n * s.n / 2; }},
    {"hpmv", "mvv", [](const Sizes& s) { return 2 * s.n * s.n; }, [](const Sizes& s) { return s.n * s.n / 2; }},
    {"trmv", "mvv", [](const Sizes& s) { return s.n * s.n; }, [](const Sizes& s) { return s.n * s.n / 2; }},
    {"trsv", "mvv", [](const Sizes& s) { return s.n * s.n; }, [](const Sizes& s) { return s.n * s.n / 2; }},
    {"ger", "vvm", [](const Sizes& s) { return 2 * s.m * s.n; }, [](const Sizes& s) { return 2 * s.m * s.n; }},
    {"geru", "vvm", [](const Sizes& s) { return 2 * s.m * s.n; }, [](const Sizes& s) { return 2 * s.m * s.n; }},
    {"gerc", "vvm", [](const Sizes& s) { return 2 * s.m * s.n; }, [](const Sizes& s) { return 2 * s.m * s.n; }},
    {"syr", "vm", [](const Sizes& s) { return s.n * s.n; }, [](const Sizes& s) { return s.n * s.n; }},
    {"her", "vm", [](const Sizes& s) { return s.n * s.n; }, [](const Sizes& s) { return s.n * s.n; }},
    {"syr2", "vvm", [](const Sizes& s) { return 2 * s.n * s.n; }, [](const Sizes& s) { return s.n * s.n; }},
    {"her2", "vvm", [](const Sizes& s) { return 2 * s.n * s.n; }, [](const Sizes& s) { return s.n * s.n; }},
    {"gemm", "mmm", [](const Sizes& s) { return 2 * s.m * s.n * s.k; },
     [](const Sizes& s) { return s.m * s.k + s.k * s.n + s.m * s.n; }},
    {"gemm3m", "mmm", [](const Sizes& s) { return 2 * s.m * s.n * s.k; },
     [](const Sizes& s) { return s.m * s.k + s.k * s.n + s.m * s.n; }},
    {"gemmt", "mmm", [](const Sizes& s) { return s.n * s.n * s.k; },
     [](const Sizes& s) { return 2 * s.n * s.k + s.n * s.n / 2; }},
    {"symm", "mmm", [](const Sizes& s) { return 2 * s.m * s.n * s.k; },
     [](const Sizes& s) { return s.k * s.k / 2 + 2 * s.m * s.n; }},
    {"hemm", "mmm", [](const Sizes& s) { return 2 * s.m * s.n * s.k; },
     [](const Sizes& s) { return s.k * s.k / 2 + 2 * s.m * s.n; }},
    {"syrk", "mmm", [](const Sizes& s) { return s.n * s.n * s.k; },
     [](const Sizes& s) { return s.n * s.k + s.n * s.n / 2; }},
    {"herk", "mmm", [](const Sizes& s) { return s.n * s.n * s.k; },
     [](const Sizes& s) { return s.n * s.k + s.n * s.n / 2; }},
    {"syr2k", "mmm", [](const Sizes& s) { return 2 * s.n * s.n * s.k; },
     [](const Sizes& s) { return 2 * s.n * s.k + s.n * s.n / 2; }},
    {"her2k", "mmm", [](const Sizes& s) { return 2 * s.n * s.n * s.k; },
     [](const Sizes& s) { return 2 * s.n * s.k + s.n * s.n / 2; }},
    {"trmm", "mmm", [](const Sizes& s) { return s.m * s.n * s.k; },
     [](const Sizes& s) { return s.k * s.k / 2 + 2 * s.m * s.n; }},
    {"trsm", "mmm", [](const Sizes& s) { return s.m * s.n * s.k; },
     [](const Sizes& s) { return s.k * s.k / 2 + 2 * s.m * s.n; }},
    {"gesv", "mmm", [](const Sizes& s) { return 2 * cube(s.n) / 3 + 2 * s.n * s.n * s.r; },
     [](const Sizes& s) { return 2 * s.n * s.n + 2 * s.n * s.r; }},
    {"getrf", "mmm",
     [](const Sizes& s) {
         const double k = smaller(s);
         return 2 * s.m * s.n * k - (s.m + s.n) * k * k + 2 * cube(k) / 3;
     },
     [](const Sizes& s) { return 2 * s.m * s.n; }},
    {"getrs", "mmm", [](const Sizes& s) { return 2 * s.n * s.n * s.r; },
     [](const Sizes& s) { return s.n * s.n + 2 * s.n * s.r; }},
    {"getri", "mmm", [](const Sizes& s) { return 4 * cube(s.n) / 3; }, [](const Sizes& s) { return 2 * s.n * s.n; }},
    {"potrf", "mmm", [](const Sizes& s) { return cube(s.n) / 3; }, [](const Sizes& s) { return s.n * s.n; }},
    {"potrs", "mmm", [](const Sizes& s) { return 2 * s.n * s.n * s.r; },
     [](const Sizes& s) { return s.n * s.n + 2 * s.n * s.r; }},
    {"potri", "mmm", [](const Sizes& s) { return 2 * cube(s.n) / 3; }, [](const Sizes& s) { return s.n * s.n; }},
    {"posv", "mmm", [](const Sizes& s) { return cube(s.n) / 3 + 2 * s.n * s.n * s.r; },
     [](const Sizes& s) { return s.n * s.n + 2 * s.n * s.r; }},
    {"sysv", "mmm", [](const Sizes& s) { return cube(s.n) / 3 + 2 * s.n * s.n * s.r; },
     [](const Sizes& s) { return s.n * s.n + 2 * s.n * s.r; }},
    {"hesv", "mmm", [](const Sizes& s) { return cube(s.n) / 3 + 2 * s.n * s.n * s.r; },
     [](const Sizes& s) { return s.n * s.n + 2 * s.n * s.r; }},
    {"sytrf", "mmm", [](const Sizes& s) { return cube(s.n) / 3; }, [](const Sizes& s) { return s.n * s.n; }},
    {"hetrf", "mmm", [](const Sizes& s) { return cube(s.n) / 3; }, [](const Sizes& s) { return s.n * s.n; }},
    {"trtri", "mmm", [](const Sizes& s) { return cube(s.n) / 3; }, [](const Sizes& s) { return s.n * s.n; }},
    {"trtrs", "mmm", [](const Sizes& s) { return s.n * s.n * s.r; },
     [](const Sizes& s) { return s.n * s.n / 2 + 2 * s.n * s.r; }},
    {"gtsv", "vvv", [](const Sizes& s) { return 8 * s.n * s.r; },
     [](const Sizes& s) { return 3 * s.n + 2 * s.n * s.r; }},
    {"gels", "mmm",
     [](const Sizes& s) {
         const double k = smaller(s);
         return 2 * k * k * (larger(s) - k / 3) + 4 * s.m * s.n * s.r;
     },
     [](const Sizes& s) { return 2 * s.m * s.n + larger(s) * s.r; }},
    {"geqrf", "mmm",
     [](const Sizes& s) {
         const double k = smaller(s);
         return 2 * k * k * (larger(s) - k / 3);
     },
     [](const Sizes& s) { return 2 * s.m * s.n; }},
    {"orgqr", "mmm",
     [](const Sizes& s) { return 4 * s.m * s.n * s.k - 2 * (s.m + s.n) * s.k * s.k + 4 * cube(s.k) / 3; },
     [](const Sizes& s) { return 2 * s.m * s.n; }},
    {"ormqr", "mmm", [](const Sizes& s) { return 4 * s.m * s.n * s.k - 2 * s.n * s.k * s.k; },
     [](const Sizes& s) { return s.m * s.k + 2 * s.m * s.n; }},
    {"gesvd", "mmm", [](const Sizes& s) { return 4 * larger(s) * smaller(s) * smaller(s) + 8 * cube(smaller(s)); },
     [](const Sizes& s) { return s.m * s.n + s.m * s.m + s.n * s.n; }},
    {"gebrd", "mmm", [](const Sizes& s) { return 4 * larger(s) * smaller(s) * smaller(s) - 4 * cube(smaller(s)) / 3; },
     [](const Sizes& s) { return 2 * s.m * s.n; }},
    {"geev", "mmm", [](const Sizes& s) { return 25 * cube(s.n); }, [](const Sizes& s) { return 3 * s.n * s.n; }},
    {"ggev", "mmm", [](const Sizes& s) { return 66 * cube(s.n); }, [](const Sizes& s) { return 4 * s.n * s.n; }},
    {"gehrd", "mmm", [](const Sizes& s) { return 10 * cube(s.n) / 3; }, [](const Sizes& s) { return 2 * s.n * s.n; }},
    {"syev", "mmm", [](const Sizes& s) { return 9 * cube(s.n); }, [](const Sizes& s) { return 2 * s.n * s.n; }},
    {"syevd", "mmm", [](const Sizes& s) { return 4 * cube(s.n); }, [](const Sizes& s) { return 2 * s.n * s.n; }},
    {"sygv", "mmm", [](const Sizes& s) { return 11 * cube(s.n); }, [](const Sizes& s) { return 4 * s.n * s.n; }},
    {"sytrd", "mmm", [](const Sizes& s) { return 4 * cube(s.n) / 3; }, [](const Sizes& s) { return s.n * s.n; }},
    {"steqr", "mmm", [](const Sizes& s) { return 6 * cube(s.n); }, [](const Sizes& s) { return 2 * s.n * s.n; }},
    {"vector_math", "vv", [](const Sizes& s) { return 20 * s.n; }, [](const Sizes& s) { return 2 * s.n; }},
};

/// Routines that do the same work as another.
constexpr std::pair<std::string_view, std::string_view> kSameWork[] = {
    {"gelsd", "gesvd"}, {"gelss", "gesvd"}, {"gelsy", "gels"},  {"gelqf", "geqrf"}, {"geqp3", "geqrf"},
    {"ungqr", "orgqr"}, {"unmqr", "ormqr"}, {"gesdd", "gesvd"}, {"gees", "geev"},   {"heev", "syev"},
    {"heevd", "syevd"}, {"syevr", "syevd"}, {"heevr", "syevd"}, {"syevx", "syevd"}, {"heevx", "syevd"},
    {"hegv", "sygv"},   {"sygvd", "sygv"},  {"hegvd", "sygv"},  {"sygvx", "sygv"},  {"hegvx", "sygv"},
    {"hetrd", "sytrd"},
};

constexpr std::string_view kFactorizations[] = {"gesv",  "getrf", "getrs", "getri", "potrf", "potrs",
                                                "potri", "posv",  "sysv",  "hesv",  "sytrf", "hetrf",
                                                "trtri", "trtrs", "gels",  "geqrf", "orgqr", "ormqr"};
constexpr std::string_view kReductions[] = {"gesvd", "gebrd", "geev", "ggev", "gehrd", "syevd", "sygv", "sytrd"};
constexpr std::string_view kIterations[] = {"syev", "steqr"};

std::string_view same_work(std::string_view name)
{
    for (const auto& [routine, same] : kSameWork) {
        if (routine == name) return same;
    }
    return name;
}

} // namespace

double product_part(std::string_view name)
{
    const auto is_one_of = [same = same_work(name)](const auto& names) {
        return std::find(std::begin(names), std::end(names), same) != std::end(names);
    };
    return is_one_of(kFactorizations) ? 0.5 : is_one_of(kReductions) ? 0.4 : is_one_of(kIterations) ? 0.1 : 1.0;
}

const Routine* find_routine(std::string_view name)
{
    name = same_work(name);
    const auto* found = std::find_if(std::begin(kRoutines), std::end(kRoutines),
                                     [&](const Routine& routine) { return routine.name == name; });
    return found == std::end(kRoutines) ? nullptr : found;
}

} // namespace fathom::profile
