"""Start Spark in this process, as small as it can be."""


def session(warehouse, master="local[2,4]"):
    """Return a session; tasks may fail three times."""
    from pyspark.sql import SparkSession

    settings = {
        "spark.ui.enabled": "false",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.sql.shuffle.partitions": "2",
        "spark.sql.warehouse.dir": warehouse,
        "spark.log.level": "OFF",
    }
    made = SparkSession.builder.master(master)
    for name, value in settings.items():
        made = made.config(name, value)
    return made.getOrCreate()
