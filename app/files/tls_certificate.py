"""Self-signed certificate for connections whose clients know the certificate or its fingerprint. Without Qt."""

import ssl
import tempfile
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path
from typing import Final

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID

VALIDITY_PERIOD: Final = timedelta(days=3650)
"""Period for which a certificate is valid. Assumed.

No client checks the period, because clients compare the certificate or its fingerprint.
"""


def create_certificate(subject: str, addresses: Sequence[str] = ()) -> tuple[str, str]:
    """Create a certificate for *subject* and its key, both in PEM. *addresses*: addresses to which clients connect."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, subject)])
    time = datetime.now(UTC)
    builder = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(time - timedelta(days=1))  # because the clocks of two computers may differ
        .not_valid_after(time + VALIDITY_PERIOD)
    )
    if addresses:
        ip_addresses = [x509.IPAddress(ip_address(address)) for address in addresses]
        builder = builder.add_extension(x509.SubjectAlternativeName(ip_addresses), critical=False)
    signed = builder.sign(key, hashes.SHA256())
    secret = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    return signed.public_bytes(Encoding.PEM).decode(), secret.decode()


def create_server_context(
    certificate: str, key: str, tls_version_min: ssl.TLSVersion = ssl.TLSVersion.TLSv1_3
) -> ssl.SSLContext:
    """Return the TLS context of a server. *tls_version_min*: minimum version of TLS.

    OpenSSL reads certificate and key from a file, which exists only during this call.
    """
    new_context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    new_context.minimum_version = tls_version_min
    with tempfile.TemporaryDirectory() as folder:  # only its owner can read this folder
        file = Path(folder) / "own.pem"
        file.write_text(certificate + key)
        new_context.load_cert_chain(file)
    return new_context
