"""Secrets stay secret: of parameters and of configurations, on both streams."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.support import configured, operator_with, registered, strict_json
from tests.conftest import Mason, write


@pytest.fixture
def typed(mason: Mason, tmp_path: Path) -> Mason:
    """An operator with a secret among its parameters."""
    yaml = "  required:\n    - {name: count, type: integer}\n    - {name: day, type: date}\n"
    yaml += "  optional:\n    - {name: pin, type: secret}\n"
    operator_with(tmp_path / "src", "new", "show", parameters=yaml)
    return registered(mason, tmp_path / "src")


class TestSecrets:
    SECRET = "hunter2-and-more"

    def _everything(self, mason: Mason, *arguments: str) -> str:
        result = mason("operator", *arguments)
        strict_json(result)
        return result.stdout + result.stderr

    @pytest.mark.parametrize(
        "body",
        [
            'resp.add_info(f"the pin is {pin}")\nresp.add_warning(pin)\nresp.add_error(pin)',
            "raise ValueError(pin)",
            "raise KeyError(pin)",
            'resp.add_data({"pin": pin, "deep": [{"x": f"a {pin} b"}]})',
            'from mason.errors import NotFound\nraise NotFound(f"no {pin}")',
            "resp.add_info(repr([pin]))",
        ],
    )
    @pytest.mark.parametrize("secret", [SECRET, "quo'te\"back\\slash"], ids=["plain", "quoted"])
    def test_a_secret_parameter_is_never_printed(self, mason: Mason, tmp_path: Path, body: str, secret: str) -> None:
        yaml = "  required:\n    - {name: pin, type: secret}\n"
        body = f'pin = parameters.get_required("pin")\n{body}'
        registered(mason, operator_with(tmp_path / "src", "new", "secret", parameters=yaml, body=body))
        write(mason.folder, {"p.json": json.dumps({"pin": secret})})

        for flags in ([], ["--plan"], ["-l", "trace"]):
            said = self._everything(mason, "new", "secret", "-f", "p.json", *flags)
            for spelling in (secret, repr(secret)[1:-1], json.dumps(secret)[1:-1]):
                assert spelling not in said

    def test_a_secret_is_not_printed_when_other_parameters_are_wrong(self, typed: Mason) -> None:
        for text in ("pin:{},count:x,colour:red", "pin:{},pin:{}", "=,pin:{}"):
            assert self.SECRET not in self._everything(typed, "new", "show", "-p", text.replace("{}", self.SECRET))

    def test_a_plan_shows_parameters_without_the_secret(self, typed: Mason) -> None:
        result = typed("operator", "new", "show", "-p", f"count:1,day:2026-01-31,pin:{self.SECRET}", "--plan")

        outline = strict_json(result)["Data"][0]
        assert outline["Parameters"]["pin"] == "REDACTED"
        assert outline["Parameters"]["count"] == 1
        assert outline["Operator"].startswith("new:show@sha256:")
        assert outline["Configuration"] == "local"
        assert outline["Clients"]["metastore"] == ["local"]

    def test_the_secrets_of_a_configuration_are_never_printed(self, mason: Mason, tmp_path: Path) -> None:
        configured(
            mason,
            "id: s\nmetastore_engine: local\nstorage_engine: [local, s3]\nclients:\n  s3:\n    configuration:\n"
            f'      access_key: "key"\n      secret_key: "{self.SECRET}"\n      session_token: "{{{{TOKEN}}}}"\n',
        )
        body = f'resp.add_info("{self.SECRET} and " + os.environ["TOKEN"])\nraise ValueError("{self.SECRET}")'
        registered(mason, operator_with(tmp_path / "src", "new", "leak", body=body))
        mason.variables["TOKEN"] = "from-the-environment"

        document = strict_json(mason("operator", "new", "leak"))

        assert document["Info"] == ["REDACTED and REDACTED"]
        assert self.SECRET not in document["Errors"][0]
