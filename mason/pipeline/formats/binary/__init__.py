"""Formats of bytes: Parquet, ORC, Avro and Msgpack."""
