"""The lint of log lines, on made-up functions: those that a transaction writes at once are found, and nothing else."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import check_log_lines  # noqa: E402


def test_functions_and_lambdas_that_work_in_a_transaction():
    text = """
Result<void> Runs::look(pqxx::work& transaction, std::function<void()> done) const
{
    for (const pqxx::row& row : transaction.exec(kMark)) {
        log_warning("run_lost", {{"id", row[0].as<std::string>()}});
    }
    return {};
}

asio::awaitable<void> Runs::tell()
{
    auto work = [&](pqxx::transaction_base& transaction) -> Result<void> {
        log_info(
            "run_told", {});
        return {};
    };
    co_await database_->run(work);
    log_info("all_told");
}
"""
    assert check_log_lines.events(text) == ["run_lost", "run_told"]


def test_what_waits_for_the_commit_and_what_stands_outside_is_left_alone():
    text = """
Result<void> look(pqxx::work& transaction)
{
    after_commit([id] {
        log_info("run_lost", {{"id", id}});
    });
    log_after_commit(LogLevel::kInfo, "run_found", {{"id", id}});
    // log_info("a_comment");
    return {};
}

void tell(const pqxx::result& rows)
{
    log_info("told", {});
}
"""
    assert check_log_lines.events(text) == []
