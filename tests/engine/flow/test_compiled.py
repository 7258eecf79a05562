"""Flow step in C: same bits as plain Python, prebuilt for every system, with plain Python as fallback."""

from __future__ import annotations

import ctypes
import itertools
import platform
import random
import shutil
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from engine.flow import Flow, FlowStopCondition, SafetyMode, add_mirroring_setup, compiled, kernel
from engine.flow.advance import collect_arrays
from engine.flow.compiled import ENTRY_POINTS, loader
from engine.flow.compiled.library import LibraryError, compute_fingerprint, get_library_name
from engine.flow.compiled.translate import TranslationError, translate
from tests.cases import sample_cases
from tests.engine.flow.pairs import W1, W2, build_pair
from tests.kernel_libraries import TARGETS

PLAIN_FUNCTIONS = {name: getattr(kernel, name) for name in ENTRY_POINTS}
COMPILERS = [name for name in ("gcc", "clang") if shutil.which(name)]
BUILDS = [(compiler, level) for compiler in COMPILERS for level in ("-O0", "-O3")]
needs_compiler = pytest.mark.skipif(not COMPILERS, reason="no C compiler here")

Functions = dict[str, Callable[..., Any]]


@cache
def translate_kernel() -> str:
    return translate(loader.read_kernel_source(), vars(kernel))


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    @cache
    def build(c_text: str, compiler: str, *flags: str) -> Path:
        return loader.compile_c(c_text, tmp_path_factory.mktemp("kernel"), compiler, *flags)

    return build


def iterate_flows() -> Iterator[Flow]:
    """Yield flows that cover all special cases of the step."""
    for seed in range(4):
        chance = random.Random(seed)
        flow = Flow.create_empty()
        for number in range(chance.randint(1, 4)):
            link: dict[str, Any] = {"rtt_ms": chance.choice((0.2, 15.0, 80.0))}
            if chance.random() < 0.5:
                link |= {"jitter_ms": 3.0, "loss": 0.002}
            if chance.random() < 0.3:
                link |= {"bandwidth_mbps": 5.0}
            mode = chance.choice(list(SafetyMode)) if number else SafetyMode.FULL
            add_mirroring_setup(flow, build_pair(chance.choice((W1, W2)), mode, **link))
            if chance.random() < 0.5:
                flow.watch_source(number, FlowStopCondition.LOG_FULL)
        yield flow
    flow = Flow.create_empty()
    for _ in range(3):
        add_mirroring_setup(flow, build_pair())
    yield flow


def run_with_functions(functions: Functions, flow: Flow) -> list[bytes]:
    """Run *flow* with *functions*, and return all arrays as bytes."""
    flow.unshare_arrays()
    room = np.zeros((4, len(flow.sources), len(kernel.SOURCE_COUNTERS)))
    room_of_streams = np.zeros((4, len(flow.streams), len(kernel.STREAM_COUNTERS)))
    worked_on = collect_arrays(flow)
    ran = functions["advance"](*worked_on, room, room_of_streams, flow.clock, 30, 10, flow.step_s)
    crossing_rows = np.zeros((2, 40), dtype=np.int64)
    params = flow.source_params, flow.streams, flow.stream_params
    crossings_found = functions["note_crossings"](
        flow.sources, *params, flow.place, crossing_rows[0], crossing_rows[1]
    )
    out_rows = np.zeros((2, 20))
    functions["read_source"](
        flow.sources, flow.source_params, 0, flow.hosts, int(flow.host_of[0]), out_rows[0]
    )
    functions["read_stream"](
        flow.streams, flow.stream_params, 0, 3.5, flow.sources[0, kernel.FLUSHED], flow.hosts, 0, out_rows[1]
    )
    crossings = functions["stream_crossings"](flow.streams, flow.stream_params, 0, 1.5, 60.0)
    numbers = f"{ran} {crossings_found} {crossings}".encode()
    return [
        numbers,
        *(
            array.tobytes()
            for array in (*worked_on, room, room_of_streams, crossing_rows, out_rows, flow.clock)
        ),
    ]


def assert_same_bits(functions: Functions) -> None:
    for flow in iterate_flows():
        assert run_with_functions(functions, flow.fork()) == run_with_functions(PLAIN_FUNCTIONS, flow.fork())


def test_the_library_in_use_matches_plain_python_bit_for_bit() -> None:
    assert_same_bits(compiled.load_kernel().functions)


