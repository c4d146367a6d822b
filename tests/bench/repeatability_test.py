"""What the benchmark of repeatability compares."""
import argparse
import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from repeatability import differences, of_several, report_medians, share_of_medians, share_within  # noqa: E402

# A machine with moods of its own: in every third hour it is a tenth slower.
HOURS = [1.0, 1.1, 1.0, 1.01, 1.11, 1.01, 0.99, 1.09, 0.99, 1.0, 1.1, 1.0]


def test_medians_are_of_sendings_that_follow_one_another_and_each_counts_once():
    assert of_several([5, 1, 3, 2, 2, 9, 7], 3) == [3, 2]
    assert of_several([1, 2], 3) == []


def test_medians_of_several_hours_agree_where_single_sendings_do_not():
    assert share_within(differences(HOURS)) < 60
    assert share_of_medians({"dgemm": HOURS}, 3) == 100
    assert share_of_medians({"dgemm": HOURS[:5]}, 3) is None


@pytest.mark.parametrize("pause_s, is_compared", [(5, False), (3600, True)])
def test_only_sendings_at_different_hours_are_held_to_the_goal(capsys, pause_s, is_compared):
    report_medians(argparse.Namespace(pause_s=pause_s, sendings=3), {"dgemm": HOURS}, {})
    printed = capsys.readouterr().out
    assert ("RESULT median_pairs_within_5pct 100.0 percent" in printed) is is_compared
    assert ("--pause-s 3600" in printed) is not is_compared
