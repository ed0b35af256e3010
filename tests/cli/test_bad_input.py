"""Bad input: a clear message that names the thing, an exit code that is not 0, and nothing lost of what was there."""

from __future__ import annotations

import os
import random
import re
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.cli.support import configured, install_package, operator_with, registered, strict_json, tree
from tests.conftest import PROJECT, Mason, Result, write
from tests.definitions import OPERATOR_CODE, OPERATOR_YAML, write_operator

OK = "id: good\nmetastore_engine: local\n"


@pytest.fixture
def before(mason: Mason, tmp_path: Path) -> Mason:
    """A home in which something is saved and registered already."""
    configured(mason, OK)
    return registered(mason, write_operator(tmp_path / "old", "old", "one").parent.parent)


def assert_still_there(mason: Mason) -> None:
    """What `before` made is listed and runs."""
    assert "*  good" in mason("config").stdout
    assert "old        one" in mason("operator").stdout
    assert strict_json(mason("operator", "old", "one"))["Info"] == ["ran"]


def refused_config(mason: Mason, text: str) -> str:
    """Save a configuration that must be refused, and return the complaint."""
    file = write(mason.folder / "bad", {"config.yaml": text}) / "config.yaml"
    result = mason("config", str(file))
    assert result.exit_code == 1
    assert "Traceback" not in result.stderr
    assert_still_there(mason)
    return result.stderr.replace(str(file), "config.yaml")


def refused_operator(mason: Mason, yaml: str, code: str = "") -> str:
    """Register an operator that must be refused, beside a good one, and return the complaint."""
    folder = mason.folder / "bad"
    write(folder, {"operator.yaml": yaml, "__init__.py": code})
    write_operator(mason.folder / "good", "new", "fine")
    result = mason("register", str(mason.folder))
    assert result.exit_code == 1
    assert "Nothing was registered." in result.stderr
    assert "Traceback" not in result.stderr
    assert "fine" not in mason("operator").stdout
    assert_still_there(mason)
    return result.stderr.replace(f"{folder}/", "")


def test_broken_yaml_is_shown_with_file_and_line(before: Mason) -> None:
    assert "config.yaml:2: broken YAML: " in refused_config(before, 'id: bad\nmetastore_engine: "local\n')
    assert "operator.yaml:3: broken YAML: " in refused_operator(before, "type: operator\nnamespace: x\ncommand: }\n")


def test_a_yaml_bomb_is_refused_before_it_goes_off(before: Mason) -> None:
    levels = "".join(f"l{n}: &l{n} [{', '.join([f'*l{n - 1}'] * 10)}]\n" for n in range(1, 10))
    bomb = f"l0: &l0 [lol, lol, lol, lol, lol, lol, lol, lol, lol, lol]\n{levels}"
    began = time.monotonic()

    assert "config.yaml:1: its aliases expand to more than 100,000 values" in refused_config(before, bomb)
    assert "operator.yaml:1: its aliases expand to more than 100,000 values" in refused_operator(before, bomb)
    assert "an alias that contains itself" in refused_config(before, "id: &a [*a]\n")
    assert "nested deeper than 50 levels" in refused_config(before, "id: " + "[" * 5000 + "]" * 5000)
    assert time.monotonic() - began < 30


def test_a_tab_is_named_as_what_it_is(before: Mason) -> None:
    text = "id: bad\nclients:\n\tlocal: {}\n"

    assert "config.yaml:3: a tab is used for indentation; YAML wants spaces" in refused_config(before, text)
    assert "operator.yaml:3: a tab is used" in refused_operator(
        before, "type: operator\nparameters:\n\toptional: [a]\n"
    )


@pytest.mark.parametrize("client", ["s3", "glue", "athena"])
def test_an_endpoint_that_is_none_and_half_a_pair_of_keys_are_refused(before: Mason, client: str) -> None:
    def complaint(line: str) -> str:
        return refused_config(before, f"id: bad\nclients:\n  {client}:\n    configuration:\n      {line}\n")

    place = f"clients.{client}.configuration"
    for endpoint in ("http://", "http://exa mple", "127.0.0.1:port", "ftp://example.com"):
        told = f"config.yaml:5: {place}.endpoint: must be the address of a server"
        assert told in complaint(f'endpoint: "{endpoint}"')
    assert f'{place}: "secret_key" is missing: it belongs to "access_key"' in complaint("access_key: AKIA")
    assert f'{place}: "access_key" is missing: it belongs to "secret_key"' in complaint("secret_key: canary")