@needs_compiler
@pytest.mark.parametrize(("build", "wide"), sample_cases(3, itertools.product(BUILDS, [True, False])))
def test_every_compiler_matches_plain_python_bit_for_bit(
    build: tuple[str, str], wide: bool, built: Callable[..., Path]
) -> None:
    assert_same_bits(
        loader.load_library_functions(
            built(translate_kernel(), *build), loader.read_kernel_source(), PLAIN_FUNCTIONS, wide
        )
    )


@pytest.mark.skipif(platform.machine() not in ("x86_64", "AMD64"), reason="vectors of one processor")
def test_the_prebuilt_library_has_entries_for_every_processor_and_for_wide_vectors(tmp_path: Path) -> None:
    path = loader.LIBRARIES / get_library_name(platform.system(), platform.machine())
    if not path.exists():
        pytest.skip("no library for this system")
    for wide in (False, True):
        copy = tmp_path / f"{wide}-{path.name}"  # loading the same library twice gives the same object
        copy.write_bytes(path.read_bytes())
        assert_same_bits(
            loader.load_library_functions(copy, loader.read_kernel_source(), PLAIN_FUNCTIONS, wide)
        )
        run_wide = ctypes.c_bool.in_dll(ctypes.PyDLL(str(copy)), "wide_entries_run").value
        processor = Path("/proc/cpuinfo")
        if processor.exists():
            assert run_wide == (wide and "avx2" in processor.read_text(encoding="utf-8"))


@pytest.mark.parametrize("target", TARGETS, ids=" ".join)
def test_the_prebuilt_library_of_every_system_fits_kernel_py(target: tuple[str, str]) -> None:
    """After a change of kernel.py or the translator, run `make kernel`."""
    stamps = translate_kernel().splitlines()[-2:]
    library = (loader.LIBRARIES / get_library_name(*target)).read_bytes()
    for stamp in stamps:
        assert stamp.split('"')[1].encode() in library, "run `make kernel`"


@needs_compiler
def test_no_index_is_outside_its_array(built: Callable[..., Path]) -> None:
    path = built(
        translate(loader.read_kernel_source(), vars(kernel), lines=True), COMPILERS[0], "-O0", "-DCHECKED"
    )
    functions = loader.load_library_functions(path, loader.read_kernel_source(), PLAIN_FUNCTIONS)
    line_outside = ctypes.PyDLL(str(path)).take_line_outside
    assert_same_bits(functions)
    assert line_outside() == 0
    misplaced_flow = next(iterate_flows())
    misplaced_flow.unshare_arrays()
    misplaced_flow.host_of = misplaced_flow.host_of + 1000
    short = np.zeros(3)
    functions["read_source"](
        misplaced_flow.sources, misplaced_flow.source_params, 0, misplaced_flow.hosts, 0, short
    )
    source_line = loader.read_kernel_source().splitlines()[line_outside() - 1]
    assert source_line.strip().startswith("output[3] =")


@needs_compiler
@pytest.mark.skipif(platform.machine() not in ("x86_64", "AMD64"), reason="flags of one processor")
def test_a_library_with_fused_multiply_add_is_refused(built: Callable[..., Path]) -> None:
    path = built(
        translate_kernel().replace("FP_CONTRACT OFF", "FP_CONTRACT ON"),
        "gcc",
        "-mfma",
        "-ffp-contract=fast",
        "-O2",
    )
    if "fma" not in Path("/proc/cpuinfo").read_text(encoding="utf-8"):
        pytest.skip("a processor without these instructions")
    for wide in (True, False):
        with pytest.raises(LibraryError, match="does not round products before adding"):
            loader.load_library_functions(path, loader.read_kernel_source(), PLAIN_FUNCTIONS, wide)


def test_a_library_of_another_kernel_is_refused() -> None:
    path = loader.LIBRARIES / get_library_name(platform.system(), platform.machine())
    if not path.exists():
        pytest.skip("no library for this system")
    with pytest.raises(LibraryError, match=r"another kernel\.py"):
        loader.load_library_functions(path, loader.read_kernel_source() + "\nx = 1\n", PLAIN_FUNCTIONS)


