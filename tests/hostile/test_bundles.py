"""Tests of bundles of unknown origin: any archive is read correctly, or refused with all reasons."""

from __future__ import annotations

import time
import tracemalloc
from pathlib import Path

import pytest

from app.files import bundle
from app.files.bundle import BundleError
from engine.drill.authoring.scenario import load_scenario
from tests.hostile.bundles import (
    DRILL_TEXT,
    MANIFEST_HEAD,
    ArchiveEntry,
    build_archive,
    build_drill_entry,
    build_manifest,
    build_valid_archive,
)


def get_refusal(raw: bytes) -> str:
    with pytest.raises(BundleError) as caught:
        bundle.parse_bundle(raw, "x.mirrordrill")
    assert all("\n" not in str(problem) for problem in caught.value.problems)
    return str(caught.value)


def test_a_valid_bundle_is_read() -> None:
    parsed = bundle.parse_bundle(build_valid_archive(build_drill_entry()), "x.mirrordrill")
    assert parsed.manifest.title == "A course"
    assert dict(parsed.scenarios) == {"small": DRILL_TEXT}


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        (b"/etc/passwd", "absolute path"), (b"C:/x.toml", "absolute path"), (b"C:x.toml", "absolute path"),
        (b"../x.toml", "path outside"), (b"scenarios/../../x.toml", "path outside"),
        (b"scenarios\\..\\x.toml", "path outside"),
        (b"scenarios\\x.toml", "invalid character"), (b"scenarios/x.toml\0.png", "invalid character"),
        (b"scenarios/nul.toml", "invalid name"), (b"scenarios/com1.toml", "invalid name"),
        (b"scenarios/-x.toml", "invalid name"), (b"scenarios/" + b"x" * 61 + b".toml", "invalid name"),
        (b"scenarios/" + b"x" * 200 + b".toml", "longer than 100 characters"),
        (b"scenarios/X.toml", "not allowed in a bundle"), (b"scenarios/a/b.toml", "not allowed in a bundle"),
        (b"scenarios/x.toml/", "not allowed in a bundle"), (b"scenarios/", "not allowed in a bundle"),
        (b"x.py", "not allowed in"),
        (b"scenarios/x.toml ", "not allowed in a bundle"), (b"scenarios/x.toml\n", "not allowed in a bundle"),
        (b"images/x.svg", "not allowed in a bundle"), (b"runs/inner.mirrordrill", "not allowed in a bundle"),
        ("scenarios/ſmall.toml".encode(), "not allowed in a bundle"), ("scenarios/\u202ex.toml".encode(), "⟨U+202E⟩"),
        (b"", "not allowed in a bundle"),
    ],
)  # fmt: skip
def test_an_unexpected_name_is_refused(name: bytes, reason: str) -> None:
    flags = 0x800 if not name.isascii() else 0
    assert reason in get_refusal(
        build_archive(
            [
                build_manifest([build_drill_entry()]),
                build_drill_entry(),
                ArchiveEntry(name, b"x", flags=flags),
            ]
        )
    )


@pytest.mark.parametrize(
    ("entry", "reason"),
    [
        (build_drill_entry(mode=0o120777), "a link"),
        (build_drill_entry(mode=0o040755), "a link, a folder"),
        (build_drill_entry(mode=0o020666), "a link"),
        (build_drill_entry(flags=1), "encrypted"),
        (build_drill_entry(flags=0x40), "encrypted"),
        (build_drill_entry(flags=0x2000), "encrypted"),
        (build_drill_entry(flags=0x20), "damaged"),
        (build_drill_entry(method=12, packed_content=b"BZh9"), "method 12"),
        (build_drill_entry(method=14, packed_content=b"x"), "method 14"),
        (build_drill_entry(method=99, packed_content=b"x"), "method 99"),
        (build_drill_entry(crc=1), "damaged"),
        (build_drill_entry(packed_content=b"\xff" * 40), "damaged"),
        (build_drill_entry(size=10), "damaged"),
        (build_drill_entry(size=10**9), "unpacks to more"),
        (build_drill_entry(packed_size=10**6), "damaged"),
        (build_drill_entry(offset=10**8), "damaged"),
        (build_drill_entry(local_name=b"../small.toml"), "damaged"),
        (build_drill_entry(extra=b"\1\0\xff\xff"), "damaged"),
        (build_drill_entry(content=b"\xff\xfe"), "UTF-8"),
        (build_drill_entry(content=b"#" * 4_000_001, method=0), "too large"),
    ],
)
def test_a_mislabeled_member_is_refused(entry: ArchiveEntry, reason: str) -> None:
    assert reason in get_refusal(build_valid_archive(entry))


