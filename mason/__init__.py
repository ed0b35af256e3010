"""Mason: data operators that do the same sensible thing whichever technologies stand behind them."""

__version__ = "0.1.0"
