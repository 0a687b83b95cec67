"""Start Spark in this process, as small as it can be."""


def session(warehouse):
    """Return a session, in which a task may fail once."""
    from pyspark.sql import SparkSession

    settings = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.connect.grpc.binding.address": "127.0.0.1",
        "spark.connect.grpc.binding.port": "0",  # any that is free
        "spark.sql.shuffle.partitions": "2",
        "spark.sql.warehouse.dir": warehouse,
        "spark.log.level": "OFF",
        # for few rows, to compile plans and hot code takes longer than to run them as they are
        "spark.sql.codegen.wholeStage": "false",
        "spark.sql.codegen.factoryMode": "NO_CODEGEN",
        "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
    }
    made = SparkSession.builder.master("local[2,2]")
    for name, value in settings.items():
        made = made.config(name, value)
    return made.getOrCreate()
