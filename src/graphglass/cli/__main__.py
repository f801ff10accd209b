"""`python -m graphglass.cli` is the `glass` command."""

from graphglass.cli.app import main

main()
