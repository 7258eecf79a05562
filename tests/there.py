"""What a test knows to be there."""

from __future__ import annotations

from typing import TypeVar

Found = TypeVar("Found")


def there(found: Found | None) -> Found:
    """Not None: else the test fails here."""
    assert found is not None
    return found
