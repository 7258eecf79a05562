"""`override` for Python 3.11, without importing typing_extensions at run time."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing_extensions import override as override
else:

    def override(method: object) -> object:
        """Mark a method that overrides one of a base class; the type checker verifies it."""
        return method
