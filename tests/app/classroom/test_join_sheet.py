"""Tests of the printed sheet for participants, with the join code and instructions."""

from __future__ import annotations

import re

from app.classroom.join_code import parse_invitation
from app.classroom.join_sheet import JOIN_STEPS, build_join_sheet
from app.words import language

CODE = "G66BQ-QPTEX-0781R-PD1TP@10.0.0.5:7443,192.168.1.5:7443"


def test_sheet_shows_a_code_that_a_seat_can_type_and_every_step() -> None:
    page = build_join_sheet("Cable & <witness>", CODE)
    assert "Cable &amp; &lt;witness&gt;" in page
    secret, address = re.findall(r'<p class="(?:code|address)">([^<]+)</p>', page)
    assert parse_invitation(secret + address) == parse_invitation(CODE)
    assert page.count("<li>") == len(JOIN_STEPS)
    assert page.count("<svg") == 1
    assert "@" not in build_join_sheet("Cable", CODE.partition("@")[0]).partition("</style>")[2]


def test_sheet_is_german_in_a_german_window() -> None:
    english = build_join_sheet("Cable", CODE)
    language.use_language(language.GERMAN)
    try:
        german = build_join_sheet("Cable", CODE)
    finally:
        language.use_language(language.ENGLISH)
    pairs = zip(re.findall("<li>.*?</li>", english), re.findall("<li>.*?</li>", german), strict=True)
    assert all(ours != theirs for ours, theirs in pairs)
