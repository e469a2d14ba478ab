"""What shells need beside what click does, so that any name can be completed."""

from __future__ import annotations

import os
import re

from click.shell_completion import (
    BashComplete,
    CompletionItem,
    FishComplete,
    ZshComplete,
    add_completion_class,
)

__all__ = ["register"]


class _Bash(BashComplete):
    """Completion for bash of names that have blanks and other signs of the shell."""

    def get_completion_args(self) -> tuple[list[str], str]:
        args, incomplete = super().get_completion_args()
        # Bash makes three words of "--option=value".
        joined = [i for i, word in enumerate(args) if word == "=" and args[i - 1][:2] == "--"]
        return [word for i, word in enumerate(args) if i not in joined], incomplete

    def format_completion(self, item: CompletionItem[str]) -> str:
        if item.type != "plain":
            return super().format_completion(item)
        words, place = os.environ["COMP_WORDS"].split("\n"), int(os.environ["COMP_CWORD"])
        match words[place][:1] if place < len(words) else "":
            case "'":
                escaped = item.value.replace("'", r"'\''")
            case '"':
                escaped = re.sub(r'([$`"\\])', r"\\\1", item.value)
            case _:
                escaped = re.sub(r"([^\w@%+=:,./-])", r"\\\1", item.value)
        doubled = escaped.replace("\\", r"\\")  # for `read` in the script of click
        return f"{item.type},{doubled}"


class _Zsh(ZshComplete):
    """Completion for zsh, which replaces the whole of ``--option=value``."""

    def get_completions(self, args: list[str], incomplete: str) -> list[CompletionItem[str]]:
        return _with_option(super().get_completions(args, incomplete), incomplete)


class _Fish(FishComplete):
    """Completion for fish; the same, and the script of click takes what is before a comma."""

    def get_completions(self, args: list[str], incomplete: str) -> list[CompletionItem[str]]:
        found = _with_option(super().get_completions(args, incomplete), incomplete)
        return [item for item in found if "," not in item.value]


def _with_option(found: list[CompletionItem[str]], incomplete: str) -> list[CompletionItem[str]]:
    """Put the option before the values that complete ``--option=value``."""
    option, sign, _ = incomplete.partition("=")
    if sign and option.startswith("--"):
        return [CompletionItem(f"{option}={item.value}", item.type) for item in found]
    return found


def register() -> None:
    """Complete so in the shells."""
    for shell in (_Bash, _Zsh, _Fish):
        add_completion_class(shell)