def test_an_unknown_key_is_named_with_the_nearest_known_one(before: Mason) -> None:
    wrong = "id: bad\nmetastor_engine: local\nclients:\n  local:\n    configuration:\n      rot: data\n"
    complaint = refused_config(before, wrong)
    assert 'config.yaml:2: metastor_engine: there is no role "metastor". Did you mean "metastore"?' in complaint

    complaint = refused_config(before, wrong.replace("metastor_", "metastore_"))
    assert 'config.yaml:6: clients.local.configuration.rot: unknown key. Did you mean "root"?' in complaint

    yaml = "type: operator\nnamespace: x\ncommand: y\nparamters:\n  required: [a]\n"
    assert 'operator.yaml:4: paramters: unknown key. Did you mean "parameters"?' in refused_operator(before, yaml)


def test_a_key_given_twice_is_refused_with_both_lines(before: Mason) -> None:
    assert "config.yaml:3: id: given twice (first on line 1)" in refused_config(
        before, "id: a\nmetastore_engine: local\nid: b\n"
    )


def test_a_missing_client_dependency_says_what_to_install(before: Mason, tmp_path: Path) -> None:
    client = "import library_that_nobody_has.part\n\nclass AcmeMetastoreClient: ...\n"
    schema = '{"type": "object", "additionalProperties": false, "properties": {}}'
    files = {"metastore.py": client, "schema.json": schema}
    install_package(before, "acme_for_mason", "mason.clients", {"acme": "acme_for_mason"}, files)
    before.register_examples()
    configured(before, "id: acme\nmetastore_engine: acme\n")

    result = before("operator", "database", "list", "-c", "acme")

    assert result.exit_code == 1
    assert strict_json(result)["Errors"] == [
        'The client "acme" needs the package "library_that_nobody_has", which is not installed. '
        "Run: pip install library_that_nobody_has"
    ]
    assert "Traceback" not in result.stderr
    assert_still_there(before)


def test_a_missing_client_dependency_with_an_extra_names_the_extra(before: Mason) -> None:
    schema = '{"type": "object", "x-mason-extra": "acme"}'
    files = {"metastore.py": "import library_that_nobody_has\n", "schema.json": schema}
    install_package(before, "acme_for_mason", "mason.clients", {"acme": "acme_for_mason"}, files)
    before.register_examples()
    configured(before, "id: acme\nmetastore_engine: acme\n")

    (error,) = strict_json(before("operator", "database", "list", "-c", "acme"))["Errors"]

    assert error.endswith("Run: pip install 'mason-data[acme]'")


@pytest.mark.parametrize("key", ["namespace", "command"])
@pytest.mark.parametrize("name", ["../../x", "/etc", "a/b", "..", "a b", "1a", "é", "a.b", "x" * 64])
def test_a_name_that_could_leave_mason_home_is_refused(mason: Mason, key: str, name: str) -> None:
    names = {"namespace": "good", "command": "good", key: name}
    yaml = OPERATOR_YAML.format(description="x", **names)
    folder = write(mason.folder / "bad", {"operator.yaml": yaml, "__init__.py": ""})
    outside = tree(mason.folder)

    result = mason("register", str(folder))

    assert result.exit_code == 1
    line = 2 if key == "namespace" else 3
    assert f'operator.yaml:{line}: {key}: "{name}" cannot be a name: letters, digits and underscores' in result.stderr
    assert not mason.home.exists()
    assert tree(mason.folder) == outside


@pytest.mark.parametrize("config_id", ["../../x", "/etc/x", "a/b", "..", ".hidden", "a b"])
def test_an_id_that_could_leave_mason_home_is_refused(mason: Mason, config_id: str) -> None:
    file = write(mason.folder, {"config.yaml": f'metastore_engine: local\nid: "{config_id}"\n'}) / "config.yaml"

    result = mason("config", str(file))

    assert result.exit_code == 1
    assert f'{file}:2: id: "{config_id}" cannot be an id: ' in result.stderr
    assert not mason.home.exists()


