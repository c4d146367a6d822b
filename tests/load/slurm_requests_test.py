from slurm_requests import per_job, requests_of_clients

SDIAG = """*******************************************************
sdiag output at Sun Nov 29 23:17:40 2026 (1795994260)
Server thread count:  1
Jobs submitted: 300

Remote Procedure Call statistics by message type
\tREQUEST_SUBMIT_BATCH_JOB                ( 4003) count:300    ave_time:5814   total_time:1744233
\tREQUEST_COMPLETE_BATCH_SCRIPT           ( 5018) count:300    ave_time:100    total_time:30000
\tREQUEST_JOB_USER_INFO                   ( 2039) count:30     ave_time:8128   total_time:243840
\tREQUEST_STATS_INFO                      ( 2035) count:2      ave_time:87     total_time:175

Remote Procedure Call statistics by user
\troot            (       0) count:632    ave_time:1      total_time:632
"""


def test_what_nodes_tell_and_sdiag_asks_does_not_count():
    assert requests_of_clients(SDIAG) == {"REQUEST_SUBMIT_BATCH_JOB": (300, 1744233), "REQUEST_JOB_USER_INFO": (30, 243840)}


def test_figures_are_of_a_job():
    requests, took_ms = per_job(requests_of_clients(SDIAG), 300)
    assert requests == 1.1
    assert round(took_ms, 3) == 6.627


def test_of_no_text_there_is_nothing():
    assert requests_of_clients("") == {} and per_job({}, 1) == (0, 0)
