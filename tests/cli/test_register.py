"""`mason register` and `mason registry`: what is found, what is refused, which version runs."""

from __future__ import annotations

import re
import time
from pathlib import Path

import pytest

from mason.util.names import class_name
from tests.cli.support import install_package, operator_with, registered, strict_json
from tests.conftest import EXAMPLES, Mason, write
from tests.definitions import OPERATOR_CODE, OPERATOR_YAML, write_operator

WORKFLOW_YAML = """\
type: "workflow"
namespace: "{namespace}"
command: "{command}"
description: "{command} of the tests"
dag:
  - id: "step_1"
    type: "operator"
    namespace: "table"
    command: "infer"
"""
WORKFLOW_CODE = """\
from mason.workflows.workflow_definition import WorkflowDefinition


class {class_name}(WorkflowDefinition):
    pass
"""


def write_code(root: Path, code: str, *, namespace: str = "new", command: str = "one") -> Path:
    """Write an operator `new:one` with this code."""
    yaml = OPERATOR_YAML.format(namespace=namespace, command=command, description="x")
    return write(root / namespace / command, {"operator.yaml": yaml, "__init__.py": code})


def write_workflow(root: Path, namespace: str, command: str) -> Path:
    names = {"namespace": namespace, "command": command}
    code = WORKFLOW_CODE.format(class_name=class_name(namespace, command))
    return write(root / namespace / command, {"workflow.yaml": WORKFLOW_YAML.format(**names), "__init__.py": code})


def listed(mason: Mason) -> list[str]:
    """The operators of the listing, as `namespace:command`, or `command` alone."""
    rows = mason("operator").stdout.split("---\n")[-1].splitlines()
    return [f"{row[:9].strip()}:{row.split()[1]}" if row[:1].strip() else row.split()[0] for row in rows if row.strip()]


def digests(mason: Mason, name: str) -> list[str]:
    """The digests in the history of a name, the newest first."""
    return re.findall(r"sha256:([0-9a-f]{64})", mason("registry", "history", name).stdout)


def info(mason: Mason, *words: str) -> list[str]:
    """Run an operator that must succeed, and return what it said."""
    result = mason("operator", *words)
    assert result.exit_code == 0, result.stdout
    said: list[str] = strict_json(result)["Info"]
    return said


def test_operators_and_workflows_are_found_at_any_depth(mason: Mason, tmp_path: Path) -> None:
    src = tmp_path / "src"
    write_operator(src / "deep" / "down", "new", "one")
    write_workflow(src / "flows", "new", "flow")
    write(src, {".hidden/operator.yaml": "broken: [", "__pycache__/operator.yaml": "broken: ["})

    result = mason("register", f"{src}/")

    assert result.exit_code == 0
    assert result.stdout == ""
    home = mason.home
    for line in (
        f"Creating MASON_HOME at {home}/",
        f"Creating OPERATOR_HOME at {home}/registered_operators/",
        f"Creating WORKFLOW_HOME at {home}/registered_workflows/",
        f"Creating CONFIG_HOME at {home}/configurations/",
        f"Valid operator definition.  Registering {src}/deep/down/new/one to {home}/registered_operators/new/one/",
        f"Valid workflow definition.  Registering {src}/flows/new/flow to {home}/registered_workflows/new/flow/",
    ):
        assert line in result.stderr
    assert listed(mason) == ["new:one"]
    assert "new        flow     flow of the tests" in mason("workflow").stdout


def test_the_home_is_shown_as_a_person_would_write_it(mason: Mason, tmp_path: Path) -> None:
    write_operator(tmp_path / "src", "new", "one")

    result = mason("register", str(tmp_path / "src"), variables={"MASON_HOME": ""})

    assert "Creating MASON_HOME at ~/.mason/" in result.stderr
    assert "to ~/.mason/registered_operators/new/one/" in result.stderr
    assert (mason.folder / ".mason" / "registered_operators" / "new" / "one" / "operator.yaml").is_file()


