"""The host's own certificate, made once for a class; the join code names it, so nobody else has to vouch for it."""

from __future__ import annotations

import ssl
import tempfile
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Final

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID

if TYPE_CHECKING:
    from app.classroom.code import Invitation

VALID: Final = timedelta(days=3650)
"""Nobody looks at it: a seat compares the fingerprint. Assumed."""


def new() -> tuple[str, str]:
    """A certificate and its key, both in PEM."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "Mirrordrill class")])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))  # clocks of a class differ
        .not_valid_after(now + VALID)
        .sign(key, hashes.SHA256())
    )
    secret = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    return made.public_bytes(Encoding.PEM).decode(), secret.decode()


def in_der(certificate: str) -> bytes:
    return ssl.PEM_cert_to_DER_cert(certificate)


def of_host(certificate: str, key: str) -> ssl.SSLContext:
    """What the host speaks TLS with; OpenSSL reads both from a file, which is there for that moment only."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_3
    with tempfile.TemporaryDirectory() as folder:  # only its owner can look into it
        file = Path(folder) / "class.pem"
        file.write_text(certificate + key)
        context.load_cert_chain(file)
    return context


def of_seat() -> ssl.SSLContext:
    """What a seat dials with: whoever answers is let in, and `matches` then says whether it is the host."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.minimum_version = ssl.TLSVersion.TLSv1_3
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return context


def matches(connection: ssl.SSLObject, invitation: Invitation) -> bool:
    """Whether the other end has the certificate that the *invitation* names."""
    from app.classroom.code import fingerprint

    shown = connection.getpeercert(binary_form=True)
    return shown is not None and fingerprint(shown) == invitation.fingerprint
