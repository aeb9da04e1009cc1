import pytest

from compare.fleet.session import spark_session
from groups import BadInput


@pytest.fixture(scope="module")
def spark():
    try:
        opened = spark_session()
        session = opened.__enter__()
    except BadInput as error:
        if "no Java for Spark" not in str(error):
            raise
        pytest.skip(str(error))
    yield session
    opened.__exit__(None, None, None)