def test_the_path_may_be_the_definition_itself_and_must_exist(mason: Mason, tmp_path: Path) -> None:
    folder = write_operator(tmp_path / "src", "new", "one")
    (tmp_path / "empty").mkdir()

    missing, empty = mason("register", str(tmp_path / "nothing")), mason("register", str(tmp_path / "empty"))

    assert (missing.exit_code, empty.exit_code) == (1, 1)
    assert f'Path "{tmp_path / "nothing"}" not found.' in missing.stderr
    assert f"{tmp_path / 'empty'}: no operator.yaml or workflow.yaml below it." in empty.stderr
    assert not mason.home.exists()
    registered(mason, folder / "operator.yaml")
    assert listed(mason) == ["new:one"]


def test_the_examples_are_found_from_any_folder(mason: Mason) -> None:
    result = mason("register", "mason/examples/operators/")

    assert result.exit_code == 0, result.stderr
    assert len(listed(mason)) == len(list((EXAMPLES / "operators").rglob("operator.yaml")))


def test_registering_does_not_run_or_import_the_code(mason: Mason, tmp_path: Path) -> None:
    trace = tmp_path / "it_ran"
    code = f'open({str(trace)!r}, "w")\nimport package_that_nobody_has\n1 / 0\n\n\n'
    code += OPERATOR_CODE.format(class_name="NewOne", body="pass")
    registered(mason, write_code(tmp_path / "src", code))
    assert listed(mason) == ["new:one"]
    assert mason("operator", "new", "one", "--help").exit_code == 0
    assert not trace.exists()

    result = mason("operator", "new", "one")

    assert trace.exists()
    assert result.exit_code == 1
    assert "package_that_nobody_has" in strict_json(result)["Errors"][0]


@pytest.mark.parametrize(
    ("code", "complaint"),
    [
        ("class Other: ...\n", "__init__.py: NewOne: there is no such class; the classes here are: Other"),
        ("x = 1\n", "__init__.py: NewOne: there is no such class; the classes here are: none"),
        ("def broken(:\n", "__init__.py:1: is not Python: "),
        ("\n\nclass NewOne:\n    def run(self, a, b, c, d): ...\n", "__init__.py:3: NewOne: must inherit from"),
        (
            "class OperatorDefinition: ...\n\nclass NewOne(OperatorDefinition):\n    def run(self, a, b, c, d): ...\n",
            "__init__.py:3: NewOne: must inherit from OperatorDefinition",
        ),
        (
            "from elsewhere import OperatorDefinition\n\nclass NewOne(OperatorDefinition):\n"
            "    def run(self, a, b, c, d): ...\n",
            "__init__.py:3: NewOne: must inherit from OperatorDefinition or DataOperator or SparkOperator "
            "(from mason.operators.operator_definition import OperatorDefinition or ",
        ),
        (
            "from mason.operators.operator_definition import OperatorDefinition\n\nclass NewOne(OperatorDefinition):\n"
            "    def start(self, env, config, parameters, resp): ...\n",
            "__init__.py:3: NewOne: has no method run(self, env, config, parameters, resp)",
        ),
        (
            "from mason.operators.operator_definition import OperatorDefinition\n\nclass NewOne(OperatorDefinition):\n"
            "    def run(self, env, config): ...\n",
            "__init__.py:3: NewOne: its method run must take (self, env, config, parameters, resp)",
        ),
        (
            "from mason.operators.operator_definition import OperatorDefinition\n\nclass NewOne(OperatorDefinition):\n"
            "    def run(self, env, config, parameters, resp, more): ...\n",
            "__init__.py:3: NewOne: its method run must take",
        ),
    ],
    ids=["missing", "none", "syntax", "no base", "own base", "other base", "no method", "too few", "too many"],
)
def test_a_class_that_could_not_run_is_refused_with_its_place(
    mason: Mason, tmp_path: Path, code: str, complaint: str
) -> None:
    result = mason("register", str(write_code(tmp_path, code)))

    assert result.exit_code == 1
    assert f"{tmp_path}/new/one/{complaint}" in result.stderr
    assert not mason.home.exists()


def test_an_operator_without_code_is_refused(mason: Mason, tmp_path: Path) -> None:
    yaml = OPERATOR_YAML.format(namespace="new", command="one", description="x")

    result = mason("register", str(write(tmp_path / "src", {"operator.yaml": yaml})))

    assert result.exit_code == 1
    assert "__init__.py: is missing; it should define the class NewOne" in result.stderr


