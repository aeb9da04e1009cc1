import shlex

import pytest

from assay.commands.cluster import ConnectionOptions, reached_instead
from live import DEFAULT_SECONDS

PASSWORD = "hunter2-and-more"
LOGIN = f'org.apache.kafka.PlainLoginModule required username="alice" password="{PASSWORD}";'


def advised(*config: str, file: str | None = None, timeout: float = DEFAULT_SECONDS) -> str:
    """Return the options of a command line that connects to the same cluster."""
    options = ConnectionOptions(command_config=file, config=[*config], timeout=timeout)
    _, words = reached_instead(None, "localhost:9092", options)
    assert words[:2] == ["--bootstrap-server", "localhost:9092"]
    return shlex.join(words[2:])


def test_the_way_to_a_cluster_is_told_with_all_that_leads_there(tmp_path):
    file = tmp_path / "client.properties"
    file.write_text("client.id=me\n")
    assert advised() == ""
    assert advised("security.protocol=PLAINTEXT", file=str(file), timeout=2.5) == (
        f"--command-config {file} --config security.protocol=PLAINTEXT --timeout 2.5"
    )


@pytest.mark.parametrize(
    "key", ["sasl.password", "sasl_plain_password", "ssl.key.password", "sasl.jaas.config"]
)
def test_the_way_to_a_cluster_is_told_without_secrets(key):
    value = LOGIN if key == "sasl.jaas.config" else "same"
    told = advised(
        "security.protocol=SASL_PLAINTEXT", "sasl.mechanism=PLAIN", "sasl.username=same",
        f"sasl.password={PASSWORD}", f" {key}={value}", f"ssl.truststore.password={PASSWORD}",
    )  # fmt: skip
    assert told == (
        "--config security.protocol=SASL_PLAINTEXT --config sasl.mechanism=PLAIN "
        f"--config sasl.username=same --config sasl.password=... --config {key}=..."
    )
