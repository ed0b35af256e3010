"""Parameters: how they are written, and what an operator gets of them."""