def test_a_class_with_the_wrong_name_is_refused_naming_the_right_one(before: Mason) -> None:
    yaml = OPERATOR_YAML.format(namespace="new", command="wrong_one", description="x")
    code = OPERATOR_CODE.format(class_name="SomethingElse", body="pass")

    complaint = refused_operator(before, yaml, code)

    assert "__init__.py: NewWrongOne: there is no such class; the classes here are: SomethingElse" in complaint


def test_two_operators_with_one_name_are_refused_naming_both_folders(before: Mason, tmp_path: Path) -> None:
    both = tmp_path / "both"
    first = write_operator(both / "a", "new", "one")
    second = write_operator(both / "b", "new", "one", description="Another")

    result = before("register", str(both))

    assert result.exit_code == 1
    assert f"{second}: new:one is the name of {first} as well" in result.stderr
    assert "Nothing was registered." in result.stderr
    assert "new " not in before("operator").stdout
    assert_still_there(before)


def test_a_parameter_given_twice_is_an_error_and_nothing_runs(before: Mason, tmp_path: Path) -> None:
    made = tmp_path / "made"
    yaml = "  required:\n    - name: place\n      aliases: [where]\n"
    operator_with(tmp_path / "new", "new", "make", parameters=yaml, body=f'open({str(made)!r}, "w")')
    registered(before, tmp_path / "new")

    for given in (["-p", "place:a,place:b"], ["-p", "place:a", "-p", "place:a"], ["-p", "place:a,where:b"]):
        result = before("operator", "new", "make", *given)
        assert result.exit_code == 1
        assert strict_json(result)["Errors"] == ['The parameter "place" is given twice.']

    assert not made.exists()
    assert_still_there(before)


def test_an_unset_variable_is_named_with_file_and_line_and_only_where_it_is_used(before: Mason) -> None:
    text = 'id: filled\nmetastore_engine: local\nclients:\n  local:\n    configuration:\n      root: "{{NOWHERE}}/x"\n'
    configured(before, text)
    before.register_examples()

    result = before("operator", "database", "list", "-c", "filled")

    assert result.exit_code == 1
    (error,) = strict_json(result)["Errors"]
    saved = before.home / "configurations" / "filled.yaml"
    assert error.startswith(f"{saved}:6: clients.local.configuration.root: the variable NOWHERE is not set.")
    assert_still_there(before)


@dataclass
class SmallDisk:
    """A home on a file system of its own, or as near to one as the rights of this process allow."""

    place: Path
    mounted: bool
    limits: Callable[[], None] | None = None
    filler: list[Path] = field(default_factory=list)

    def run(self, mason: Mason, *arguments: str) -> Result:
        done = subprocess.run(
            [*mason.argv, *arguments],
            cwd=mason.folder,
            env=mason.environment(),
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
            preexec_fn=self.limits,
        )
        return Result(done.returncode, done.stdout, done.stderr)

    def make_full(self) -> None:
        if not self.mounted:
            self.limits = _no_more_bytes
            return
        for size in (1 << 16, 1 << 12, 1):  # down to the last byte
            file = self.place / f"filler-{size}"
            try:
                with open(file, "wb", buffering=0) as handle:
                    while handle.write(b"x" * size):
                        pass
            except OSError:
                self.filler.append(file)

    def make_read_only(self) -> None:
        if self.mounted:
            subprocess.run(["mount", "-o", "remount,ro", str(self.place)], check=True)
        elif os.getuid():
            _chmod_all(self.place, 0o500, 0o400)
        else:
            self.limits = _no_more_bytes

    def make_usable(self) -> None:
        self.limits = None
        if self.mounted:
            subprocess.run(["mount", "-o", "remount,rw", str(self.place)], check=True)
        else:
            _chmod_all(self.place, 0o700, 0o600)
        for file in self.filler:
            file.unlink()


def _no_more_bytes() -> None:
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))


def _few_bytes() -> None:
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (2**20, 2**20))


