"""People's ways through the web console, in a real browser against a real network whose fathomd serves it. CTest runs each
of them by itself."""
import pytest

from in_web import WEB, run_in_web


@pytest.mark.parametrize("spec", sorted(path.name for path in (WEB / "tests/e2e").glob("*.spec.mjs")))
def test_people_find_their_way(spec):
    run_in_web("node", "--test", f"tests/e2e/{spec}")
