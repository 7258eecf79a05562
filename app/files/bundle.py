"""Bundle: a `.mirrordrill` file with which authors distribute drills and runs of these drills. Without Qt.

The file is a ZIP archive of `bundle.toml` (title, author, license, and all other members with their SHA-256
hashes), `scenarios/NAME.toml` and `runs/NAME.json`, and nothing else. It contains no pictures, because
scenario texts show none.

A bundle may come from a stranger. The program reads it in memory, member by member, only under expected names
and only up to the limits below. It never writes to a path from the archive, and never executes anything from
it. The limits are assumed: about ten times the needs of a one-week course.
"""

import hashlib
import io
import json
import os
import re
import stat
import struct
import tomllib
import zipfile
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Annotated, Final

from msgspec import Struct
from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError

from app.files import atomic_write
from app.words.language import tr
from engine.drill.authoring import limits
from engine.drill.authoring.problems import FileProblem
from engine.drill.authoring.scenario import escape_invisible
from engine.drill.authoring.schema import Line

BUNDLE_SUFFIX: Final = ".mirrordrill"
FORMAT_VERSION: Final = 1
"""Version of the bundle format, in `bundle.toml`."""
MANIFEST_NAME: Final = "bundle.toml"

BUNDLE_BYTES_MAX: Final = 50_000_000
"""Maximum size of a bundle file in bytes."""
EXPANDED_BYTES_MAX: Final = 60_000_000
"""Maximum size of all members together in bytes, counted while they are read."""
MEMBERS_MAX: Final = 200
COMPRESSION_RATIO_MAX: Final = 100
"""Maximum compression ratio of a member. Our bundles have less than 20, and deflate reaches 1,032."""
RATIO_EXEMPT_BYTES: Final = 100_000
"""Size in bytes up to which COMPRESSION_RATIO_MAX does not apply."""
MEMBER_NAME_LENGTH_MAX: Final = 100
"""Maximum number of characters of a member's name."""
MEMBER_BYTES_MAX: Final = {
    MANIFEST_NAME: 100_000,
    "scenarios": 4 * limits.FILE_CHARACTERS_MAX,
    "runs": 20_000_000,
}
"""Kind of a member -> its maximum size in bytes."""
SHOWN_NAME_LENGTH_MAX: Final = 80
"""Maximum number of characters of an archive member's name in a message. Longer names are cut off."""
PROBLEMS_MAX: Final = 100
"""Maximum number of listed problems. Further problems are only counted."""

_MEMBER_NAME_PATTERN: Final = re.compile(
    r"bundle\.toml|(?:scenarios/[a-z0-9_-]+\.toml|runs/[a-z0-9_-]+\.json)"
)
_RESERVED_NAMES: Final = re.compile(r"(?:con|prn|aux|nul|com\d|lpt\d)")
"""Device names of Windows, which are reserved with any extension."""
_SLUG_PATTERN: Final = re.compile(r"[a-z0-9]+(?:[-_][a-z0-9]+)*")
_COMPRESSION_METHODS: Final = frozenset({zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED})
_MEMBER_DATE: Final = (1980, 1, 1, 0, 0, 0)
"""Date of every member, so that equal contents result in equal bytes (with the same zlib)."""

# End-of-archive record: signature, four counts, size and offset of the directory, length of the comment.
_END_RECORD: Final = struct.Struct("<4s4H2LH")
_DIRECTORY_ENTRY_BYTES_MIN: Final = 46
"""Size of an entry in the ZIP directory in bytes, without the member's name."""
_LOCAL_HEADER_BYTES_MIN: Final = 30
"""Size of the ZIP header before a member in bytes, without the member's name."""
_DIRECTORY_ENTRY_EXTRA_BYTES_MAX: Final = 200
"""Maximum number of bytes that other programs add to a directory entry (times, owners)."""
_ARCHIVE_ERRORS: Final = (
    zipfile.BadZipFile,
    zlib.error,
    struct.error,
    NotImplementedError,  # raised for unknown methods and flags
    RuntimeError,  # raised for encrypted members
    EOFError,
    ValueError,  # raised for a name that is not UTF-8 and for a negative offset
    OSError,
)


