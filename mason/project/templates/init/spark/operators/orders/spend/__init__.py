from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from mason.operators.spark_operator import Inputs, SparkOperator
from mason.parameters.validated_parameters import ValidatedParameters


class OrdersSpend(SparkOperator):
    """Sum up what each customer has paid."""

    def transform(self, spark: SparkSession, inputs: Inputs, parameters: ValidatedParameters) -> DataFrame:
        paid = inputs["orders"].where("paid")
        since = parameters.get_optional("since")
        if since is not None:
            paid = paid.where(F.col("ordered_on") >= F.lit(since))
        return paid.groupBy("customer").agg(F.count("*").alias("orders"), F.sum("amount").alias("amount"))
