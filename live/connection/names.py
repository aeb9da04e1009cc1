"""Names: of settings, in kafka-python's words and in those of Java's and librdkafka's clients."""

from __future__ import annotations

from difflib import get_close_matches

PROTOCOLS = ("PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL")
MECHANISMS = (
    "PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512", "GSSAPI", "OAUTHBEARER", "AWS_MSK_IAM",
)  # fmt: skip

LOOKUPS = ("use_all_dns_ips", "resolve_canonical_bootstrap_servers_only")

NUMBERS = (
    "connections_max_idle_ms",
    "max_in_flight_requests_per_connection",
    "metadata_max_age_ms",
    "receive_buffer_bytes",
    "receive_message_max_bytes",
    "reconnect_backoff_max_ms",
    "reconnect_backoff_ms",
    "retry_backoff_ms",
    "send_buffer_bytes",
)
# The data of certificates and the token are ours: the client takes objects for them.
SECRET = ("proxy_url", "sasl_oauth_token", "sasl_plain_password", "ssl_keydata", "ssl_password")
TEXTS = (
    "api_version",
    "client_dns_lookup",
    "client_id",
    "sasl_kerberos_domain_name",
    "sasl_kerberos_name",
    "sasl_kerberos_service_name",
    "sasl_mechanism",
    "sasl_plain_username",
    "security_protocol",
    "ssl_cadata",
    "ssl_cafile",
    "ssl_certdata",
    "ssl_certfile",
    "ssl_check_hostname",
    "ssl_crlfile",
    "ssl_keyfile",
)
JAAS = "sasl.jaas.config"
IDENTIFICATION = "ssl.endpoint.identification.algorithm"

ALIASES = {
    "sasl.mechanisms": "sasl_mechanism",
    "sasl.username": "sasl_plain_username",
    "sasl.password": "sasl_plain_password",
    "sasl.kerberos.service.name": "sasl_kerberos_service_name",
    "ssl.truststore.location": "ssl_cafile",
    "ssl.truststore.certificates": "ssl_cadata",
    "ssl.keystore.location": "ssl_certfile",
    "ssl.keystore.certificate.chain": "ssl_certdata",
    "ssl.keystore.key": "ssl_keydata",
    "ssl.key.password": "ssl_password",
    "ssl.ca.location": "ssl_cafile",
    "ssl.ca.pem": "ssl_cadata",
    "ssl.certificate.location": "ssl_certfile",
    "ssl.certificate.pem": "ssl_certdata",
    "ssl.key.location": "ssl_keyfile",
    "ssl.key.pem": "ssl_keydata",
    "ssl.crl.location": "ssl_crlfile",
    "socks5_proxy": "proxy_url",
}
# Java's, which change nothing for a client that only asks a few questions; the address and the
# times are options of the command.
WITHOUT_EFFECT = (
    "bootstrap.controllers",
    "bootstrap.servers",
    "bootstrap_servers",
    "bootstrap_timeout_ms",
    "config.providers",
    "default.api.timeout.ms",
    "enable.metrics.push",
    "metadata.recovery.rebootstrap.trigger.ms",
    "metadata.recovery.strategy",
    "metric.reporters",
    "metrics.num.samples",
    "metrics.recording.level",
    "metrics.sample.window.ms",
    "request.timeout.ms",
    "request_timeout_ms",
    "retries",
    "retry.backoff.max.ms",
    "sasl.login.connect.timeout.ms",
    "sasl.login.read.timeout.ms",
    "sasl.login.refresh.buffer.seconds",
    "sasl.login.refresh.min.period.seconds",
    "sasl.login.refresh.window.factor",
    "sasl.login.refresh.window.jitter",
    "sasl.login.retry.backoff.max.ms",
    "sasl.login.retry.backoff.ms",
    "socket.connection.setup.timeout.max.ms",
    "socket.connection.setup.timeout.ms",
    "ssl.enabled.protocols",
    "ssl.keystore.password",
    "ssl.keystore.type",
    "ssl.protocol",
    "ssl.truststore.password",
    "ssl.truststore.type",
)
_OURS = {*NUMBERS, *SECRET, *TEXTS}
_DOTTED = {name.replace("_", "."): name for name in _OURS}
KNOWN = {**{name: name for name in _OURS}, **_DOTTED, **ALIASES}
_NAMED = (*KNOWN, JAAS, IDENTIFICATION, *WITHOUT_EFFECT)


def is_without_effect(key: str) -> bool:
    """Return whether a setting is one that changes nothing here."""
    return key in WITHOUT_EFFECT or key.startswith("config.providers.")


def without_secret(text: str) -> str | None:
    """Return ``KEY=VALUE`` as it may be shown, None where it changes nothing.

    Which values are secret is told by their keys: nobody sees by its look what a password is.
    """
    key, _, value = text.partition("=")
    name = key.strip()
    if is_without_effect(name):
        return None
    return f"{name}={'...' if name == JAAS or KNOWN.get(name) in SECRET else value}"


def unknown(key: str) -> str:
    """Return that a setting is not known, and which is the nearest.

    What does not look like a setting is not shown: it could be a password.
    """
    near = get_close_matches(key, _NAMED, n=1, cutoff=0.7)
    looks = key.islower() and ("." in key or "_" in key)
    what = f"{key}: no setting of a connection" if near or looks else "no setting of a connection"
    return f"{what}; nearest: {near[0]}" if near else what
