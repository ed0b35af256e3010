"""Mason as Python code and notebooks use it: `mason.connect()`. The same words in this process and at a server."""
