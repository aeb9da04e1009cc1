import pytest

from groups.errors import BadInput
from live.connection import Connection, load_kafka_python
from live.connection.client_settings import KNOWN, SETTINGS, WITHOUT_EFFECT, settings_of
from live.connection.properties import login_of, properties_in

PASSWORD = "hunter2-and-more"
JAAS = (
    "sasl.jaas.config=org.apache.kafka.common.security.plain.PlainLoginModule required \\\n"
    f'  username="alice" \\\n  password="{PASSWORD}";\n'
)
LOGIN = {
    "client_id": "assay",
    "security_protocol": "SASL_PLAINTEXT",
    "sasl_mechanism": "PLAIN",
    "sasl_plain_username": "alice",
    "sasl_plain_password": PASSWORD,
}


@pytest.fixture
def told(tmp_path):
    def settings(text="", *given):
        file = tmp_path / "client.properties"
        file.write_text(text, encoding="utf-8")
        return settings_of(str(file), given)[0]

    return settings


def refusal(call, *arguments) -> str:
    with pytest.raises(BadInput) as refused:
        call(*arguments)
    assert PASSWORD not in str(refused.value)
    return str(refused.value)


@pytest.mark.parametrize(
    "text",
    [
        f"security.protocol=SASL_PLAINTEXT\nsasl.mechanism=PLAIN\n{JAAS}",
        f"security.protocol : sasl_plaintext\n{JAAS}",
        f"security_protocol=SASL_PLAINTEXT\nsasl_mechanism=PLAIN\n"
        f"sasl_plain_username=alice\nsasl_plain_password={PASSWORD}",
        f"security.protocol=SASL_PLAINTEXT\nsasl.mechanisms PLAIN\n"
        f"sasl.username=alice\r\nsasl.password = {PASSWORD}\n",
    ],
    ids=["java", "java-without-mechanism", "kafka-python", "librdkafka"],
)
def test_the_words_of_three_clients_mean_the_same(told, text):
    assert told(f"# a comment\n\n! another\n{text}") == LOGIN


def test_a_file_that_is_not_utf_8_is_read_as_java_reads_it(tmp_path):
    file = tmp_path / "client.properties"
    file.write_bytes(b"client.id=caf\xe9\n")
    assert settings_of(str(file), ())[0] == {"client_id": "caf\u00e9"}


def test_config_goes_before_the_file(told):
    text = f"security.protocol=SSL\n{JAAS}"
    assert told(text, "security.protocol=SASL_PLAINTEXT", "client.id=me") == LOGIN | {
        "client_id": "me"
    }


def test_scram_needs_its_mechanism_told(told):
    text = "security.protocol=SASL_SSL\n" + JAAS.replace("plain.Plain", "scram.Scram")
    assert "sasl.mechanism is missing: one of PLAIN, SCRAM" in refusal(told, text)
    assert told(f"{text}\nsasl.mechanism=SCRAM-SHA-512")["sasl_mechanism"] == "SCRAM-SHA-512"


@pytest.mark.parametrize(
    "value",
    [
        "${env:KAFKA_PASSWORD}",
        "${file:FOLDER/password.txt}",
        "${file:FOLDER/more.properties:the.password}",
        "${directory:FOLDER:password.txt}",
    ],
)
def test_a_password_may_stand_elsewhere(told, tmp_path, monkeypatch, value):
    monkeypatch.setenv("KAFKA_PASSWORD", PASSWORD)
    (tmp_path / "password.txt").write_text(f"{PASSWORD}\n")
    (tmp_path / "more.properties").write_text(f"user=alice\nthe.password={PASSWORD}\n")
    elsewhere = value.replace("FOLDER", str(tmp_path))
    assert told(f"security.protocol=SASL_PLAINTEXT\n{JAAS.replace(PASSWORD, elsewhere)}") == LOGIN
    given = "sasl.password=" + elsewhere
    assert told(f"security.protocol=SASL_PLAINTEXT\n{JAAS.replace(PASSWORD, '-')}", given) == LOGIN


def test_a_whole_login_may_stand_elsewhere_and_a_password_like_a_placeholder_stays_as_it_is(
    told, monkeypatch
):
    odd = "${env:LOGIN}-and-more"
    login = JAAS.partition("=")[2].replace("\\\n", " ").replace(PASSWORD, odd)
    monkeypatch.setenv("LOGIN", login)
    monkeypatch.setenv("KAFKA_PASSWORD", odd)
    text = "security.protocol=SASL_PLAINTEXT\n"
    whole = told(f"{text}sasl.jaas.config=${{env:LOGIN}}")
    part = told(text + JAAS.replace(PASSWORD, "${env:KAFKA_PASSWORD}"))
    assert whole == part == LOGIN | {"sasl_plain_password": odd}


def test_what_java_has_for_itself_is_passed_over(told):
    text = "".join(f"{key}=x\n" for key in WITHOUT_EFFECT) + "config.providers.env.class=x\n"
    assert told(text) == {"client_id": "assay"}