@pytest.mark.parametrize(
    "head",
    [
        "from mason.operators.operator_definition import OperatorDefinition as Base\n\n\nclass NewOne(Base):",
        "import mason.operators.operator_definition\n\n\n"
        "class NewOne(mason.operators.operator_definition.OperatorDefinition):",
        "import mason.operators.operator_definition as od\n\n\nclass NewOne(od.OperatorDefinition):",
        "from mason.operators import operator_definition\n\n\nclass NewOne(operator_definition.OperatorDefinition):",
        "from mason.operators.operator_definition import OperatorDefinition\n\n\n"
        "class Middle(OperatorDefinition):\n    x = 1\n\n\nclass NewOne(Middle):",
    ],
    ids=["alias", "module attribute", "module alias", "module from package", "class of the same file"],
)
def test_the_base_class_is_known_however_it_is_spelled(mason: Mason, tmp_path: Path, head: str) -> None:
    body = "\n    def run(self, env, config, parameters, resp):\n        resp.add_info('ran')\n"
    imports = "from mason.operators.operator_response import OperatorResponse\n"
    code = f"{imports}{head}{body}        return OperatorResponse(resp)\n"

    registered(mason, write_code(tmp_path, code))

    assert info(mason, "new", "one") == ["ran"]


def test_run_may_be_inherited_within_the_file(mason: Mason, tmp_path: Path) -> None:
    code = (
        OPERATOR_CODE.format(class_name="Middle", body='resp.add_info("ran")')
        + "\n\nclass NewOne(Middle):\n    x = 1\n"
    )

    registered(mason, write_code(tmp_path, code))

    assert info(mason, "new", "one") == ["ran"]


def test_a_folder_may_have_modules_of_its_own(mason: Mason, tmp_path: Path) -> None:
    code = "from .words import GREETING\n" + OPERATOR_CODE.format(class_name="NewOne", body="resp.add_info(GREETING)")
    folder = write_code(tmp_path, code)
    write(folder, {"words.py": "from .deep.more import GREETING\n", "deep/more.py": 'GREETING = "hello"\n'})

    registered(mason, folder)

    assert info(mason, "new", "one") == ["hello"]


def test_two_versions_with_modules_of_their_own_do_not_mix(mason: Mason, tmp_path: Path) -> None:
    code = "from .words import GREETING\n" + OPERATOR_CODE.format(class_name="NewOne", body="resp.add_info(GREETING)")
    folder = write_code(tmp_path, code)
    write(folder, {"words.py": 'GREETING = "first"\n'})
    registered(mason, folder)
    write(folder, {"words.py": 'GREETING = "second"\n'})
    assert mason("register", "-f", str(folder)).exit_code == 0

    new, old = digests(mason, "new:one")

    assert info(mason, "new", f"one@sha256:{old}") == ["first"]
    assert info(mason, "new", f"one@sha256:{new}") == ["second"]


def test_all_problems_of_all_definitions_are_shown_at_once(mason: Mason, tmp_path: Path) -> None:
    write_operator(tmp_path, "new", "good")
    write(tmp_path / "a", {"operator.yaml": 'type: "operator"\nnamespace: "a"\ncommand: "b-c"\nwhat: 1\n'})
    write(tmp_path / "b", {"operator.yaml": "namespace: b\n"})
    write(tmp_path / "c", {"workflow.yaml": 'type: "workflow"\nnamespace: "c"\ncommand: "d"\ndag: []\n'})

    result = mason("register", str(tmp_path))

    assert result.exit_code == 1
    for place in (
        "a/operator.yaml:3: command: ",
        "a/operator.yaml:4: what: unknown key",
        'b/operator.yaml:1: "type" is missing',
        'b/operator.yaml:1: "command" is missing',
        "c/workflow.yaml:4: dag: ",
    ):
        assert f"{tmp_path}/{place}" in result.stderr
    assert result.stderr.rstrip().endswith("Nothing was registered.")
    assert "No Operators Registered" in mason("operator").stdout


def test_the_same_again_is_unchanged(mason: Mason, tmp_path: Path) -> None:
    registered(mason, write_operator(tmp_path, "new", "one"))
    write_operator(tmp_path / "elsewhere", "new", "one")
    write(tmp_path / "elsewhere" / "new" / "one" / "__pycache__", {"x.pyc": "not content"})

    result = mason("register", str(tmp_path / "elsewhere"))

    assert result.exit_code == 0
    assert "Unchanged:" in result.stderr
    assert len(digests(mason, "new:one")) == 1


