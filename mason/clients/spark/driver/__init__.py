"""The script that spark-submit runs. It has a folder of its own, which Python puts first on its path."""