def test_settings_that_ask_for_a_login_or_tls_need_their_protocol(told):
    assert refusal(told, JAAS).endswith("security.protocol is missing: add SASL_SSL")
    assert refusal(told, "ssl.ca.location=/ca.pem").endswith(
        "security.protocol is missing: add SSL"
    )
    assert told(f"security.protocol=PLAINTEXT\n{JAAS}")["security_protocol"] == "PLAINTEXT"


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("sasl.mechanizm=PLAIN", "sasl.mechanizm: no setting of a connection; nearest: sasl.mech"),
        ("sasl_plain_pasword=" + PASSWORD, "nearest: sasl_plain_password"),
        ("group.instance.name=a", "group.instance.name: no setting of a connection"),
        (f"{PASSWORD}=", "--config: no setting of a connection"),
        (PASSWORD, "--config: expected KEY=VALUE, but there is no = in it"),
        ("security.protocol=" + PASSWORD, "security.protocol: expected one of PLAINTEXT, SSL"),
        ("sasl.mechanism=" + PASSWORD, "sasl.mechanism: expected one of PLAIN, SCRAM-SHA-256"),
        ("receive_buffer_bytes=" + PASSWORD, "expected a whole number of 0 or more"),
        ("ssl_check_hostname=" + PASSWORD, "expected true or false"),
        ("api_version=" + PASSWORD, "expected a version as in 3.9"),
        ("client_dns_lookup=" + PASSWORD, "client_dns_lookup: expected one of use_all_dns_ips"),
        ("sasl.jaas.config=" + PASSWORD, "expected MODULE required username"),
        (f"sasl.jaas.config=a.PlainLoginModule required {PASSWORD}", "expected MODULE required"),
        (f'sasl.jaas.config=a.PlainLoginModule required password="{PASSWORD}', "expected MODULE"),
        (f'sasl.jaas.config=a.PlainLoginModule password="{PASSWORD}";', "expected MODULE"),
        (f'sasl.jaas.config=PlainLoginModule required password="{PASSWORD}";', "without username"),
        (
            f'sasl.jaas.config=x.OAuthBearerLoginModule required a="{PASSWORD}";',
            "sasl_oauth_token",
        ),
        (f'sasl.jaas.config=x.MyLoginModule required a="{PASSWORD}";', "the login module is none"),
        ("sasl.password=${env:NO_SUCH_NAME}", "no such variable in the environment"),
        (f"sasl.password=${{file:{__file__}:no.key}}", "no key no.key in that file"),
        ("sasl.password=${file:/nowhere/at/all}", "/nowhere/at/all: cannot be read: No such file"),
        ("ssl.ca.location=/nowhere", "/nowhere: cannot be read: No such file or directory"),
        ("ssl.keystore.key=" + PASSWORD, "ssl.keystore.key go together"),
        ("ssl.truststore.certificates=" + PASSWORD, "no certificate in it"),
        ("ssl_keyfile=/dev/null", "a key without a certificate"),
    ],
)
def test_a_setting_that_is_not_good_is_one_line_without_its_value(given, said):
    assert said in refusal(settings_of, None, ["security.protocol=SSL", given])


def test_a_line_of_a_file_is_named_and_a_password_in_it_is_not(told):
    assert f"client.properties:2: {'sasl.usrname'}" in refusal(
        told, f"security.protocol=SSL\nsasl.usrname={PASSWORD}"
    )
    assert refusal(told, PASSWORD).endswith("client.properties:1: no setting of a connection")


@pytest.mark.parametrize(
    ("mechanism", "said"),
    [
        ("PLAIN", "PLAIN needs a user: add sasl_plain_username or sasl.jaas.config"),
        ("OAUTHBEARER", "OAUTHBEARER needs a token: add sasl_oauth_token"),
        ("GSSAPI", "GSSAPI needs gssapi: pip install gssapi"),
        ("AWS_MSK_IAM", "AWS_MSK_IAM needs botocore: pip install botocore"),
    ],
)
def test_a_mechanism_says_what_it_needs(mechanism, said):
    given = ["security.protocol=SASL_SSL", f"sasl.mechanism={mechanism}"]
    assert said in refusal(settings_of, None, given)


def test_a_token_is_handed_to_the_client_as_it_is():
    given = ["security.protocol=SASL_PLAINTEXT", "sasl.mechanism=OAUTHBEARER"]
    connection = Connection.told("a:1", config=[*given, f"sasl_oauth_token={PASSWORD}"])
    settings = connection.settings
    assert f"Bearer {settings['sasl_oauth_token_provider'].token()}" == f"Bearer {PASSWORD}"
    assert PASSWORD not in f"{connection!r} {settings!r}"


