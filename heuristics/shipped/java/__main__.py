"""Fetches a Java for Spark if there is none; prints one line if that fails.

With ``--here`` it only looks, prints nothing, and exits with 1 if there is none.
"""

import sys

from groups.errors import BadInput
from heuristics.shipped.java.jars import spark_java_here, spark_java_home

if "--here" in sys.argv:
    sys.exit(spark_java_here() is None)
try:
    spark_java_home()
except BadInput as reason:
    sys.stderr.write(f"{reason}\n")