@pytest.fixture
def without_libraries(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setattr(loader, "LIBRARIES", tmp_path / "none")
    monkeypatch.setattr(loader, "CACHE_FOLDERS", (Path("/proc/none"), tmp_path / "cache"))
    return tmp_path / "cache"


@needs_compiler
def test_a_compiler_builds_the_library_if_none_fits(
    without_libraries: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    flags = (*loader.COMPILER_FLAGS, "-O0")  # Another test optimizes, which takes 3 s.
    monkeypatch.setattr(loader, "COMPILER_FLAGS", flags)
    loaded = loader.load_functions(ENTRY_POINTS)
    assert (loaded.origin, loaded.reason) == ("compiled here", "")
    assert_same_bits(loaded.functions)
    assert len(list(without_libraries.iterdir())) == 1
    reloaded = loader.load_functions(ENTRY_POINTS)
    assert reloaded.origin == "compiled here"


@pytest.mark.usefixtures("without_libraries")
def test_plain_python_runs_without_a_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: None)
    loaded = loader.load_functions(ENTRY_POINTS)
    assert loaded.functions == PLAIN_FUNCTIONS
    assert "no library is made for" in loaded.reason
    assert "no C compiler" in loaded.reason
    reports: list[str] = []
    monkeypatch.setattr(compiled, "_kernel", None)
    monkeypatch.setattr(compiled, "report_fallback", reports.append)
    before: Functions = {name: vars(compiled)[name] for name in ENTRY_POINTS if name in vars(compiled)}
    try:
        assert compiled.load_kernel().functions == PLAIN_FUNCTIONS
        assert compiled.load_kernel().reason == loaded.reason
    finally:
        vars(compiled).update(before)
    assert reports == [loaded.reason]


def test_the_selected_backend_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(loader.KERNEL_VARIABLE, "python")
    assert loader.load_functions(ENTRY_POINTS) == loader.Kernel(PLAIN_FUNCTIONS, "plain Python")
    monkeypatch.setenv(loader.KERNEL_VARIABLE, "c")
    monkeypatch.setattr(loader, "LIBRARIES", Path("nowhere"))
    monkeypatch.setattr(shutil, "which", lambda name: None)
    with pytest.raises(LibraryError):
        loader.load_functions(ENTRY_POINTS)


def test_wrong_arguments_are_refused() -> None:
    if compiled.load_kernel().origin == "plain Python":
        pytest.skip("plain Python")
    flow = next(iterate_flows())
    valid_arguments = [flow.sources, flow.source_params, 0, flow.hosts, 0, np.zeros(11)]
    compiled.read_source(*valid_arguments)
    wrong_arguments: list[tuple[int, object]] = [
        (0, flow.sources.astype(np.float32)), (0, flow.sources[0]), (0, flow.sources.astype(np.int64)),
        (0, flow.sources[:, ::2]), (0, None), (2, "one"), (5, [0.0] * 11),
    ]  # fmt: skip
    for place, value in wrong_arguments:
        with pytest.raises((TypeError, ValueError, BufferError)):
            compiled.read_source(*valid_arguments[:place], value, *valid_arguments[place + 1 :])
    with pytest.raises(TypeError, match="read_source"):
        compiled.read_source(*valid_arguments[:-1])


def test_comments_and_docstrings_require_no_new_library() -> None:
    function_source = "def f(x):\n    return x\n"
    assert compute_fingerprint(
        'def f(x):\n    """Text."""\n\n    # note\n    return x  # note\n'
    ) == compute_fingerprint(function_source)
    assert compute_fingerprint(function_source.replace("    return", "  return")) != compute_fingerprint(
        function_source
    )


SOURCE_HEAD = "class Arrays:\n    sources: Table\n    clock: Numbers\n\n"


def translate_body(body: str) -> str:
    return translate(f"{SOURCE_HEAD}{body}", {"A": 3, "B": (1, 2), "BAD": "x"})


DRAW_FUNCTION_TEXT = "@inside\ndef draw(t: Table) -> float:\n    t[0, 0] = 1.0\n    return 1.0\n\n"

REFUSED_SOURCES = {
    "power": ("@inside\ndef f(x: float) -> float:\n    return x ** 2.0\n", 7),
    "remainder of floats": ("@inside\ndef f(x: float) -> float:\n    return x % 2.0\n", 7),
    "floor division": ("@inside\ndef f(x: int) -> int:\n    return x // 2\n", 7),
    "bits of a float": ("@inside\ndef f(x: float) -> float:\n    return x & 1\n", 7),
    "truth of a number": ("@inside\ndef f(x: int) -> int:\n    if x:\n        return 1\n    return 0\n", 7),
    "mixed comparison": ("@inside\ndef f(x: int) -> bool:\n    return x < 1.5\n", 7),
    "mixed minimum": ("@inside\ndef f(x: int) -> float:\n    return min(x, 1.5)\n", 7),
    "chain of comparisons": ("@inside\ndef f(x: int) -> bool:\n    return 0 < x < 3\n", 7),
    "name of two types": ("@inside\ndef f(x: int) -> None:\n    y = 1\n    y = 1.5\n", 8),
    "unknown call": ("@inside\ndef f(x: float) -> float:\n    return math.exp(x)\n", 7),
    "unknown name": ("@inside\ndef f(x: float) -> float:\n    return x + y\n", 7),
    "unknown constant": ("@inside\ndef f(x: float) -> float:\n    return x + BAD\n", 7),
    "unknown annotation": ("@inside\ndef f(x: str) -> None:\n    return\n", 6),
    "no mark": ("def f(x: int) -> None:\n    return\n", 5),
    "word of C": ("@inside\ndef f(x: int) -> None:\n    short = 1\n", 6),
    "recursion": ("@inside\ndef f(x: int) -> int:\n    return f(x)\n", 6),
    "default": ("@inside\ndef f(x: int = 1) -> None:\n    return\n", 6),
    "list": ("@inside\ndef f(x: int) -> None:\n    y = [x]\n", 7),
    "with": ("@inside\ndef f(x: int) -> None:\n    with x:\n        return\n", 7),
    "else of a loop": ("@inside\ndef f() -> None:\n    while True:\n        break\n    else:\n        return\n", 7),
    "too many dimensions": ("@inside\ndef f(x: Row) -> float:\n    return x[0, 1]\n", 7),
    "float as index": ("@inside\ndef f(x: Row) -> float:\n    return x[1.0]\n", 7),
    "float into integers": ("@inside\ndef f(x: Numbers) -> None:\n    x[0] = 1.5\n", 7),
    "order of two calls": (
        f"{DRAW_FUNCTION_TEXT}@inside\ndef f(t: Table) -> float:\n    return draw(t) + draw(t)\n", 12),
    "order of call and read": (
        f"{DRAW_FUNCTION_TEXT}@inside\ndef f(t: Table) -> float:\n    return draw(t) + t[0, 0]\n", 12),
    "order of call and store": (f"{DRAW_FUNCTION_TEXT}@inside\ndef f(t: Table) -> None:\n    t[0, 0] += draw(t)\n", 12),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED_SOURCES)
def test_the_translator_refuses_unknown_constructs_with_the_line(name: str) -> None:
    body, line = REFUSED_SOURCES[name]
    with pytest.raises(TranslationError, match=rf"^kernel\.py, line {line}: "):
        translate_body(body)


UNUSUAL_CONSTRUCTS = '''
@inside
def last(row: Row) -> float:
    return row[row.shape[0] - 1]

@entry
def odds(t: Table, c: Cube, n: Numbers, x: float, i: int) -> int:
    """Text."""
    a, b = x, x + 1.0
    a, b = b, a
    t[0, 0], t[0, 1] = t[0, 1], t[0, 0]
    n[0] = i % 7
    n[1] = i % A
    n[2] = -i % 7
    n[3] = i & 6 | 1
    n[4] = int(x)
    t[1, 0] = min(a, b, x) - max(-a, b)
    t[1, 1] = abs(-x) + i / 3 + math.sqrt(abs(x))
    t[1, 2] = last(c[1, 1]) + last(t[0])
    for k in range(5, 0, -2):
        n[5] += k
        k = 0
    n[6] = k
    for k in B:
        n[7] += 10 * n[7] + k
    found = 0
    while found < 9:
        found += 4
        if found == 8:
            continue
        if not math.isfinite(x) or (i > 3 and found > 5):
            break
    n[8] += x != a
    t[2, 0] = 1.0 if i > 3 else -0.0
    return found
'''


@needs_compiler
def test_every_construct_behaves_in_c_as_in_python(built: Callable[..., Path]) -> None:
    names: dict[str, Any] = {"A": -4, "B": (1, 2), "math": __import__("math")}
    names |= {"inside": lambda f: f, "entry": lambda f: f}
    code = f"from __future__ import annotations\n{UNUSUAL_CONSTRUCTS}"
    exec(code, names)
    path = built(translate(f"{SOURCE_HEAD}{UNUSUAL_CONSTRUCTS}", names), COMPILERS[0], "-O1")
    in_c = loader.load_library_functions(path, f"{SOURCE_HEAD}{UNUSUAL_CONSTRUCTS}", {"odds": names["odds"]})[
        "odds"
    ]
    chance = np.random.default_rng(1)
    for i in (-9, -7, 0, 1, 3, 4, 5, 12345678901):
        for x in (0.0, -0.0, 1.5, -7.25, 1e-300, 1e9):
            arrays = chance.random((3, 4)), chance.random((2, 3, 5)), chance.integers(-9, 9, 9)
            twin = [array.copy() for array in arrays]
            assert in_c(*arrays, x, i) == names["odds"](*twin, x, i)
            assert [array.tobytes() for array in arrays] == [array.tobytes() for array in twin]