@pytest.mark.parametrize(
    ("start", "said"),
    [
        (b"\xfe\xed\xfe\xed\0\0", "a Java keystore, and a Python client reads PEM: keytool -list"),
        (b"\x30\x82\x01\x02", "a Java keystore, and a Python client reads PEM: keytool -list"),
        (b"hello", "not PEM: expected -----BEGIN CERTIFICATE----- in it"),
        (b"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n", "no certificate in"),
    ],
)
def test_a_store_that_python_cannot_read_says_what_to_give_instead(tmp_path, start, said):
    store = tmp_path / "store"
    store.write_bytes(start)
    given = ["security.protocol=SSL", "ssl.truststore.password=" + PASSWORD]
    found = refusal(settings_of, None, [*given, f"ssl.truststore.location={store}"])
    assert found.startswith(f"{store}: ")
    assert said in found
    if b"PEM" not in start and not start.startswith((b"h", b"-")):
        own = refusal(settings_of, None, [*given, f"ssl.keystore.location={store}"])
        assert f"openssl pkcs12 -in {store} -out client.pem" in own


@pytest.mark.parametrize("bootstrap", ["abc:def", "a:0", "a:65536", "", ",", "a b:1", "a:1:2"])
def test_an_address_that_is_none_is_refused(bootstrap):
    assert refusal(Connection.told, bootstrap).startswith("--bootstrap-server")


def test_every_setting_of_the_client_that_a_text_can_say_is_known():
    load_kafka_python()
    from kafka import KafkaAdminClient

    objects = {
        "kafka_client", "metric_reporters", "metrics_num_samples", "metrics_sample_window_ms",
        "selector", "socket_options", "ssl_context", "sasl_oauth_token_provider",
    }  # fmt: skip
    ours = {"sasl_oauth_token", "ssl_cadata", "ssl_certdata", "ssl_keydata"}
    known = {*SETTINGS, "socks5_proxy"}
    passed_over = {"bootstrap_servers", "bootstrap_timeout_ms", "request_timeout_ms"}
    assert known - ours == {*KafkaAdminClient.DEFAULT_CONFIG} - objects - passed_over
    assert not KNOWN.keys() & {*WITHOUT_EFFECT}


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("a=b", [(1, "a", "b")]),
        ("  a : b c \n", [(1, "a", "b c ")]),
        ("a b=c", [(1, "a", "b=c")]),
        ("a", [(1, "a", "")]),
        ("a\\ b\\:c=d", [(1, "a b:c", "d")]),
        ("# no\n! no\n\na=\\u00e9\\t\\\\", [(4, "a", "é\t\\")]),
        ("a=b\\\n   c\\\n  d\ne=f", [(1, "a", "bcd"), (4, "e", "f")]),
        ("a=b\\\\\nc=d", [(1, "a", "b\\"), (2, "c", "d")]),
        ("a=b\\\n# c", [(1, "a", "b# c")]),
        ("a=b\\", [(1, "a", "b")]),
        ("a=b\r\nc=d\re=f", [(1, "a", "b"), (2, "c", "d"), (3, "e", "f")]),
    ],
)
def test_properties_are_read_as_java_reads_them(text, found):
    assert [*properties_in(text)] == found


@pytest.mark.parametrize(
    ("written", "password"),
    [
        ('"a b;=\\"c\\\\"', 'a b;="c\\'),
        ("'single'", "single"),
        ("plain-word_1", "plain-word_1"),
        ('""', ""),
    ],
)
def test_a_login_is_read_as_java_reads_it(written, password):
    text = f'a.b.PlainLoginModule /* x */ REQUIRED password={written} username = "u" more="x" ;'
    assert login_of(text)["sasl_plain_password"] == password
    assert login_of(text)["sasl_mechanism"] == "PLAIN"


def test_a_kerberos_login_is_its_service():
    text = 'com.sun.security.auth.module.Krb5LoginModule required serviceName="kafka";'
    assert login_of(text) == {"sasl_mechanism": "GSSAPI", "sasl_kerberos_service_name": "kafka"}


def test_the_file_of_amazon_s_clients_for_java_is_taken(tmp_path):
    module = "software.amazon.msk.auth.iam.IAMLoginModule required"
    assert login_of(f"{module};") == {"sasl_mechanism": "AWS_MSK_IAM"}
    with pytest.raises(BadInput, match=r"IAMLoginModule with awsProfileName: .* AWS_PROFILE"):
        login_of(f'{module} awsProfileName="mine";')
    file = tmp_path / "client.properties"
    file.write_text(
        "security.protocol=SASL_SSL\nsasl.mechanism=AWS_MSK_IAM\n"
        f"sasl.jaas.config={module};\n"
        "sasl.client.callback.handler.class=software.amazon.msk.auth.iam.IAMClientCallbackHandler\n"
        "group.id=orders\n"
    )
    # It gets as far as the package that the mechanism needs, which is not installed here.
    with pytest.raises(BadInput, match="AWS_MSK_IAM needs botocore"):
        settings_of(str(file), [])
