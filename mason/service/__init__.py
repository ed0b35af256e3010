"""What Mason can do, once, for every front door: who asks and where are arguments, and an answer has one form.

The command line, the REST API and `mason.connect()` parse what they are given, call a `Service`, and show its `Reply`.
"""
