"""The lint of documents finds what is not there, and passes over what is no path."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import check_docs  # noqa: E402


def wrong(tmp_path, text):
    (tmp_path / "core" / "base").mkdir(parents=True)
    (tmp_path / "core" / "base" / "file.cpp").write_text("")
    (tmp_path / "core" / "base" / "file.hpp").write_text("")
    (tmp_path / "docs").mkdir()
    document = tmp_path / "docs" / "page.md"
    document.write_text(text)
    return [path for _, path in check_docs.wrong_paths(tmp_path, document)]


def test_what_is_there_is_passed(tmp_path):
    text = ("`core/base/file`, `core/base/file.hpp`, `core/base`, `core/{base}/file.{cpp,hpp}`, `core/<folder>/file`, "
            "`core/base/*.hpp`, [itself](page.md#part), [elsewhere](https://example.org/core/none)")
    assert wrong(tmp_path, text) == []


def test_what_is_not_there_is_named_with_its_line(tmp_path):
    assert wrong(tmp_path, "x\n`core/base/gone`, `core/{base,gone}/file.cpp` and [a page](gone.md)") == [
        "core/base/gone", "core/gone/file.cpp", "gone.md"]


def test_what_is_no_path_of_the_repository_is_passed_over(tmp_path):
    assert wrong(tmp_path, "`GET /centers/gone`, `1/2`, `build/release/bin/gone`, `rate/hour`, `/etc/fathom`") == []


def test_large_folders_have_a_readme(tmp_path):
    paths = [f"core/base/{number}.cpp" for number in range(11)] + ["core/base.cpp"]
    assert check_docs.unexplained(tmp_path, paths)[0].startswith("core/base: 11 files")
    assert check_docs.unexplained(tmp_path, paths[1:]) == []
    (tmp_path / "core" / "base").mkdir(parents=True)
    (tmp_path / "core" / "base" / "README.md").write_text("What is in here.")
    assert check_docs.unexplained(tmp_path, paths) == []
