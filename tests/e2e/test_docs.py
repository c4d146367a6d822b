"""The tutorial and the guides say what is true: their commands are run, and the site is built from them.

What a document says to its reader is what this file understands:
* A block ```sh is run, all blocks of a document in order, in one bash and one folder: a variable that a command sets is there
  for the next ones. A line that begins with `$ ` is a command. It must end with 0, or as its comment `# exit code N` says.
* The other lines of such a block are what the command above prints, shortened. Such a line must be printed, but for the count of
  spaces, unless it has a digit, a place (alpha/core) or `…`: figures and free places differ from run to run.
* A block of another language after a line that ends with a file name in backquotes and a colon is that file.
* All other blocks (```console, ```text) are not run.
"""
import dataclasses
import os
import pathlib
import re
import shutil
import subprocess

import pytest
import yaml

from network import BIN, SLOWER

ROOT = pathlib.Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
FILE_NAME = re.compile(r"`([\w.-]+)`:$")
VARIES = re.compile(r"\d|\w/\w|…")
LIMIT_S = 480  # of a document
EXIT_CODE = re.compile(r"# exit code (\d+)$")
GENERATED = {"agent.md", "contributing.md",
             *(f"reference/{name}.md" for name in ("cli", "job_file", "rest", "settings"))}


@dataclasses.dataclass
class Command:
    """One command of a document, with what it must print and how it must end."""
    place: str
    text: str
    exit_code: int = 0
    printed: list = dataclasses.field(default_factory=list)


@dataclasses.dataclass
class File:
    """A file that the document has its reader write."""
    name: str
    text: str


def navigation():
    """The parts of the site: {title: [page, …]}."""
    nav = yaml.safe_load((ROOT / "mkdocs.yml").read_text())["nav"]
    return {title: [page if isinstance(page, str) else next(iter(page.values())) for page in pages]
            for part in nav for title, pages in part.items()}


def guides():
    """The documents that are run, in the order in which they are read."""
    return [page for part in navigation().values() for page in part if page == "tutorial.md" or page.startswith("guides/")]


def blocks(text):
    """(language, number of its first line, its lines, the line of text before it) of each block of a document."""
    language, found, before = None, [], ""
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith("```"):
            if language is None:
                language, start = line[3:].strip(), number + 1
                found = []
            else:
                yield language, start, found, before
                language, before = None, ""
        elif language is not None:
            found.append(line)
        elif line.strip():
            before = line.rstrip()


def steps(text, name):
    """What a reader of a document does: files and commands in their order."""
    done = []
    for language, start, lines, before in blocks(text):
        file_name = FILE_NAME.search(before)
        if language == "sh":
            for number, line in enumerate(lines, start):
                if line.startswith("$ "):
                    code = EXIT_CODE.search(line)
                    done.append(Command(f"{name}:{number}", line[2:], int(code[1]) if code else 0))
                elif line.strip() and not VARIES.search(line):
                    done[-1].printed.append(squeezed(line))
        elif file_name:
            done.append(File(file_name[1], "\n".join(lines) + "\n"))
    return done


def squeezed(text):
    return " ".join(text.split())


def script_of(done, notes):
    """A bash script of all steps that notes the output and the exit code of each, and ends at the first wrong one."""
    lines = ["trap 'kill $(jobs -p) 2>/dev/null' EXIT"]
    for number, step in enumerate(done):
        if isinstance(step, File):
            lines.append(f"cat >{step.name} <<'END_OF_{number}'\n{step.text}END_OF_{number}")
        else:
            lines += [f"exec >{notes}/{number}.out 2>&1", step.text, f"code=$?; echo $code >{notes}/{number}.code",
                      f"[ $code -eq {step.exit_code} ] || exit 1"]
    return "\n".join(lines) + "\n"


def first_fault(text, name, folder, environment):
    """Does what the document says, in a new folder; what went otherwise first, or None."""
    done = steps(text, name)
    notes = folder.with_suffix(".notes")
    for one in (folder, notes):
        one.mkdir()
        one.chmod(0o755)
    script = notes / "script"
    script.write_text(script_of(done, notes))
    subprocess.run(["timeout", str(LIMIT_S * SLOWER), "bash", script], cwd=folder, env=environment, stdin=subprocess.DEVNULL)
    for number, command in ((number, step) for number, step in enumerate(done) if isinstance(step, Command)):
        output, code = notes / f"{number}.out", notes / f"{number}.code"
        printed = output.read_text(errors="replace") if output.exists() else ""
        ended = int(code.read_text()) if code.exists() else None
        if ended != command.exit_code:
            return f"{command.place}: exit code {ended}, not {command.exit_code}: {command.text}\n{printed}"
        missing = [line for line in command.printed if line not in map(squeezed, printed.splitlines())]
        if missing:
            return f"{command.place}: {command.text}\ndoes not print {missing}, but:\n{printed}"
    return None


