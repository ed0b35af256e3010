"""`python -m mason` is `mason`."""

from mason.cli.main import main

main()