def test_duplicate_members_are_refused() -> None:
    twice = get_refusal(
        build_archive(
            [
                build_manifest([build_drill_entry()]),
                build_drill_entry(),
                build_drill_entry(content=b"another"),
            ]
        )
    )
    assert twice.count("several files") == 1
    assert "letter case" in get_refusal(
        build_archive(
            [
                build_manifest([build_drill_entry()]),
                build_drill_entry(),
                build_drill_entry(b"scenarios/SMALL.toml"),
            ]
        )
    )
    assert "listed more than once" in get_refusal(
        build_archive([build_manifest([build_drill_entry(), build_drill_entry()]), build_drill_entry()])
    )


def test_listed_and_actual_members_must_agree() -> None:
    assert "listed in bundle.toml, but" in get_refusal(
        build_archive(
            [build_manifest([build_drill_entry(), build_drill_entry(b"runs/a.json")]), build_drill_entry()]
        )
    )
    assert "not listed in bundle.toml" in get_refusal(
        build_archive(
            [
                build_manifest([build_drill_entry()]),
                build_drill_entry(),
                build_drill_entry(b"runs/a.json", b"{}"),
            ]
        )
    )
    assert "SHA-256 differs" in get_refusal(
        build_archive([build_manifest([build_drill_entry(content=b"other")]), build_drill_entry()])
    )
    assert "missing" in get_refusal(build_archive([build_drill_entry()]))


@pytest.mark.parametrize(
    ("head", "reason"),
    [
        ("format = 2\n" + MANIFEST_HEAD.partition("\n")[2], "a newer Mirrordrill"),
        ("format = 0\ntitle = 'x'\n", "unknown format 0"),
        ("format = true\ntitle = 'x'\n", "format:"), ("title = 'x'\n", "format:"), ("format = 1\n", "title:"),
        (MANIFEST_HEAD + "run = 'x'\n", "run:"), ("format = 1\ntitle = 'a\u202eb'\n", "invisible"),
        ("format = 1\ntitle = ", "TOML"),
        ("a = " + "[" * 5_000, "nested"), ("a." * 5_000 + "a = 1\n", "dots"), ("a = " + "9" * 5_000, "characters"),
        ("format = 1\ntitle = '" + "x" * 300 + "'\n", "title:"),
    ],
)  # fmt: skip
def test_an_unreadable_list_is_refused(head: str, reason: str) -> None:
    assert reason in get_refusal(build_valid_archive(build_drill_entry(), head=head))


def test_all_problems_are_reported_at_once() -> None:
    refusal = get_refusal(
        build_archive(
            [
                ArchiveEntry(b"../a"),
                ArchiveEntry(b"b.exe"),
                build_drill_entry(flags=1),
                build_drill_entry(b"runs/x.json", mode=0o120777),
            ]
        )
    )
    for reason in ("path outside", "not allowed in a bundle", "encrypted", "a link", "missing"):
        assert reason in refusal


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"PK\3\4",
        b"PK\5\6" + b"\0" * 18,
        b"SQLite format 3\0" * 10,
        build_valid_archive(build_drill_entry())[:-1],
        build_valid_archive(build_drill_entry()) + b"<html>",
        build_archive([build_manifest([build_drill_entry()]), build_drill_entry()], prefix=b"#!/bin/sh\n"),
        build_archive([build_drill_entry()], count=201),
        build_archive([build_drill_entry()], count=0xFFFF),
        build_archive([ArchiveEntry(b"x%d" % number) for number in range(300)], count=3),
        build_valid_archive(build_drill_entry())[:-22]
        + b"PK\6\7"
        + b"\0" * 16
        + build_valid_archive(build_drill_entry())[-22:],
    ],
    ids=range(11),
)
def test_a_foreign_archive_is_refused(raw: bytes) -> None:
    get_refusal(raw)


