"""Brings a Java that Spark runs on, where there is none; says in one line what else to do."""

import sys

from groups.errors import BadInput
from heuristics.shipped.java.runtime import spark_java_home

try:
    spark_java_home()
except BadInput as reason:
    sys.stderr.write(f"{reason}\n")