def _chmod_all(folder: Path, folders: int, files: int) -> None:
    for place in [folder, *folder.rglob("*")]:
        if not place.is_symlink():
            place.chmod(folders if place.is_dir() else files)


@pytest.fixture
def disk(mason: Mason, tmp_path: Path) -> Iterator[SmallDisk]:
    place = tmp_path / "disk"
    place.mkdir()
    mount = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(place)], capture_output=True, check=False
    )
    mason.home = place / "home"
    yield SmallDisk(place, mounted=mount.returncode == 0)
    if mount.returncode == 0:
        subprocess.run(["umount", str(place)], check=True)


def _disk_refuses(mason: Mason, disk: SmallDisk, tmp_path: Path, reason: Sequence[str]) -> None:
    write_operator(tmp_path / "new", "new", "one")
    config = write(tmp_path / "more", {"config.yaml": "id: more\nmetastore_engine: local\n"})
    if disk.limits:  # an injected error, not the real one: SQLite has no better word for it
        reason = [*reason, "disk I/O error"]

    for command in (["register", str(tmp_path / "new")], ["config", str(config)]):
        result = disk.run(mason, *command)
        assert result.exit_code == 1, command
        assert str(mason.home) in result.stderr
        assert any(word in result.stderr for word in reason), result.stderr
        assert "Traceback" not in result.stderr
    listed = disk.run(mason, "operator")
    assert "old        one" in listed.stdout
    assert "new" not in listed.stdout
    assert strict_json(disk.run(mason, "operator", "old", "one"))["Info"] == ["ran"]

    disk.make_usable()
    assert "more" not in mason("config").stdout
    assert_still_there(mason)
    registered(mason, tmp_path / "new")
    assert strict_json(mason("operator", "new", "one"))["Info"] == ["ran"]


def test_a_full_mason_home_says_so_and_still_lists_and_runs(disk: SmallDisk, before: Mason, tmp_path: Path) -> None:
    disk.make_full()
    told = disk.run(before, "config", str(write(tmp_path / "other", {"config.yaml": "id: other\n"})))

    said = f"The file system of {disk.place}/home is full: 0 of 1,048,576 bytes are free, about 1,048,576 more are"
    assert f"{said} needed." in told.stderr or not disk.mounted, told.stderr
    _disk_refuses(before, disk, tmp_path, ["No space left", "is full", "File too large"])


def test_a_job_that_fills_its_disk_names_the_disk_and_says_how_much_is_missing(
    disk: SmallDisk, mason: Mason, tmp_path: Path
) -> None:
    mason.home = tmp_path / "home"
    mason.register_examples()
    here = write(tmp_path, {"here.yaml": "metastore_engine: local\nstorage_engine: local\nexecution_engine: local\n"})
    assert mason("config", str(here / "here.yaml")).exit_code == 0
    chance = random.Random(1)
    write(
        mason.folder, {"in/a.csv": "n,m\n" + "".join(f"{chance.random()},{chance.random()}\n" for _ in range(100_000))}
    )
    if not disk.mounted:
        disk.limits = _few_bytes

    merged = disk.run(mason, "operator", "table", "merge", "-p", f"input_path:in,output_path:{disk.place}/out")

    assert merged.exit_code == 1 and "Traceback" not in merged.stderr, merged.stderr
    (error,) = strict_json(merged)["Errors"]
    told = re.fullmatch(
        rf"{disk.place}/out cannot be written: The file system {disk.place} is full: ([0-9,]+) of 1,048,576 bytes are "
        r"free, about ([0-9,]+) more are needed\. Free some space\. Nothing was committed\.",
        error,
    )
    assert told or not disk.mounted, error
    if told:
        free, missing = (int(part.replace(",", "")) for part in told.groups())
        assert free + missing == (mason.folder / "in" / "a.csv").stat().st_size
    assert list(disk.place.glob("out*")) == []


def test_a_read_only_mason_home_says_so_and_still_lists_and_runs(
    disk: SmallDisk, before: Mason, tmp_path: Path
) -> None:
    disk.make_read_only()

    _disk_refuses(before, disk, tmp_path, ["Read-only", "Make MASON_HOME writable", "File too large"])


