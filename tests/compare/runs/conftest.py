import pytest

from compare.runs.session.spark import spark_session
from groups import BadInput


@pytest.fixture(scope="module")
def spark(tmp_path_factory):
    try:
        opened = spark_session(tmp_path_factory.mktemp("spark"))
        session = opened.__enter__()
    except BadInput as error:
        if "no Java for Spark" not in str(error):
            raise
        pytest.skip(str(error))
    yield session
    opened.__exit__(None, None, None)