def test_zip_bombs_are_refused_cheaply() -> None:
    """A member expands a thousandfold, 200 members share one body, or a directory has 100,000 entries."""
    big = ArchiveEntry(b"runs/a.json", b"0" * 19_000_000)
    body = build_drill_entry(b"runs/x0.json", b"0" * 19_000_000)
    first = build_manifest([])
    place = len(build_archive([first])) - 22 - 46 - len(first.name)
    shared = [
        build_drill_entry(b"runs/x%d.json" % n, b"", crc=7, size=19_000_000, packed_size=10**6, offset=place)
        for n in range(190)
    ]
    many_entries = build_archive([ArchiveEntry(b"") for _ in range(100_000)], count=5)
    raws = [build_valid_archive(big), build_archive([first, body, *shared]), many_entries]
    tracemalloc.start()
    try:
        for raw in raws:
            tracemalloc.reset_peak()
            before, began = tracemalloc.get_traced_memory()[0], time.process_time()
            get_refusal(raw)
            assert time.process_time() - began < 6.0
            assert tracemalloc.get_traced_memory()[1] - before < 150_000_000
    finally:
        tracemalloc.stop()


def test_a_file_over_the_limit_is_refused_before_it_is_read(tmp_path: Path) -> None:
    file = tmp_path / "x.mirrordrill"
    with file.open("wb") as bundle_stream:
        bundle_stream.truncate(10**12)  # a sparse file
    with pytest.raises(BundleError, match="larger"):
        bundle.read_bundle(file)
    for path in (tmp_path, tmp_path / "none", Path("/dev/zero"), Path("a\0b"), tmp_path / ("x" * 5000)):
        with pytest.raises(BundleError):
            bundle.read_bundle(path)


def test_a_written_bundle_is_readable_and_reproducible(tmp_path: Path) -> None:
    runs = {"empty": b"0" * 1_000_000}  # This text would look like a zip bomb if it were compressed.
    first = bundle.write_bundle(
        tmp_path / "a.mirrordrill", "Über “x”\\", {"small": DRILL_TEXT}, runs, author="Ada", licence="CC0-1.0"
    )
    second_file = bundle.write_bundle(
        tmp_path / "b.mirrordrill", "Über “x”\\", {"small": DRILL_TEXT}, runs, author="Ada", licence="CC0-1.0"
    )
    assert first.sha256 == second_file.sha256
    parsed = bundle.read_bundle(tmp_path / "a.mirrordrill")
    assert (parsed.manifest.title, parsed.manifest.author, parsed.manifest.licence) == (
        "Über “x”\\",
        "Ada",
        "CC0-1.0",
    )
    assert (dict(parsed.scenarios), dict(parsed.runs)) == ({"small": DRILL_TEXT}, runs)
    load_scenario(parsed.scenarios["small"], "small.toml")


@pytest.mark.parametrize("title", ["", "a\u202eb", "\x7f", "\ud800", "x" * 201])
def test_an_unreadable_bundle_is_never_written(title: str, tmp_path: Path) -> None:
    with pytest.raises(BundleError):
        bundle.write_bundle(tmp_path / "a.mirrordrill", title, {"small": DRILL_TEXT})
    for names in ({"Small": DRILL_TEXT}, {"../x": DRILL_TEXT}, {"nul": DRILL_TEXT}, {}):
        with pytest.raises(BundleError):
            bundle.write_bundle(tmp_path / "a.mirrordrill", "x", names)
    assert not list(tmp_path.iterdir())


def test_a_file_is_replaced_only_on_request(tmp_path: Path) -> None:
    file = tmp_path / "a.mirrordrill"
    file.write_text("mine")
    with pytest.raises(FileExistsError):
        bundle.write_bundle(file, "x", {"small": DRILL_TEXT})
    assert file.read_text() == "mine"
    bundle.write_bundle(file, "x", {"small": DRILL_TEXT}, replace=True)
    assert bundle.read_bundle(file).manifest.title == "x"
