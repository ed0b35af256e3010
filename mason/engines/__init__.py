"""The canonical models of the four engine roles: frozen data, no I/O."""