def test_a_read_only_mason_home_that_is_empty_says_so(disk: SmallDisk, mason: Mason, tmp_path: Path) -> None:
    write_operator(tmp_path / "new", "new", "one")
    disk.make_read_only()

    result = disk.run(mason, "register", str(tmp_path / "new"))

    assert result.exit_code == 1
    assert str(mason.home) in result.stderr
    assert "Traceback" not in result.stderr
    assert "No Operators Registered" in disk.run(mason, "operator").stdout
    disk.make_usable()


def test_a_mason_home_that_is_a_file_says_so(mason: Mason, tmp_path: Path) -> None:
    write_operator(tmp_path / "new", "new", "one")
    mason.home.write_text("not a folder")

    result = mason("register", str(tmp_path / "new"))

    assert result.exit_code == 1
    assert str(mason.home) in result.stderr
    assert "Traceback" not in result.stderr
    assert mason.home.read_text() == "not a folder"


def test_two_registers_at_once_of_the_same_operators_both_succeed(before: Mason, tmp_path: Path) -> None:
    for number in range(10):
        write_operator(tmp_path / "new", "new", f"op{number}")

    running = [before.start("register", str(tmp_path / "new")) for _ in range(4)]
    ended = [process.communicate(timeout=60) for process in running]

    assert [process.returncode for process in running] == [0] * 4, ended
    listed = before("operator", "new").stdout
    assert [line.split()[1] for line in listed.splitlines() if line.startswith("new ")] == [f"op{n}" for n in range(10)]
    assert strict_json(before("operator", "new", "op9"))["Info"] == ["ran"]
    assert_still_there(before)


def test_two_registers_at_once_of_different_operators_lose_none(before: Mason, tmp_path: Path) -> None:
    for number in range(5):
        write_operator(tmp_path / f"p{number}", f"n{number}", "one")

    running = [before.start("register", str(tmp_path / f"p{number}")) for number in range(5)]
    ended = [process.communicate(timeout=60) for process in running]

    assert [process.returncode for process in running] == [0] * 5, ended
    for number in range(5):
        assert f"n{number}         one" in before("operator").stdout
        assert (before.home / "registered_operators" / f"n{number}" / "one" / "operator.yaml").is_file()
    assert_still_there(before)


def test_two_registers_at_once_of_one_name_leave_one_winner(before: Mason, tmp_path: Path) -> None:
    for number in range(4):
        write_operator(tmp_path / f"p{number}", "new", "one", body=f'resp.add_info("{number}")')

    running = [before.start("register", str(tmp_path / f"p{number}")) for number in range(4)]
    complaints = [process.communicate(timeout=60)[1] for process in running]

    codes = [process.returncode for process in running]
    assert sorted(codes) == [0, 1, 1, 1], complaints
    assert strict_json(before("operator", "new", "one"))["Info"] == [str(codes.index(0))]
    assert sum("new:one is registered with other content" in each for each in complaints) == 3
    assert_still_there(before)


NEW = 40


@dataclass
class KillLoop:
    """Kills a command that registers `NEW` operators at many moments, and says how many were registered then."""

    mason: Mason
    argv: Sequence[str]

    def run(self, how: signal.Signals, kills: int) -> list[int]:
        longest = self._seconds()
        counts = []
        for number in range(kills):
            self._forget()
            process = self._start()
            time.sleep(longest * (number + 0.5) / kills)
            process.send_signal(how)
            process.communicate(timeout=60)
            counts.append(self._count())
        return counts

    def _seconds(self) -> float:
        began = time.monotonic()
        assert self._start().wait(timeout=120) == 0
        seconds = time.monotonic() - began
        assert self._count() == NEW
        return seconds

    def _start(self) -> subprocess.Popen[str]:
        return subprocess.Popen(
            self.argv,
            cwd=self.mason.folder,
            env=self.mason.environment(),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            text=True,
        )

    def _forget(self) -> None:
        """Remove what the last round registered, so that every round starts from the same."""
        script = (
            "from mason.operators.registration.registry import remove\n"
            "from mason.state.home import open_state\n"
            "from mason.state.models import Kind\n"
            "from mason.util.environment import MasonEnvironment\n"
            "env = MasonEnvironment.of()\n"
            "store = open_state(env)\n"
            "for each in store.list_registrations(Kind.OPERATOR):\n"
            "    if each.name.namespace == 'new':\n"
            "        store.remove_registration(each.name)\n"
        )
        subprocess.run([sys.executable, "-c", script], env=self.mason.environment(), check=True)

    def _count(self) -> int:
        result = self.mason("operator")
        assert result.exit_code == 0, result.stderr
        assert "old        one" in result.stdout
        return sum(line.startswith("new ") for line in result.stdout.splitlines())


