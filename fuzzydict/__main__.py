"""The command: ``fuzzydict``, or ``python -m fuzzydict``."""

import sys


def main() -> None:
    """Run the command. Ctrl-C, or what tells it to end, ends it quietly, even while it begins."""
    try:
        _run()
    except KeyboardInterrupt:
        sys.exit(130)  # 128 and the number of the signal, as in shells


def _run() -> None:
    import signal  # here, for Ctrl-C may come while it is imported

    ending = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
    handled = [one for one in ending if signal.getsignal(one) is signal.SIG_DFL]

    def end(number: int, _: object) -> None:
        for one in handled:  # the first is enough, and nothing disturbs what it ends
            signal.signal(one, signal.SIG_IGN)
        sys.exit(128 + number)

    for one in handled:
        signal.signal(one, end)
    try:
        from fuzzydict.cli import main as command

        command(prog_name="fuzzydict")
    finally:
        for one in handled:
            signal.signal(one, signal.SIG_DFL)


if __name__ == "__main__":
    main()
