"""Interface language: texts of the program by `app.words.language`, texts of Qt's dialogs by Qt's catalog."""

from __future__ import annotations

import os

from PySide6.QtCore import QLibraryInfo, QLocale, QTranslator
from PySide6.QtWidgets import QApplication

from app import settings
from app.settings import WindowSettings
from app.words import language


def speak(app: QApplication, store: WindowSettings) -> None:
    """Set the language of this start: from the environment, else from the menu, else from the system."""
    wanted = os.environ.get(language.ENVIRONMENT, "")
    language.use(language.choose_language(wanted, store.get(settings.LANGUAGE), QLocale.system().name()))
    if language.current() not in (language.ENGLISH, language.PSEUDO):
        words = QTranslator(app)
        folder = QLibraryInfo.path(QLibraryInfo.LibraryPath.TranslationsPath)
        if words.load(f"qtbase_{language.current()}", folder):
            app.installTranslator(words)