def test_a_different_one_is_refused_without_f_and_the_old_one_stays(mason: Mason, tmp_path: Path) -> None:
    registered(mason, write_operator(tmp_path / "a", "new", "one", body='resp.add_info("first")'))
    write_operator(tmp_path / "b", "new", "one", body='resp.add_info("second")')
    write_operator(tmp_path / "b", "new", "two")

    result = mason("register", str(tmp_path / "b"))

    assert result.exit_code == 1
    assert f"{tmp_path}/b/new/one: new:one is registered with other content (sha256:" in result.stderr
    assert "Use -f to make this one current" in result.stderr
    assert listed(mason) == ["new:one"]
    assert info(mason, "new", "one") == ["first"]
    assert len(digests(mason, "new:one")) == 1


def test_with_f_the_new_one_is_current_and_the_old_one_runs_by_its_digest(mason: Mason, tmp_path: Path) -> None:
    folder = write_operator(tmp_path, "new", "one", body='resp.add_info("first")')
    registered(mason, folder)
    write_operator(tmp_path, "new", "one", body='resp.add_info("second")')

    result = mason("register", "-f", str(folder))

    assert result.exit_code == 0
    assert "Replacing by" in result.stderr
    new, old = digests(mason, "new:one")
    assert info(mason, "new", "one") == ["second"]
    assert info(mason, "new", f"one@sha256:{old[:8]}") == ["first"]
    assert info(mason, "new", f"one@{new[:4]}") == ["second"]
    assert f"new:one@sha256:{old}" in mason("operator", "new", f"one@{old[:12]}", "--help").stdout
    unknown = mason("operator", "new", "one@sha256:0000")
    assert unknown.exit_code == 1
    assert 'Version "sha256:0000" of new:one not found.' in strict_json(unknown)["Errors"][0]


def test_history_diff_use_and_remove(mason: Mason, tmp_path: Path) -> None:
    folder = write_operator(tmp_path, "new", "one", body='resp.add_info("first")')
    registered(mason, folder)
    write_operator(tmp_path, "new", "one", body='resp.add_info("second")')
    assert mason("register", "-f", str(folder)).exit_code == 0
    new, old = digests(mason, "new:one")

    history = mason("registry", "history", "new:one").stdout.splitlines()
    assert [line[0] for line in history if "sha256:" in line] == ["*", "."]
    assert all(str(folder) in line for line in history if "sha256:" in line)

    for arguments in ([old], [f"sha256:{old[:12]}", new[:6]]):
        difference = mason("registry", "diff", "new:one", *arguments).stdout
        assert '-        resp.add_info("first")' in difference
        assert '+        resp.add_info("second")' in difference
        assert "operator.yaml" not in difference

    assert mason("registry", "use", "new:one", old[:12]).exit_code == 0
    assert info(mason, "new", "one") == ["first"]
    link = mason.home / "registered_operators" / "new" / "one" / "__init__.py"
    assert '"first"' in link.read_text()
    assert info(mason, "new", f"one@{new}") == ["second"]

    assert mason("registry", "remove", "new:one").exit_code == 0
    assert "No Operators Registered" in mason("operator").stdout
    assert not link.exists()
    for command in (["history", "new:one"], ["remove", "new:one"], ["use", "new:one", old]):
        gone = mason("registry", *command)
        assert gone.exit_code == 1
        assert "new:one" in gone.stderr


def test_an_operator_without_a_namespace_is_registered_listed_and_run(mason: Mason, tmp_path: Path) -> None:
    code = OPERATOR_CODE.format(class_name="Tidy", body='resp.add_info(str(parameters.get_optional("text")))')
    yaml = 'type: "operator"\ncommand: "tidy"\ndescription: "Tidies"\nparameters:\n  optional:\n    - text\n'
    folder = write(tmp_path / "tidy", {"operator.yaml": yaml, "__init__.py": code})
    write_operator(tmp_path, "new", "one")

    registered(mason, tmp_path)

    assert listed(mason) == ["tidy", "new:one"]
    assert info(mason, "tidy", "-p", "text:hello") == ["hello"]
    assert "mason operator tidy" in mason("operator", "tidy", "--help").stdout
    assert (mason.home / "registered_operators" / "tidy" / "operator.yaml").read_text() == yaml
    (digest,) = digests(mason, "tidy")
    assert info(mason, f"tidy@sha256:{digest[:8]}", "-p", "text:hello") == ["hello"]
    assert mason("register", str(folder)).exit_code == 0


