"""Who asks, and what the token of whoever asks allows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mason.errors import Forbidden

if TYPE_CHECKING:
    from mason.state.tokens import Scope, Token


@dataclass(frozen=True)
class Caller:
    """Who asks: the holder of a token; or a person at this machine, a program in its own process: they may do all."""

    token: Token | None = None

    @property
    def name(self) -> str:
        return self.token.name if self.token else ""

    @property
    def is_limited(self) -> bool:
        """Say whether the token is for some operators or some configurations only."""
        return bool(self.token and self.token.is_limited)

    def refusal(self, tokens: Sequence[Token]) -> str:
        """Return why the caller may not go on with what it was let in for, by the tokens known now; else ""."""
        if self.token is None:
            return "This call needs a token now." if tokens else ""
        # The one that the environment gives is not among those that are known.
        known = next((each for each in tokens if each.digest == self.token.digest), self.token)
        return "" if known.state == "active" else f'The token "{self.name}" is {known.state}.'

    def require(self, scope: Scope) -> None:
        """Check that the caller may do what a scope is for.

        Raises:
            Forbidden: the token is for less.
        """
        if self.token and not self.token.scope.includes(scope):
            raise Forbidden(
                f'The token "{self.name}" is for {self.token.scope}; this takes {scope}.',
                hint=f"Make one with `mason token create --name NAME --scope {scope}`.",
            )

    def may_use_operator(self, name: str) -> bool:
        return self.token is None or self.token.may_use_operator(name)

    def require_operator(self, name: str) -> None:
        if self.token and not self.may_use_operator(name):
            raise Forbidden(f'The token "{self.name}" is not for {name}.')

    def may_use_configuration(self, config_id: str) -> bool:
        return self.token is None or self.token.may_use_configuration(config_id)

    def require_configuration(self, config_id: str) -> None:
        if not self.may_use_configuration(config_id):
            what = f'the configuration "{config_id}"' if config_id else "what says no configuration"
            raise Forbidden(f'The token "{self.name}" is not for {what}.')

    def require_steps(self, steps: Iterable[Mapping[str, Any]]) -> None:
        """Check that the caller may use what the steps of a run use: the run has what they were given and answered.

        Raises:
            Forbidden: the token is not for one of them.
        """
        for step in steps:
            self.require_operator(_name_of(step))
            self.require_configuration(step["Configuration"])

    def may_see_run(self, run: Mapping[str, Any], steps: Iterable[Mapping[str, Any]]) -> bool:
        """Say whether the token is for what a run, and each of its steps that has begun, use."""
        used = list(steps)
        configurations = [run.get("Configuration", ""), *(each.get("Configuration", "") for each in used)]
        return all(map(self.may_use_operator, map(_name_of, used))) and all(
            map(self.may_use_configuration, configurations)
        )


ANYBODY = Caller()
"""Whoever asks at this machine, without a token."""


def _name_of(step: Mapping[str, Any]) -> str:
    return str(step.get("Operator", "")).partition("@")[0]
