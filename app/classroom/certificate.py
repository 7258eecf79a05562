"""Certificate of a class host, created once per class. The join code contains its fingerprint."""

from __future__ import annotations

import ssl
from typing import TYPE_CHECKING

from app.files import tls_certificate

if TYPE_CHECKING:
    from app.classroom.join_code import Invitation


def create_certificate() -> tuple[str, str]:
    """Return a certificate and its key, both in PEM."""
    return tls_certificate.create_certificate("Mirrordrill class")


def convert_to_der(pem: str) -> bytes:
    """Convert a certificate from PEM to DER."""
    return ssl.PEM_cert_to_DER_cert(pem)


def create_seat_context() -> ssl.SSLContext:
    """Build the TLS context of a seat.

    The context accepts any certificate. `has_expected_certificate` then compares the fingerprint with the
    join code.
    """
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.minimum_version = ssl.TLSVersion.TLSv1_3
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return context


def has_expected_certificate(connection: ssl.SSLObject, invitation: Invitation) -> bool:
    """Return whether the certificate of the other end has the fingerprint in *invitation*."""
    from app.classroom.join_code import compute_fingerprint

    peer_certificate = connection.getpeercert(binary_form=True)
    return peer_certificate is not None and compute_fingerprint(peer_certificate) == invitation.fingerprint
