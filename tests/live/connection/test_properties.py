import pytest

from live.connection.properties import login_of, properties_in


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
