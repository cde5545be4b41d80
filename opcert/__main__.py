"""`python -m opcert`."""

from opcert.commands import main

main()