AddProblem = Callable[[str, str], None]
"""Function that records a problem. Its arguments are the member's name and a sentence."""


class _TomlTable(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, defer_build=True)


class BundleMember(_TomlTable):
    """Entry of `bundle.toml`: name and SHA-256 hash of a member."""

    name: Annotated[str, StringConstraints(max_length=MEMBER_NAME_LENGTH_MAX)]
    sha256: Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]


class Manifest(_TomlTable):
    """Content of `bundle.toml`."""

    format: int
    title: Line
    author: Line | None = None
    licence: Line | None = None
    members: Annotated[list[BundleMember], Field(alias="member", min_length=1, max_length=MEMBERS_MAX)]


class Bundle(Struct, frozen=True):
    """Bundle whose members are complete, listed, and match their SHA-256 hashes. Their contents are not checked."""

    file: str
    """Name of the file for messages."""
    sha256: str
    """SHA-256 hash of the file."""
    size: int
    """Size of the file in bytes."""
    manifest: Manifest
    scenarios: Mapping[str, str]
    """Name of a scenario -> its text."""
    runs: Mapping[str, bytes]
    """Name of a run -> its JSON, for `run_files.parse_run`."""


class BundleError(ValueError):
    """Error for a bundle that cannot be used. *problems* lists all reasons."""

    def __init__(self, problems: list[FileProblem]) -> None:
        listed_problems = problems[:PROBLEMS_MAX]
        if len(problems) > len(listed_problems):
            more_text = tr("and {n} more problems").format(n=len(problems) - len(listed_problems))
            listed_problems.append(FileProblem(problems[0].file, 1, 1, "", more_text))
        super().__init__("\n".join(str(problem) for problem in listed_problems))
        self.problems = tuple(listed_problems)


# --- reading ------------------------------------------------------------------------------------------------


def read_bundle(file: Path) -> Bundle:
    """Read the bundle in *file*. Raises BundleError."""
    try:
        if not file.is_file():  # opening a pipe would block, and reading a device would never end
            raise _build_error(str(file), tr("not a file"))
        with file.open("rb") as bundle_file:
            raw = bundle_file.read(BUNDLE_BYTES_MAX + 1)
    except (OSError, ValueError) as error:
        if isinstance(error, BundleError):
            raise
        reason = error.strerror if isinstance(error, OSError) else tr("invalid file name")
        raise _build_error(
            escape_invisible(str(file)), tr("not readable: {why}").format(why=reason)
        ) from error
    return parse_bundle(raw, str(file))


