"""The lint of prepared statements names both places."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import check_statements  # noqa: E402


def test_a_name_that_stands_twice_is_found_with_its_places(tmp_path):
    (tmp_path / "server").mkdir()
    (tmp_path / "server" / "a.cpp").write_text('constexpr Statement kOne{"rooms_one", "SELECT 1"};\n')
    (tmp_path / "server" / "b.cpp").write_text('// x\nconstexpr Statement kTwo{"rooms_one", "SELECT 2"};\n'
                                               'constexpr Statement kThree{\n    "rooms_three", "SELECT 3"};\n')

    assert check_statements.repeated(tmp_path) == {"rooms_one": ["server/a.cpp:1", "server/b.cpp:2"]}
