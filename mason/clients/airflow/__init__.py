"""Apache Airflow 3 as scheduler: a workflow becomes a DAG file of its own, and Airflow's REST API does the rest."""