def parse_bundle(raw: bytes, file: str) -> Bundle:
    """Parse the content *raw* of a bundle. *file*: its name for messages. Raises BundleError."""
    if len(raw) > BUNDLE_BYTES_MAX:
        raise _build_error(
            file, tr("larger than the limit for a bundle ({n} MB)").format(n=BUNDLE_BYTES_MAX // 1_000_000)
        )
    _check_end_record(raw, file)
    problems: list[FileProblem] = []

    def add_problem(member: str, text: str) -> None:
        problems.append(FileProblem(file, 1, 1, _escape_name(member), text))

    members = _read_members(raw, file, add_problem)
    if MANIFEST_NAME not in members:
        if not any(problem.where == MANIFEST_NAME for problem in problems):
            add_problem(MANIFEST_NAME, tr("missing"))
        raise BundleError(problems)
    manifest = _parse_manifest(members.pop(MANIFEST_NAME), add_problem)
    if manifest is not None:
        problem_places = {problem.where for problem in problems}
        for name, text in _find_differences(manifest, members):
            if _escape_name(name) not in problem_places:
                add_problem(name, text)
    scenarios, runs = dict[str, str](), dict[str, bytes]()
    for name in sorted(members):
        folder, _, last = name.partition("/")
        if folder == "runs":
            runs[last.removesuffix(".json")] = members[name]
            continue
        try:
            scenarios[last.removesuffix(".toml")] = members[name].decode("utf-8").replace("\r\n", "\n")
        except UnicodeDecodeError as error:
            add_problem(name, tr("not UTF-8 text (byte {n})").format(n=error.start + 1))
    if problems or manifest is None:
        raise BundleError(problems)
    return Bundle(file, hashlib.sha256(raw).hexdigest(), len(raw), manifest, scenarios, runs)


def _build_error(file: str, text: str) -> BundleError:
    return BundleError([FileProblem(file, 1, 1, "", text)])


def _escape_name(name: str) -> str:
    """Format a name from the archive for a message: short, on one line, with every character visible."""
    short = name if len(name) <= SHOWN_NAME_LENGTH_MAX else name[:SHOWN_NAME_LENGTH_MAX] + "…"
    return escape_invisible(short).replace("\n", "⟨U+000A⟩").replace("\t", "⟨U+0009⟩")


def _check_end_record(raw: bytes, file: str) -> None:
    """Check the ZIP end record before the ZIP directory is read.

    A huge directory could exhaust the memory.
    """
    if len(raw) < _END_RECORD.size or raw[:4] != b"PK\x03\x04":
        raise _build_error(file, tr("not a bundle: the file does not start like a ZIP archive"))
    signature, disk, first, entry_count, count, size, place, comment = _END_RECORD.unpack(
        raw[-_END_RECORD.size :]
    )
    end = len(raw) - _END_RECORD.size
    if signature != b"PK\x05\x06" or comment:
        raise _build_error(file, tr("the file is cut off, or has data after the end of the archive"))
    if disk or first or entry_count != count or raw[max(0, end - 20) :][:4] == b"PK\x06\x07":
        raise _build_error(file, tr("multi-part and zip64 archives are not supported"))
    if count > MEMBERS_MAX or size > MEMBERS_MAX * (
        _DIRECTORY_ENTRY_BYTES_MIN + MEMBER_NAME_LENGTH_MAX + _DIRECTORY_ENTRY_EXTRA_BYTES_MAX
    ):
        raise _build_error(file, tr("more than {n} files").format(n=MEMBERS_MAX))
    if place + size != end:
        raise _build_error(file, tr("the archive directory is not at its recorded offset"))


def _read_members(raw: bytes, file: str, add: AddProblem) -> dict[str, bytes]:
    """Return the content of all readable members by name. Report problems of the other members to *add*."""
    try:
        with zipfile.ZipFile(io.BytesIO(raw)) as archive:
            entries = archive.infolist()
            if len(entries) > MEMBERS_MAX:
                raise _build_error(file, tr("more than {n} files").format(n=MEMBERS_MAX))
            # `orig_filename` is used, because `filename` ends at a NUL and may contain separators of this
            # system.
            times = Counter(entry.orig_filename for entry in entries)
            folded = Counter(name.casefold() for name in times)
            for name in times:
                if times[name] > 1:
                    add(name, tr("several files have this name"))
                elif folded[name.casefold()] > 1:
                    add(name, tr("another file has the same name in other letter case"))
            ends = _find_member_ends(entries, archive.start_dir)
            members, room = dict[str, bytes](), EXPANDED_BYTES_MAX
            for entry in entries:
                name = entry.orig_filename
                entry_problems = list(_check_entry(entry, ends[entry.header_offset] - entry.header_offset))
                for text in entry_problems:
                    add(name, text)
                if entry_problems or times[name] > 1:
                    continue
                content = _read_content(archive, entry, min(room, _get_size_limit(name)), add)
                if content is not None:
                    members[name] = content
                room -= min(
                    entry.file_size, room
                )  # the sizes of damaged members also count toward the total limit
            return members
    except BundleError:
        raise
    except _ARCHIVE_ERRORS as error:
        raise _build_error(
            file, tr("the archive is damaged: {why}").format(why=_escape_name(str(error) or "zip"))
        ) from error


def _find_member_ends(entries: list[zipfile.ZipInfo], end: int) -> dict[int, int]:
    """Return start -> latest possible end of each member, as byte offsets.

    *end*: start of the directory, at which the last member must end.
    """
    begins = sorted({entry.header_offset for entry in entries})
    return dict(zip(begins, [*begins[1:], end], strict=True))


def _check_entry(entry: zipfile.ZipInfo, available_bytes: int) -> Iterator[str]:
    """Check the directory entry of a member. Yield each reason why the member must not be read.

    *available_bytes*: number of bytes up to the next member.
    """
    name = entry.orig_filename
    if len(name) > MEMBER_NAME_LENGTH_MAX:
        yield tr("name longer than {n} characters").format(n=MEMBER_NAME_LENGTH_MAX)
    elif name.startswith("/") or re.match(r"[A-Za-z]:", name):
        yield tr("absolute path")
    elif ".." in name.replace("\\", "/").split("/"):
        yield tr("path outside the bundle")
    elif "\\" in name or "\0" in name:
        yield tr("invalid character in the name")
    elif not _MEMBER_NAME_PATTERN.fullmatch(name):
        yield tr("not allowed in a bundle. Allowed: bundle.toml, scenarios/NAME.toml and runs/NAME.json; "
            "NAME consists of lowercase letters, digits, - and _")  # fmt: skip
    elif name != MANIFEST_NAME and (
        not _SLUG_PATTERN.fullmatch(_get_stem(name))
        or len(_get_stem(name)) > 60
        or _RESERVED_NAMES.fullmatch(_get_stem(name))
    ):
        yield tr("invalid name for a scenario or a run")
    kind = stat.S_IFMT(entry.external_attr >> 16)
    if kind not in (0, stat.S_IFREG):
        yield tr("a link, a folder or a device, not a file")
    if entry.flag_bits & 0x2041:
        yield tr("encrypted")
    if entry.compress_type not in _COMPRESSION_METHODS:
        yield tr("unsupported compression method {n}").format(n=entry.compress_type)
    if _LOCAL_HEADER_BYTES_MIN + len(name) + entry.compress_size > available_bytes:
        yield tr("damaged: {why}").format(why=tr("its data overlaps the next file in the archive"))
    if entry.file_size > RATIO_EXEMPT_BYTES and entry.file_size > COMPRESSION_RATIO_MAX * entry.compress_size:
        yield tr("unpacks to more than {n} times its size").format(n=COMPRESSION_RATIO_MAX)


def _get_stem(name: str) -> str:
    return name.partition("/")[2].rpartition(".")[0]


def _get_size_limit(name: str) -> int:
    return MEMBER_BYTES_MAX[name.partition("/")[0]]


def _read_content(
    archive: zipfile.ZipFile, entry: zipfile.ZipInfo, max_bytes: int, add: AddProblem
) -> bytes | None:
    """Return the content of a member, or None if it is damaged or exceeds *max_bytes*.

    zipfile compares the checksum.
    """
    name = entry.orig_filename
    try:
        with archive.open(entry) as entry_file:
            content = entry_file.read(max_bytes + 1)
    except _ARCHIVE_ERRORS as error:
        add(name, tr("damaged: {why}").format(why=_escape_name(str(error) or "zip")))
        return None
    if len(content) > max_bytes:
        text = tr("too large: the limit for each file and for all files together is {n} MB")
        add(name, text.format(n=EXPANDED_BYTES_MAX // 1_000_000))
        return None
    return content


def _parse_manifest(raw: bytes, add: AddProblem) -> Manifest | None:
    """Parse `bundle.toml`. Return None if its content cannot be used."""
    try:
        text = raw.decode("utf-8")
        excess = limits.find_exceeded_limit(text)
        if excess is not None:
            add(MANIFEST_NAME, f"{excess[1]}; {excess[2]}")
            return None
        data = tomllib.loads(text)
    except UnicodeDecodeError as error:
        add(MANIFEST_NAME, tr("not UTF-8 text (byte {n})").format(n=error.start + 1))
        return None
    except tomllib.TOMLDecodeError as error:
        add(MANIFEST_NAME, tr("not TOML: {why}").format(why=_escape_name(str(error))))
        return None
    version = data.get("format")
    if type(version) is int and version > FORMAT_VERSION:
        message = tr(
            "format {new} was written by a newer Mirrordrill; this version reads up to format {known}"
        )
        add(MANIFEST_NAME, message.format(new=version, known=FORMAT_VERSION))
        return None
    try:
        manifest = Manifest.model_validate(data)
    except ValidationError as refused:
        for field_error in refused.errors(include_url=False, include_context=False, include_input=False):
            field_path = ".".join(str(part) for part in field_error["loc"])
            add(MANIFEST_NAME, _escape_name(f"{field_path}: {field_error['msg']}"))
        return None
    if manifest.format != FORMAT_VERSION:
        add(MANIFEST_NAME, tr("unknown format {n}").format(n=manifest.format))
        return None
    return manifest


def _find_differences(manifest: Manifest, members: Mapping[str, bytes]) -> Iterator[tuple[str, str]]:
    """Yield name and problem of each member that differs from its entry in `bundle.toml`."""
    listed = Counter(member.name for member in manifest.members)
    for name, times in listed.items():
        if times > 1:
            yield name, tr("listed more than once in bundle.toml")
        if name not in members:
            yield name, tr("listed in bundle.toml, but missing")
    for name in members:
        if name not in listed:
            yield name, tr("not listed in bundle.toml")
    for member in manifest.members:
        content = members.get(member.name)
        if content is not None and hashlib.sha256(content).hexdigest() != member.sha256:
            yield member.name, tr("changed since the bundle was created (SHA-256 differs)")


# --- writing ------------------------------------------------------------------------------------------------


def write_bundle(
    file: Path,
    title: str,
    scenarios: Mapping[str, str],
    runs: Mapping[str, bytes] | None = None,
    author: str | None = None,
    licence: str | None = None,
    replace: bool = False,
) -> Bundle:
    """Write scenarios and runs as a bundle to *file* atomically.

    Raises BundleError if the bundle would be invalid, and OSError if it cannot be written. Without *replace*,
    an existing file raises FileExistsError.
    """
    raw = build_bundle(title, scenarios, runs or {}, author, licence)
    bundle = parse_bundle(raw, str(file))
    if not replace and os.path.lexists(file):
        raise FileExistsError(17, tr("a file with this name already exists"))
    atomic_write.write_atomically(file, raw)
    return bundle


def build_bundle(
    title: str,
    scenarios: Mapping[str, str],
    runs: Mapping[str, bytes],
    author: str | None = None,
    licence: str | None = None,
) -> bytes:
    """Return the content of a bundle file. Equal arguments result in equal bytes."""
    members = {
        f"scenarios/{name}.toml": text.encode(errors="surrogatepass") for name, text in scenarios.items()
    }
    members |= {f"runs/{name}.json": raw for name, raw in runs.items()}
    members = dict(sorted(members.items()))
    manifest = {"title": title, "author": author, "licence": licence}
    lines = [
        f"format = {FORMAT_VERSION}",
        *(f"{key} = {quote_toml(text)}" for key, text in manifest.items() if text),
    ]
    for name, content in members.items():
        digest = hashlib.sha256(content).hexdigest()
        lines += ["", "[[member]]", f"name = {quote_toml(name)}", f"sha256 = {quote_toml(digest)}"]
    head = ("\n".join(lines) + "\n").encode(
        errors="surrogatepass"
    )  # invalid text must not raise here, because `parse_bundle` rejects it later
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as archive:
        for name, content in {MANIFEST_NAME: head, **members}.items():
            entry = zipfile.ZipInfo(name, _MEMBER_DATE)
            entry.create_system, entry.external_attr = 3, (stat.S_IFREG | 0o644) << 16
            # Content with a suspicious compression ratio is stored uncompressed, so that it is not rejected
            # as a zip bomb.
            dense = len(zlib.compress(content, 9)) * COMPRESSION_RATIO_MAX // 2 > len(content)
            archive.writestr(entry, content, zipfile.ZIP_DEFLATED if dense else zipfile.ZIP_STORED, 9)
    return target.getvalue()


def quote_toml(text: str) -> str:
    """Quote a TOML string as JSON, which is valid TOML for any text that the schema type `Line` permits."""
    return json.dumps(text, ensure_ascii=False)