@pytest.fixture(scope="module")
def measured(network):
    """The network as the quickstart leaves it: with units that are measured."""
    network.cli("probe", "run", "--operators", "dgemm:m=512;n=512;k=512", "--wait")
    return network


@pytest.mark.parametrize("page", guides())
def test_commands_do_what_the_document_says(measured, page):
    environment = {name: value for name, value in os.environ.items() if not name.startswith("FATHOM_")}
    environment.update(FATHOM_URL=measured.server.url, FATHOM_CA=str(measured.server.ca),
                       FATHOM_TOKEN_FILE=str(measured.server.state_dir / "admin.token"),
                       PATH=f"{BIN}:/usr/sbin:/usr/bin:/sbin:/bin")
    text = (DOCS / page).read_text()
    assert any(isinstance(step, Command) and step.text.startswith("fathom ") for step in steps(text, page))
    assert first_fault(text, f"docs/{page}", measured.folder / page.replace("/", "-").removesuffix(".md"), environment) is None


@pytest.mark.parametrize("block, fault", [
    ("$ NAME=b\n$ echo a $NAME 7\na b 7\n$ false   # exit code 1\n$ cat text.yaml\nkey: value", None),
    ("$ true\n$ false", "d.md:7: exit code 1, not 0: false"),
    ("$ true # exit code 1", "d.md:6: exit code 0, not 1: true # exit code 1"),
    ("$ echo one  two\none   two\ntwo", "d.md:6: echo one  two\ndoes not print ['two'], but:\none two"),
    ("$ exit 3", "d.md:6: exit code None, not 0: exit 3"),
])
def test_a_command_that_goes_otherwise_is_found(tmp_path, block, fault):
    text = f"Write `text.yaml`:\n```yaml\nkey: value\n```\n```sh\n{block}\n```\n```console\n$ false\n```\n"
    found = first_fault(text, "d.md", tmp_path / "d", os.environ)
    assert (found and found.strip()) == fault


def test_every_page_is_in_the_navigation_once():
    pages = [page for part in navigation().values() for page in part]
    assert list(navigation()) == ["Start", "Use", "Operate", "Understand", "Reference", "Decisions"]
    assert len(pages) == len(set(pages))
    assert set(pages) == {str(path.relative_to(DOCS)) for path in DOCS.rglob("*.md")} | GENERATED


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The folder of the built site."""
    if shutil.which("mkdocs") is None:
        pytest.skip("mkdocs is not installed")
    folder = tmp_path_factory.mktemp("site")
    outcome = subprocess.run([DOCS / "serve", "--build-only", "--programs", BIN, "--output", folder],
                             capture_output=True, text=True)
    assert outcome.returncode == 0, outcome.stdout + outcome.stderr
    return folder / "site"


def test_the_site_is_built_without_warnings_and_has_all_pages(site):
    pages = [(site / page.replace("README", "index")).with_suffix(".html") for part in navigation().values() for page in part]
    missing = [page for page in pages if not page.is_file()]
    assert not missing
    assert "POST" in (site / "reference" / "rest.html").read_text()
    assert "fathom job submit" in (site / "reference" / "cli.html").read_text()
    assert "probe_on_change" in (site / "reference" / "settings.html").read_text()


def test_the_site_loads_nothing_from_elsewhere(site):
    for path in site.rglob("*.html"):
        for tag in re.findall(r"<(?:script|link|img|iframe|source)\b[^>]*>", path.read_text()):
            for target in re.findall(r"(?:src|href)=\"([^\"]*)\"", tag):
                assert "//" not in target, f"{path.name}: {tag}"
                here = site / target.lstrip("/") if target.startswith("/") else path.parent / target
                assert here.is_file(), f"{path.name}: there is no {target}"
    for path in site.rglob("*.css"):
        assert not re.search(r"url\([\"']?(?:https?:)?//|@import", path.read_text()), path


def test_reference_pages_say_which_programs_are_missing(tmp_path):
    outcome = subprocess.run([DOCS / "generate_reference", "--programs", tmp_path, "--output", tmp_path],
                             capture_output=True, text=True)
    assert outcome.returncode == 1
    assert "there is no fathom, fathomd, fathom-agent" in outcome.stderr
