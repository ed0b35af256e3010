"""What runs the documents notices when a document is wrong."""

from pathlib import Path

import pytest

from tests.documents import run_document


def run(folder: Path, text: str) -> None:
    (folder / "page.md").write_text(text, encoding="utf-8")
    run_document(folder / "page.md", folder, {"WORD": "brick"})


def console(*lines: str) -> str:
    return "\n".join(["```console", *lines, "```"])


def test_files_and_commands_are_taken_in_their_order(tmp_path: Path) -> None:
    first, second = ("\n".join(["<!-- file: a/b.txt -->", "```text", word, "```", ""]) for word in ("one", "two"))

    run(tmp_path, first + console("$ cat a/b.txt", "one") + "\n\n" + second + console("$ cat a/b.txt", "two"))


@pytest.mark.parametrize(
    "lines",
    [
        ["$ echo $WORD", "brick"],
        ["$ echo 1 2 3", "1 … 3"],
        ["$ seq 9", "1", "…", "9"],
        ["$ seq 9", "…"],
        ["$ true", "…"],
        ["$ true"],
        ["$ echo out; echo err >&2; exit 3", "out", "err", "[exit 3]"],
        ["$ false | true", "[exit 1]"],
        ["$ echo a \\", "    b", "a b", "", "$ echo c", "c"],
        ["$ word=$(echo x >> times; echo \"a 'b'\")", "$ echo $word; wc -l < times", "a 'b'", "1"],
        ["$ NO_SUCH=1 true", "$ echo ${NO_SUCH-none}", "none"],
        ["$ word=$(false)", "[exit 1]"],
    ],
)
def test_a_page_that_is_right_passes(tmp_path: Path, lines: list[str]) -> None:
    run(tmp_path, console(*lines))


@pytest.mark.parametrize(
    "lines",
    [
        ["$ echo one", "two"],
        ["$ echo one"],
        ["$ true", "one"],
        ["$ seq 9", "1", "9"],
        ["$ seq 9", "1", "…", "8"],
        ["$ echo 1.0", "1…1"],
        ["$ echo axb", "a.b"],
        ["$ exit 3"],
        ["$ true", "[exit 1]"],
        ["$ echo one", "one", "$ echo two", "three"],
    ],
)
def test_a_page_that_is_wrong_fails(tmp_path: Path, lines: list[str]) -> None:
    with pytest.raises(AssertionError, match=r"page\.md:\d+: \$"):
        run(tmp_path, console(*lines))


def test_a_block_of_another_language_is_left_alone(tmp_path: Path) -> None:
    run(tmp_path, "```bash\n$ exit 1\n```\n\n<!-- file: a.txt -->\nProse between.\n```text\nx\n```")

    assert not (tmp_path / "a.txt").exists()


def test_a_block_for_a_terminal_is_run_on_one_and_the_others_are_not(tmp_path: Path) -> None:
    shown = console("$ python -c 'import os; print(os.get_terminal_size(1).columns)'", "100")

    run(tmp_path, f"<!-- terminal -->\n{shown}\n\n{console('$ test -t 1', '[exit 1]')}")
