"""Import hook that prevents PySide from reading the source of each module.

For every module that is imported later, PySide reads the source through `inspect` and searches for the word
PySide6, because `from __feature__ import ...` could change Qt's method calls there. No module of this program
uses that feature. Without a source, as in a packed program, PySide relies on the answer of this hook.
"""

import sys

import PySide6.QtCore  # noqa: F401  # has the hook in place

_HOOK_FUNCTION = "_mod_uses_pyside"

_hook = sys.modules.get("shibokensupport.feature")
if hasattr(_hook, _HOOK_FUNCTION):  # this is not a public interface of PySide, so another version may lack it
    setattr(_hook, _HOOK_FUNCTION, lambda module: False)
