"""TLS: what is trusted, and the certificate that a client shows."""

from __future__ import annotations

import os
import ssl
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from groups.errors import BadInput

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_PEM = b"-----BEGIN "
# Of Java's own keystores; the other kind, PKCS12, is DER, which begins with a sequence.
_JKS, _DER = b"\xfe\xed\xfe\xed", b"\x30"
_TRUSTED = "keytool -list -rfc -keystore {file} > ca.pem, then give ssl.truststore.location=ca.pem"
_OWN = (
    "openssl pkcs12 -in {file} -out client.pem (of JKS first: keytool -importkeystore "
    "-srckeystore {file} -destkeystore client.p12 -deststoretype pkcs12), "
    "then give ssl.keystore.location=client.pem and ssl.key.password"
)


def tls_context(told: Mapping[str, object]) -> ssl.SSLContext:
    """Return how TLS is spoken, as settings in kafka-python's names say.

    Raises
    ------
    BadInput
        Where a file cannot be read, holds no certificate or key, or its password is wrong.
    """
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.check_hostname = bool(told.get("ssl_check_hostname", True))
    _trust(context, told)
    certificate, key = told.get("ssl_certfile"), told.get("ssl_keyfile")
    password = told.get("ssl_password")
    if certificate is not None:
        path = _pem(str(certificate), _OWN)
        _show(context, path, None if key is None else _pem(str(key), _OWN), password)
    elif "ssl_certdata" in told or "ssl_keydata" in told:
        if not ("ssl_certdata" in told and "ssl_keydata" in told):
            raise BadInput("ssl.keystore.certificate.chain and ssl.keystore.key go together")
        key_text = str.__str__(told["ssl_keydata"])
        with _in_memory(f"{key_text}\n{told['ssl_certdata']}\n") as path:
            _show(context, path, None, password, "ssl.keystore.key")
    elif key is not None:
        raise BadInput(f"ssl_keyfile {key}: a key without a certificate; add ssl_certfile")
    return context


def _trust(context: ssl.SSLContext, told: Mapping[str, object]) -> None:
    file, data, revoked = (told.get(f"ssl_{name}") for name in ("cafile", "cadata", "crlfile"))
    if file is None and data is None:
        context.load_default_certs()
    if file is not None:
        path = _pem(str(file), _TRUSTED)
        try:
            context.load_verify_locations(path)
        except ssl.SSLError:
            raise BadInput(f"{path}: no certificate in it") from None
    if data is not None:
        try:
            context.load_verify_locations(cadata=str(data))
        except (ssl.SSLError, ValueError):
            raise BadInput("ssl.truststore.certificates: no certificate in it") from None
    if revoked is not None:
        path = _pem(str(revoked), _TRUSTED)
        try:
            context.load_verify_locations(path)
        except ssl.SSLError:
            raise BadInput(f"{path}: no list of revoked certificates") from None
        context.verify_flags |= ssl.VERIFY_CRL_CHECK_LEAF


def _show(
    context: ssl.SSLContext, path: str, key: str | None, password: object, name: str = ""
) -> None:
    """Show a certificate to the broker; `name` is said instead of a path that nobody gave."""
    # Without a password OpenSSL would ask on the terminal.
    plain = "" if password is None else str.__str__(password)
    try:
        context.load_cert_chain(path, key, lambda: plain)
    except ssl.SSLError as error:
        place = name or key or path
        if error.reason == "KEY_VALUES_MISMATCH":
            raise BadInput(f"{place}: the key is not that of the certificate") from None
        wrong = password is not None or b"ENCRYPTED" in Path(key or path).read_bytes()
        hint = "; is ssl.key.password right?" if wrong else ""
        raise BadInput(f"{place}: no certificate with its private key{hint}") from None


def _pem(path: str, instead: str) -> str:
    """Return the path of a file that holds PEM; say what to do with a Java keystore."""
    try:
        data = Path(path).read_bytes()
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "no path"
        raise BadInput(f"{path}: cannot be read: {reason}") from None
    if _PEM in data:
        return path
    if data.startswith((_JKS, _DER)):
        how = instead.format(file=path)
        raise BadInput(f"{path}: a Java keystore, and a Python client reads PEM: {how}")
    raise BadInput(f"{path}: not PEM: expected -----BEGIN CERTIFICATE----- in it")


@contextmanager
def _in_memory(text: str) -> Iterator[str]:
    """Give the path of a file that is in memory alone: OpenSSL reads keys from files only."""
    if not hasattr(os, "memfd_create"):
        raise BadInput("ssl.keystore.key: needs Linux; give ssl_certfile and ssl_keyfile instead")
    number = os.memfd_create("key")
    try:
        os.write(number, text.encode())
        yield f"/proc/self/fd/{number}"
    finally:
        os.close(number)
