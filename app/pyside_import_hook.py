"""Imports without a look at the source of each module.

PySide reads it, through `inspect`, for every module that is imported after PySide: whether the word PySide6 is in it
decides whether `from __feature__ import ...` could change how Qt's methods are called there. Nothing here asks for
that, and where there is no source, as in a packed program, PySide goes on with the answer that is given here.
"""

from __future__ import annotations

import sys

import PySide6.QtCore  # noqa: F401  # has the hook in place

_ASKED = "_mod_uses_pyside"

_hook = sys.modules.get("shibokensupport.feature")
if hasattr(_hook, _ASKED):  # no part of PySide's interface: another version may have none
    setattr(_hook, _ASKED, lambda module: False)
