"""JSON: records, their digits, and columns of them."""
