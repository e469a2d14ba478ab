"""The command: ``fuzzydict``, or ``python -m fuzzydict``."""

import signal
import sys

_ENDING = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]


def main() -> None:
    """Run the command. Ctrl-C, or what tells it to end, ends it quietly, even while it begins."""
    handled = [one for one in _ENDING if signal.getsignal(one) is signal.SIG_DFL]

    def end(number: int, _: object) -> None:
        for one in handled:  # the first is enough, and nothing disturbs what it ends
            signal.signal(one, signal.SIG_IGN)
        sys.exit(128 + number)  # as in shells

    for one in handled:
        signal.signal(one, end)
    try:
        from fuzzydict.cli import main as command

        command(prog_name="fuzzydict")
    except KeyboardInterrupt:
        sys.exit(128 + signal.SIGINT)
    finally:
        for one in handled:
            signal.signal(one, signal.SIG_DFL)


if __name__ == "__main__":
    main()