@pytest.mark.parametrize("spelling", ["", 'namespace: ""\n', "namespace:\n", "namespace: null\n"])
def test_no_namespace_can_be_written_in_every_way(mason: Mason, tmp_path: Path, spelling: str) -> None:
    code = OPERATOR_CODE.format(class_name="Tidy", body='resp.add_info("ran")')
    yaml = f'type: "operator"\n{spelling}command: "tidy"\n'

    registered(mason, write(tmp_path / "tidy", {"operator.yaml": yaml, "__init__.py": code}))

    assert info(mason, "tidy") == ["ran"]


@pytest.mark.parametrize("order", [("new", "space"), ("space", "new")])
def test_a_name_without_namespace_and_a_namespace_cannot_be_the_same(
    mason: Mason, tmp_path: Path, order: tuple[str, str]
) -> None:
    src = tmp_path / "src"
    code = OPERATOR_CODE.format(class_name="New", body="pass")
    write(src / "new", {"operator.yaml": 'type: "operator"\ncommand: "new"\n', "__init__.py": code})
    write_operator(src / "space", "new", "one")
    registered(mason, src / order[0])
    before = listed(mason)

    one_by_one, together = mason("register", str(src / order[1])), mason("register", str(src))

    for result in (one_by_one, together):
        assert result.exit_code == 1
        assert 'the operator "new" without a namespace and the namespace of "new:one" have one name' in result.stderr
    assert listed(mason) == before


def test_a_namespace_that_was_removed_can_become_a_name(mason: Mason, tmp_path: Path) -> None:
    registered(mason, write_operator(tmp_path / "space", "new", "one"))
    assert mason("registry", "remove", "new:one").exit_code == 0
    code = OPERATOR_CODE.format(class_name="New", body='resp.add_info("ran")')
    write(tmp_path / "new", {"operator.yaml": 'type: "operator"\ncommand: "new"\n', "__init__.py": code})

    registered(mason, tmp_path / "new")

    assert info(mason, "new") == ["ran"]
    assert (mason.home / "registered_operators" / "new" / "operator.yaml").is_file()


def test_checkouts_are_readable_and_as_registered(mason: Mason, tmp_path: Path) -> None:
    folder = write_operator(tmp_path, "new", "one")
    write(folder, {"swagger.yml": "parameters: []\n", "data/words.txt": "ß\n"})
    write_workflow(tmp_path, "new", "flow")

    registered(mason, tmp_path)

    checkout = mason.home / "registered_operators" / "new" / "one"
    for file in ("operator.yaml", "__init__.py", "swagger.yml", "data/words.txt"):
        assert (checkout / file).read_bytes() == (folder / file).read_bytes()
    assert (mason.home / "registered_workflows" / "new" / "flow" / "workflow.yaml").is_file()


def test_a_changed_checkout_or_source_does_not_change_what_runs(mason: Mason, tmp_path: Path) -> None:
    folder = write_operator(tmp_path, "new", "one", body='resp.add_info("first")')
    registered(mason, folder)
    checkout = mason.home / "registered_operators" / "new" / "one" / "__init__.py"
    write_operator(tmp_path, "new", "one", body='resp.add_info("changed")')
    assert info(mason, "new", "one") == ["first"]
    checkout.chmod(0o644)
    checkout.write_text(checkout.read_text().replace("first", "hacked"))

    assert info(mason, "new", "one") == ["first"]
    assert '"first"' in checkout.read_text()


def test_a_checkout_that_was_removed_is_made_again(mason: Mason, tmp_path: Path) -> None:
    registered(mason, write_operator(tmp_path, "new", "one"))
    for place in sorted((mason.home / "objects").rglob("*"), reverse=True):
        place.rmdir() if place.is_dir() else place.unlink()

    assert info(mason, "new", "one") == ["ran"]


