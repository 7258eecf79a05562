"""Join code: proof for a seat that it reaches the right host, and for the host that the seat was invited."""

import hashlib
import re
import secrets
from typing import Final

from msgspec import Struct

from app.words.language import mark, tr

CODE_ALPHABET: Final = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
"""Characters of a code, five bits each.

I, L, O and U are missing, because people misread them [Crockford's Base32].
"""
SECRET_LENGTH: Final = 6
"""Length of the secret in characters. Its 30 bits are known only to invited people.

At the rate at which a host checks codes (app/classroom/rate_limit.py), trying half of all secrets takes eight
years.
"""
FINGERPRINT_LENGTH: Final = 14
"""Length of the fingerprint in characters: 70 bits of the SHA-256 hash of the host's certificate."""
DEFAULT_PORT: Final = "7443"
"""Default TCP port of a class. It resembles 443, which requires an administrator. Assumed."""
CODE_GROUP_LENGTH: Final = 5
"""Number of characters between two dashes of a code."""
ADDRESS_MISSING_TEXT: Final = mark(
    "add the address to the code, for example XXXXX-XXXXX-XXXXX-XXXXX@192.168.1.5:7443"
)
_MISREAD_TRANSLATION: Final = str.maketrans("ILO", "110", "- ")


class InvalidJoinCodeError(Exception):
    """Error for a text that is not a join code with an address. The message states the expected form."""


class Invitation(Struct, frozen=True):
    """Addresses of a class, and the secret that admits a seat."""

    secret: str
    fingerprint: str
    host: str
    """Address of the host. If empty, the seat searches the network for the class (app/classroom/discovery.py)."""
    port: int
    other_hosts: tuple[str, ...] = ()
    """HOST:PORT of the other hosts of the class."""

    def __str__(self) -> str:
        code = format_code_groups(self.secret + self.fingerprint)
        return f"{code}@{','.join(self.addresses)}" if self.host else code

    @property
    def addresses(self) -> list[str]:
        """HOST:PORT of each host."""
        return [format_address(self.host, self.port), *self.other_hosts] if self.host else []


def format_address(host: str, port: int) -> str:
    """Return `host:port`. An IPv6 address is enclosed in brackets."""
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def get_local_dial_address(host: str) -> str:
    """Return the address at which a program on this computer reaches a host that listens on *host*."""
    return {"0.0.0.0": "127.0.0.1", "[::]": "[::1]", "::": "[::1]"}.get(host, host)


def compute_fingerprint(certificate: bytes) -> str:
    """Return the first FINGERPRINT_LENGTH characters of the fingerprint of *certificate*, which is in DER format."""
    bits = int.from_bytes(hashlib.sha256(certificate).digest())
    return _encode_letters(bits >> (256 - 5 * FINGERPRINT_LENGTH), FINGERPRINT_LENGTH)


def create_secret() -> str:
    """Return a random secret for a class."""
    return _encode_letters(secrets.randbits(5 * SECRET_LENGTH), SECRET_LENGTH)


def _encode_letters(bits: int, count: int) -> str:
    return "".join(CODE_ALPHABET[bits >> 5 * place & 31] for place in reversed(range(count)))


def format_code_groups(code: str) -> str:
    """Return the code in groups of characters that are easy to read aloud."""
    return "-".join(
        code[start : start + CODE_GROUP_LENGTH] for start in range(0, len(code), CODE_GROUP_LENGTH)
    )


def parse_invitation(text: str) -> Invitation:
    """Parse `CODE@HOST:PORT`. A class with several hosts has more addresses, separated by commas.

    Without an address, the seat searches the network for the class later. Raises InvalidJoinCodeError.
    """
    code_text, _, host_text = text.strip().partition("@")
    code = code_text.upper().translate(_MISREAD_TRANSLATION)
    if len(code) != SECRET_LENGTH + FINGERPRINT_LENGTH or not set(code) <= set(CODE_ALPHABET):
        raise InvalidJoinCodeError(
            tr(
                "“{text}” is not a join code: a code has {n} letters and digits, such as XXXXX-XXXXX-XXXXX-XXXXX. "
                "Compare it with the instructor's screen."
            ).format(text=code_text, n=SECRET_LENGTH + FINGERPRINT_LENGTH)
        )
    if not host_text:
        return Invitation(code[:SECRET_LENGTH], code[SECRET_LENGTH:], "", 0)
    (host, port), *other_addresses = [
        _parse_address(address_text.strip()) for address_text in host_text.split(",")
    ]
    return Invitation(
        code[:SECRET_LENGTH],
        code[SECRET_LENGTH:],
        host,
        port,
        tuple(format_address(*other_address) for other_address in other_addresses),
    )


def _parse_address(text: str) -> tuple[str, int]:
    """Return host and port. Without a port, return the default port of a class. Raises InvalidJoinCodeError."""
    host, _, port = (
        text.rpartition(":") if text.rpartition("]")[2].count(":") == 1 else (text, "", DEFAULT_PORT)
    )
    if not host or not re.fullmatch(r"\d{1,5}", port) or not 0 < int(port) < 65_536:
        raise InvalidJoinCodeError(
            tr("{address!r} is not an address; expected HOST:PORT").format(address=text)
        )
    return host.strip("[]"), int(port)
