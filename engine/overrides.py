"""Decorator `override` for Python 3.11, which avoids the import of typing_extensions at run time."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing_extensions import override as override
else:

    def override(method: object) -> object:
        """Mark a method that overrides a method of a base class. The type checker verifies it."""
        return method