def all_or_none(counts: Sequence[int]) -> bool:
    """The check: whenever the command was killed, either all operators were registered or none."""
    return set(counts) <= {0, NEW}


@pytest.fixture
def many(tmp_path: Path) -> Path:
    for number in range(NEW):
        write_operator(tmp_path / "many", "new", f"op{number}")
    return tmp_path / "many"


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT], ids=["SIGKILL", "ctrl-C"])
def test_a_register_that_is_killed_midway_registers_all_or_none(before: Mason, many: Path, how: signal.Signals) -> None:
    counts = KillLoop(before, [*before.argv, "register", str(many)]).run(how, kills=9)

    assert all_or_none(counts), counts
    assert 0 in counts, "no kill came in time"
    assert_still_there(before)
    registered(before, many)
    assert strict_json(before("operator", "new", "op0"))["Info"] == ["ran"]
    assert (before.home / "registered_operators" / "new" / "op0" / "operator.yaml").is_file()


def test_ctrl_c_in_the_middle_of_register_exits_130_without_a_traceback(before: Mason, tmp_path: Path) -> None:
    codes = []
    for number in range(6):
        for each in range(NEW):
            write_operator(tmp_path / "many", "new", f"op{each}", body=f'resp.add_info("{number}")')
        there = len(list((before.home / "objects").iterdir()))
        process = before.start("register", "-f", str(tmp_path / "many"))
        while process.poll() is None and len(list((before.home / "objects").iterdir())) == there:
            time.sleep(0.002)
        time.sleep(0.01 * number)
        process.send_signal(signal.SIGINT)
        _, complaint = process.communicate(timeout=60)
        codes.append(process.returncode)
        assert "Traceback" not in complaint
        assert ("Interrupted." in complaint) == (process.returncode == 130)
    assert set(codes) <= {0, 130}, codes
    assert 130 in codes
    assert_still_there(before)


INTERRUPTED_WHILE_CLEANING_UP = """\
import signal, time
import mason.__main__, mason.cli.main

class Last:
    def __del__(self):
        signal.raise_signal(signal.SIGINT)

def run():
    Last()
    time.sleep(60)

mason.cli.main.run = run
mason.__main__.main()
"""


def test_ctrl_c_while_python_cleans_up_is_neither_lost_nor_a_traceback() -> None:
    done = subprocess.run(
        [sys.executable, "-c", INTERRUPTED_WHILE_CLEANING_UP], capture_output=True, text=True, timeout=50, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "Interrupted.\n")


REGISTER_ONE_BY_ONE = """\
import sys, time
from pathlib import Path
from mason.operators.registration.definition_folder import read_definitions
from mason.operators.registration.definition_kind import OPERATORS
from mason.operators.registration.registry import register
from mason.state.home import open_state
from mason.util.environment import MasonEnvironment

env = MasonEnvironment.of()
store = open_state(env)
for each in read_definitions(Path(sys.argv[1]), [OPERATORS]).valid:
    register(env, store, [each], replace=False)
    time.sleep(0.05)  # most of the run, whatever Python takes to start
"""


def test_the_kill_loop_catches_a_register_that_is_not_atomic(before: Mason, many: Path) -> None:
    script = write(before.folder, {"one_by_one.py": REGISTER_ONE_BY_ONE}) / "one_by_one.py"
    assert str(PROJECT) in before.environment()["PYTHONPATH"]

    counts = KillLoop(before, [sys.executable, str(script), str(many)]).run(signal.SIGKILL, kills=8)

    assert not all_or_none(counts), counts
