#include "server/job_types/job_types_service.hpp"

#include "server/job_types/job_work.hpp"

namespace fathom::server {

asio::awaitable<Result<Json>> JobTypesService::job_operators(std::string job, JobReader reader)
{
    const CatalogPointer catalog = catalog_->get();
    auto work = [&](pqxx::work& transaction) -> Result<Json> {
        const std::optional<JobEvidence> evidence = select_evidence(transaction, job);
        if (!evidence || !job_scope_of(reader.principal).includes(evidence->submitted_by, evidence->spec.project))
            return Error{Errc::kNotFound, "there is no such job"};
        record_job_look(transaction, reader, "job.read_operators",
                        {evidence->id.value, evidence->label, evidence->submitted_by, evidence->spec.project});
        return to_json(*evidence, observe_work(*evidence, *catalog), *catalog);
    };
    co_return co_await database_->run(std::move(work));
}

asio::awaitable<Result<Page<JobTypeRecord>>> JobTypesService::list(std::int64_t size, std::string after,
                                                                   Principal reader)
{
    const CatalogPointer catalog = catalog_->get();
    auto work = [&](pqxx::work& transaction) -> Result<Page<JobTypeRecord>> {
        Page<JobTypeRecord> page =
            select_job_types(transaction, size, after, {reader.token_id.value, job_scope_of(reader)});
        for (JobTypeRecord& type : page.items)
            type.unprobed = left_out_operators(type.operators, catalog->manifests());
        return page;
    };
    co_return co_await database_->run(std::move(work));
}

asio::awaitable<Result<JobTypeRecord>> JobTypesService::get(std::string name, Principal reader)
{
    const CatalogPointer catalog = catalog_->get();
    auto work = [&](pqxx::work& transaction) -> Result<JobTypeRecord> {
        std::optional<JobTypeRecord> type =
            select_shown_job_type(transaction, name, {reader.token_id.value, job_scope_of(reader)});
        if (!type) return Error{Errc::kNotFound, "nothing was learned of this job type"};
        type->unprobed = left_out_operators(type->operators, catalog->manifests());
        return std::move(*type);
    };
    co_return co_await database_->run(std::move(work));
}

std::optional<JobWork> JobTypesService::find_work(pqxx::work& transaction, const std::string& job)
{
    const std::optional<JobEvidence> evidence = select_evidence(transaction, job);
    if (!evidence) return std::nullopt;
    ObservedWork work = observe_work(*evidence, *catalog_->get());
    return JobWork{evidence->job_type, evidence->name, std::move(work.operators)};
}

} // namespace fathom::server
