// Meters, rates and posts what is due, then closes a month if one is given, and kills itself at a step of that:
//   billing_steps URL STEP MONTH
#include "server/billing/ledger_service.hpp"
#include "tests/support/test_io.hpp"

#include <csignal>
#include <cstdio>
#include <string>
#include <unistd.h>

namespace fathom::server {
namespace {

int run(const std::string& url, const std::string& last_step, const std::string& month)
{
    Metrics metrics;
    Database database({.url = url, .connections = 2}, metrics);
    test::TestIo io;
    ComputePool compute;
    const CatalogCache catalog(database, io.executor(), metrics);
    const UsageMeter meter(catalog, {});
    LedgerService ledger(database, meter, compute, metrics, [&](std::string_view step) {
        if (step == last_step) kill(getpid(), SIGKILL);
    });
    while (io.run(ledger.meter_next()).value() + io.run(ledger.post_next()).value() > 0) {
    }
    if (!month.empty()) io.run(ledger.close({"tok_test", ""}, month)).value();
    std::fprintf(stderr, "there is no step %s\n", last_step.c_str());
    return 1;
}

} // namespace
} // namespace fathom::server

int main(int count, char** arguments)
{
    return count == 4 ? fathom::server::run(arguments[1], arguments[2], arguments[3]) : 2;
}
