"""Brings a Java that Spark runs on, where there is none; says in one line what else to do.

With ``--here`` it only looks, says nothing, and leaves with 1 where there is none.
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
