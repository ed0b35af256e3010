"""Files and tables read as one table: planned, split into tasks, fitted to one schema, every record accounted for.

It knows no type of job: what becomes of the rows is the affair of a sink, which a job names.
"""
