"""Certificates of this test's own, for no host and of no worth, with an encrypted key."""

import ssl
from pathlib import Path

import pytest

from groups.errors import BadInput
from live.connection.client_settings import settings_of

CERTIFICATES = Path(__file__).parent / "certificates"
CERTIFICATE, OTHER, KEY = (
    CERTIFICATES / name for name in ("client.pem", "other.pem", "client-key.pem")
)
PASSWORD = "hunter2-and-more"


def context(*given) -> ssl.SSLContext:
    made = settings_of(None, ["security.protocol=SSL", *given])[0]["ssl_context"]
    assert isinstance(made, ssl.SSLContext)
    return made


@pytest.fixture
def together(tmp_path) -> Path:
    file = tmp_path / "client.pem"
    file.write_text(KEY.read_text() + CERTIFICATE.read_text())
    return file


def test_a_host_is_checked_and_the_system_trusted_where_nobody_says_otherwise():
    made = context()
    assert made.check_hostname
    assert made.verify_mode == ssl.CERT_REQUIRED
    assert made.minimum_version == ssl.TLSVersion.TLSv1_2
    assert not context("ssl.endpoint.identification.algorithm=").check_hostname


def test_who_is_trusted_may_stand_in_a_file_or_in_the_setting_itself():
    for given in (
        f"ssl.truststore.location={CERTIFICATE}",
        f"ssl_cafile={CERTIFICATE}",
        f"ssl.truststore.certificates={CERTIFICATE.read_text()}",
    ):
        (trusted,) = context(given).get_ca_certs()
        assert trusted["subject"] == ((("commonName", "a test, of no worth"),),)


def test_a_client_certificate_may_stand_in_one_file_in_two_or_in_the_settings(together):
    password = f"ssl.key.password={PASSWORD}"
    context(f"ssl.keystore.location={together}", password)
    context(f"ssl_certfile={CERTIFICATE}", f"ssl_keyfile={KEY}", f"ssl_password={PASSWORD}")
    chain = f"ssl.keystore.certificate.chain={CERTIFICATE.read_text()}"
    context(chain, f"ssl.keystore.key={KEY.read_text()}", password)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ((), "client-key.pem: no certificate with its private key; is ssl.key.password right?"),
        (("ssl_password=wrong",), "no certificate with its private key; is ssl.key.password ri"),
        ((f"ssl_certfile={OTHER}", f"ssl_password={PASSWORD}"), "the key is not that of the cer"),
        (("ssl_keyfile=/nowhere",), "/nowhere: cannot be read: No such file or directory"),
    ],
)
def test_a_client_certificate_that_is_not_good_is_one_line(given, said):
    with pytest.raises(BadInput) as refused:
        context(f"ssl_certfile={CERTIFICATE}", f"ssl_keyfile={KEY}", *given)
    assert said in str(refused.value)
    assert PASSWORD not in str(refused.value)
