"""The one specification: fragments that authors write, the operations made from them, and its pages."""
