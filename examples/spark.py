# SPDX-License-Identifier: Apache-2.0
"""A lake and Spark, from nothing: write, read, a job in one commit, and yesterday's state again.

Run it in an empty folder: python spark.py
"""

# %% A session that is bound to a lake in this folder.
import lochan
import lochan.spark

lake = lochan.open("./spark-lake")
spark = lochan.spark.session(
    lake, {"spark.ui.enabled": False, "spark.sql.shuffle.partitions": 2}, master="local[2]"
)
shop = lake.repository("shop").create(exist_ok=True)
main = shop.branch("main")

# %% A DataFrame becomes one commit.
sales = spark.range(10_000).selectExpr(
    "id", "1 + id % 12 AS month", "round(rand(7) * 100, 2) AS price"
)
first = lochan.spark.write(
    sales, "lochan://shop/main/sales", "overwrite", partition_by=["month"], message="a year"
)
print(f"main is at {main.head.message!r}: {sum(1 for _ in main.objects('sales/'))} files")

# %% Reading: partitions come from the paths, and Spark reads what it needs of them alone.
march = lochan.spark.read(spark, "lochan://shop/main/sales").where("month = 3")
print(f"march has {march.count()} sales")

# %% A job reads and writes as often as it likes, and is one commit or nothing.
with main.job("nightly") as job:
    cleaned = lochan.spark.read(spark, job.uri("sales")).where("price > 50")
    lochan.spark.write(cleaned, job.uri("sales"), "overwrite", partition_by=["month"])
    totals = lochan.spark.read(spark, job.uri("sales")).groupBy("month").sum("price")
    lochan.spark.write(totals, job.uri("totals"), "overwrite")
changed = {change.path.split("/")[0] for change in shop.ref(first).diff(main)}
print(f"main is at {main.head.message!r}, which changed {' and '.join(sorted(changed))}")

# %% One that fails leaves nothing.
try:
    with main.job("broken") as job:
        lochan.spark.write(sales, job.uri("half"))
        print(1 // 0)
except ZeroDivisionError as error:
    half = sum(1 for _ in main.objects("half/"))
    print(f"the job failed ({error}): {half} files of it are on main")

# %% What was, is.
now = lochan.spark.read(spark, "lochan://shop/main/sales").count()
before = lochan.spark.read(spark, f"lochan://shop/{first}/sales").count()
print(f"{before} sales at the first commit, {now} are left now: {now < before}")

spark.stop()
lake.close()
