#include "core/decide/probing/match.hpp"
#include "probes/operators/manifests.hpp"
#include "probes/profile/seen_symbols.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

namespace fathom::profile {
namespace {

using testing::HasSubstr;
using testing::IsSupersetOf;
using testing::Not;

TEST(SeenSymbols, AreCountedOrMarkedForAllOperators)
{
    for (const NamedSymbol& one : named_symbols(probes::operator_manifests())) {
        const std::string_view mark = why_not_counted(one.symbol);
        EXPECT_NE(one.is_reported, !mark.empty()) << one.operator_id << ", " << one.symbol
                                                  << ": the profiler must report its calls (probes/profile/symbols), "
                                                  << "or not_counted.def must say why not; not both";
    }
}

TEST(SeenSymbols, AreMarkedOnlyWhereAnOperatorNamesThem)
{
    std::set<std::string> named;
    for (const NamedSymbol& one : named_symbols(probes::operator_manifests()))
        named.insert(one.symbol);
    for (const std::string_view symbol : marked_symbols())
        EXPECT_TRUE(named.contains(std::string(symbol))) << symbol;
}

TEST(SeenSymbols, HaveTheNamesThatCallsGetByTheirArguments)
{
    EXPECT_THAT(reported_symbols(), IsSupersetOf({"dgemm", "fftw_execute/3d", "fftwf_execute/1d", "cufftexecz2z/2d",
                                                  "dnnl_convolution", "dnnl_matmul/bf16", "dnnl_sgemm", "_zgvdn4v_sin",
                                                  "cusparsespmv", "deflate", "uncompress"}));
}

TEST(SeenSymbols, TimeInMpiIsNoOperators)
{
    for (const NamedSymbol& one : named_symbols(probes::operator_manifests())) {
        if (one.symbol == "MPI_Allreduce") EXPECT_FALSE(one.is_reported);
    }
    EXPECT_FALSE(reported_symbols().contains(plain_symbol("MPI_Allreduce")));
}

TEST(SeenSymbols, OfMpiAreThoseOfCallsThatWait)
{
#define FATHOM_SYMBOL(name, library, precision, interface, action, rest) #name,
    const std::set<std::string> counted{
#include "probes/profile/symbols/mpi.def"
    };
#undef FATHOM_SYMBOL
    EXPECT_THAT(counted, IsSupersetOf({"MPI_Wait", "mpi_waitall_", "MPI_Recv", "MPI_Allreduce"}));
    // Programs make millions of them in a second: counting would be most of their time.
    for (const char* const quick : {"MPI_Test", "MPI_Testany", "mpi_testall_", "MPI_Iprobe", "MPI_Isend", "MPI_Irecv"})
        EXPECT_FALSE(counted.contains(quick)) << quick;
}

TEST(SeenSymbols, AreATableForPeople)
{
    const std::string table = symbols_table(probes::operator_manifests());

    EXPECT_THAT(table, HasSubstr("cblas_dgemm "));
    EXPECT_THAT(table, HasSubstr("counted\n"));
    EXPECT_THAT(table, HasSubstr("not counted: compiled into the program"));
    EXPECT_THAT(table, Not(HasSubstr("the profiler does not know it")));

    OperatorManifest own = probes::operator_manifests().front();
    own.signature.symbols = {"our_own_solver"};
    EXPECT_THAT(symbols_table({own}), HasSubstr("not counted: the profiler does not know it"));
}

} // namespace
} // namespace fathom::profile
