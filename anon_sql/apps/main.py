"""Run the command ``anon-sql``; Ctrl-C ends it quietly also while modules are imported."""

import sys


def main() -> None:
    """Run the command line."""
    try:
        from anon_sql.apps.cli.app import app
    except KeyboardInterrupt:
        sys.stderr.write("stopped on request\n")
        sys.exit(130)
    app()
