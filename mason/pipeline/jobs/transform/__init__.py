"""A transformation of an author's own, in SQL or over DataFrames: staged, counted, checked, published in one commit."""