def test_a_link_is_not_followed_out_of_the_folder(mason: Mason, tmp_path: Path) -> None:
    folder = write_operator(tmp_path / "src", "new", "one")
    secret = write(tmp_path, {"secret.txt": "secret"}) / "secret.txt"
    (folder / "stolen.txt").symlink_to(secret)

    result = mason("register", str(folder))

    assert result.exit_code == 1
    assert "stolen.txt: is a link or no plain file" in result.stderr


PACKAGED = "import touched_by_import\n" + OPERATOR_CODE.format(
    class_name="AcmeReport", body='resp.add_info("packaged")'
)


def install_acme(mason: Mason) -> Path:
    """A package whose every import leaves a trace."""
    trace = f"open({str(mason.folder / 'imported')!r}, 'w')\n"
    yaml = OPERATOR_YAML.format(namespace="acme", command="report", description="From a package")
    files = {
        "__init__.py": trace,
        "operators/__init__.py": trace,
        "operators/report/operator.yaml": yaml,
        "operators/report/__init__.py": PACKAGED,
    }
    folder = install_package(mason, "acme", "mason.operators", {"acme": "acme.operators"}, files)
    write(folder.parent, {"touched_by_import.py": trace})
    return folder


def test_packages_bring_operators_that_are_listed_without_being_imported(mason: Mason, tmp_path: Path) -> None:
    install_acme(mason)

    assert listed(mason) == ["acme:report"]
    assert "From a package" in mason("operator", "acme", "report", "--help").stdout
    registered(mason, write_operator(tmp_path / "src", "new", "one"))
    assert listed(mason) == ["acme:report", "new:one"]
    assert not (mason.folder / "imported").exists()

    assert info(mason, "acme", "report") == ["packaged"]
    assert (mason.folder / "imported").exists()


def test_what_is_registered_goes_before_what_a_package_brings(mason: Mason, tmp_path: Path) -> None:
    install_acme(mason)

    registered(mason, write_operator(tmp_path / "src", "acme", "report", body='resp.add_info("mine")'))

    assert info(mason, "acme", "report") == ["mine"]
    assert listed(mason) == ["acme:report"]


def test_a_package_with_a_broken_operator_does_not_take_the_others_away(mason: Mason, tmp_path: Path) -> None:
    registered(mason, write_operator(tmp_path / "src", "new", "one"))
    install_package(
        mason, "acme", "mason.operators", {"acme": "acme.operators"}, {"operators/operator.yaml": "type: operator\n"}
    )

    result = mason("operator")

    assert "new        one" in result.stdout
    assert "acme/operators/operator.yaml" in result.stderr
    assert info(mason, "new", "one") == ["ran"]


def test_an_unusual_but_plain_name_works_from_end_to_end(mason: Mason, tmp_path: Path) -> None:
    registered(mason, write_operator(tmp_path, "Data_Set2", "valiDate_all_2"))

    assert info(mason, "Data_Set2", "valiDate_all_2") == ["ran"]


def test_registering_two_hundred_operators_takes_seconds_not_minutes(mason: Mason, tmp_path: Path) -> None:
    for number in range(200):
        write_operator(tmp_path, "new", f"op{number}")
    began = time.monotonic()

    registered(mason, tmp_path)

    assert time.monotonic() - began < 20
    assert len(listed(mason)) == 200


def test_parameters_that_could_never_be_right_are_refused_when_registered(mason: Mason, tmp_path: Path) -> None:
    for number, parameter in enumerate(
        (
            "{name: a, type: integer, default: many}",
            "{name: a, type: enum}",
            "{name: a, choices: [x], default: y}",
            "{name: a, minimum: 1}",
            "{name: a, type: date, minimum: 1}",
            "{name: a, type: integer, minimum: 3, maximum: 2}",
            "{name: a, type: text}",
            "{name: a-b}",
            "{name: a, aliases: [b]}\n    - b",
        )
    ):
        operator_with(tmp_path / str(number), "new", "one", parameters=f"  optional:\n    - {parameter}\n")

        result = mason("register", str(tmp_path / str(number)))

        assert result.exit_code == 1, parameter
        assert "operator.yaml:" in result.stderr
        assert "parameters" in result.stderr
        assert "Traceback" not in result.stderr
