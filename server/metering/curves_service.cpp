#include "server/metering/curves_service.hpp"

#include "server/metering/trust_store.hpp"
#include "server/store/transaction.hpp"

namespace fathom::server {

asio::awaitable<Result<Page<MeasuredCounts>>> CurvesService::measured_counts(CurveFilter filter, std::int64_t size,
                                                                             std::string after)
{
    auto work = [&](pqxx::work& transaction) -> Result<Page<MeasuredCounts>> {
        return select_measured_counts(transaction, filter, size, after);
    };
    co_return co_await database_->run(std::move(work));
}

asio::awaitable<Result<Page<MeasuredLoads>>> CurvesService::measured_loads(CurveFilter filter, std::int64_t size,
                                                                           std::string after)
{
    auto work = [&](pqxx::work& transaction) -> Result<Page<MeasuredLoads>> {
        return select_measured_loads(transaction, filter, size, after);
    };
    co_return co_await database_->run(std::move(work));
}

asio::awaitable<Result<Page<TimedTransfers>>> CurvesService::transfers(CurveFilter filter, std::int64_t size,
                                                                       std::string after)
{
    auto work = [&](pqxx::work& transaction) -> Result<Page<TimedTransfers>> {
        return select_transfers(transaction, filter, size, after);
    };
    co_return co_await database_->run(std::move(work));
}

asio::awaitable<Result<std::vector<CurvesService::JudgedUnitType>>> CurvesService::trust()
{
    auto work = [](pqxx::work& transaction) -> Result<std::vector<JudgedUnitType>> {
        const TrustByUnitType judged = current_trust(transaction);
        const std::map<std::string, VerifiedResults> verified = select_verified(transaction);
        std::vector<JudgedUnitType> result;
        for (UnitTypeName& place : select_unit_type_names(transaction)) {
            const auto found = judged.find(place.unit_type_id);
            const auto results = verified.find(place.unit_type_id);
            if (found == judged.end() && results == verified.end()) continue;
            JudgedUnitType one{std::move(place), {}, {}};
            if (found != judged.end()) one.trust = found->second;
            if (results != verified.end()) one.verified = results->second;
            result.push_back(std::move(one));
        }
        return result;
    };
    co_return co_await database_->run(std::move(work));
}

} // namespace fathom::server
