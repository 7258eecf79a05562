"""Loader of the step's library: prebuilt, otherwise compiled on this computer, otherwise plain Python.

Only this module of the engine reads files or starts a program (a C compiler). Compiled functions give the
same bits as plain Python, so no run depends on the choice.
"""

import ctypes
import os
import platform
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

from msgspec import Struct

from engine.flow import kernel
from engine.flow.compiled.library import SUFFIXES, LibraryError, compute_fingerprint, get_library_name
from engine.flow.compiled.translate import TranslationError, translate

# --- build of a library on this computer -----------------------------------------------------------------


_USER_CACHE_FOLDER: Final = (
    os.environ.get("XDG_CACHE_HOME") or os.environ.get("LOCALAPPDATA") or os.path.expanduser("~/.cache")
)
CACHE_FOLDERS: tuple[Path, ...] = (
    Path(__file__).parent / "__pycache__",
    Path(_USER_CACHE_FOLDER) / "mirrordrill",
)
"""Folders for libraries compiled on this computer: next to this module, then in the user's cache. The loader
uses the first folder that is writable.
"""

COMPILER_FLAGS: Final = (
    "-O3", "-w", "-shared", "-fPIC", "-ffp-contract=off", "-fno-math-errno", "-fvisibility=hidden",
)  # fmt: skip
"""Flags for every compiler. Contraction is off, because a fused multiply-add changes the last bit of a
result.
"""

COMPILE_S_MAX: Final = 60.0


def find_compiled_library(text: str) -> Path:
    """Return the path of a library compiled on this computer, and compile it first if it does not exist.

    Raise LibraryError.
    """
    compiler = shutil.which("cc") or shutil.which("clang") or shutil.which("gcc")
    if compiler is None:
        raise LibraryError("this computer has no C compiler")
    name = f"kernel-{compute_fingerprint(text)[:16]}.{SUFFIXES.get(platform.system(), 'so')}"
    for folder in CACHE_FOLDERS:
        path = folder / name
        if path.exists():
            return path
        try:
            folder.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryDirectory(dir=folder) as place:
                os.replace(compile_c(translate(text, vars(kernel)), Path(place), compiler), path)
        except OSError:
            continue
        except TranslationError as problem:
            raise LibraryError(str(problem)) from problem
        return path
    raise LibraryError("no folder for a compiled library can be written")


def compile_c(text: str, folder: Path, compiler: str, *flags: str) -> Path:
    """Compile the C text *text* in *folder*, with *flags* after the usual flags.

    Raise LibraryError or OSError.
    """
    c_file, library = folder / "kernel.c", folder / f"kernel.{SUFFIXES.get(platform.system(), 'so')}"
    c_file.write_text(text, encoding="utf-8")
    command = [compiler, *COMPILER_FLAGS, *flags, "-o", str(library), str(c_file)]
    try:
        subprocess.run(command, check=True, capture_output=True, timeout=COMPILE_S_MAX)
    except subprocess.SubprocessError as problem:
        raise LibraryError(f"{Path(compiler).name} cannot compile the kernel") from problem
    return library


KERNEL_VARIABLE: Final = "MIRRORDRILL_KERNEL"
"""Environment variable that selects `c` or `python`, for comparisons."""

LIBRARIES: Final = Path(__file__).parent / "libraries"
PYTHON_API_FUNCTIONS: Final = (
    "PyTuple_Size", "PyTuple_GetItem", "PyLong_AsLongLong", "PyFloat_AsDouble", "PyObject_GetBuffer",
    "PyBuffer_Release", "PyErr_SetString", "PyErr_Occurred", "PyEval_SaveThread", "PyEval_RestoreThread",
)  # fmt: skip
"""Functions of Python's C interface that the library calls, in the order in which `connect` receives them."""

RESULT_TYPES: Final = {"int": ctypes.c_int64, "bool": ctypes.c_bool, "None": None}


KernelFunction = Callable[..., Any]
KernelFunctions = dict[str, KernelFunction]


class Kernel(Struct, frozen=True):
    """Entry functions of the kernel, with their origin."""

    functions: KernelFunctions
    origin: str
    """`prebuilt`, `compiled here` or `plain Python`."""

    reason: str = ""
    """Reason for the fallback to plain Python; empty if there was no fallback."""


def load_functions(entries: Sequence[str]) -> Kernel:
    """Return the kernel functions named in *entries*, from the best library that passes the checks."""
    python_functions = {name: getattr(kernel, name) for name in entries}
    choice = os.environ.get(KERNEL_VARIABLE, "")
    if choice == "python":
        return Kernel(python_functions, "plain Python")
    reasons = []
    try:
        text = read_kernel_source()
        for origin, find in (("prebuilt", _find_prebuilt), ("compiled here", _compile_with_any_compiler)):
            try:
                return Kernel(load_library_functions(find(text), text, python_functions), origin)
            except LibraryError as problem:
                reasons.append(str(problem))
    except OSError as problem:
        reasons.append(f"kernel.py cannot be read ({problem.strerror})")
    reason = "; ".join(reasons)
    if choice == "c":
        raise LibraryError(reason)
    return Kernel(python_functions, "plain Python", reason)


def read_kernel_source() -> str:
    """Return the source text of the imported kernel module. Raise OSError."""
    return Path(kernel.__file__).read_text(encoding="utf-8")


def load_library_functions(
    path: Path, text: str, python_functions: KernelFunctions, use_wide_vectors: bool = True
) -> KernelFunctions:
    """Return the functions of the library at *path* that replace *python_functions*.

    The library must be built from *text* and must round after each operation. With *use_wide_vectors* False,
    no function uses instructions that only newer processors have. Raise LibraryError.
    """
    try:
        library = ctypes.PyDLL(str(path))
        built_from = ctypes.c_char.in_dll(library, "kernel_source")
        _connect_library(library, use_wide_vectors)
        functions_by_name = {
            name: _wrap_function(library, function) for name, function in python_functions.items()
        }
    except (OSError, ValueError, AttributeError) as problem:
        raise LibraryError(f"{path.name} cannot be loaded ({problem})") from problem
    if ctypes.string_at(ctypes.addressof(built_from)).decode() != compute_fingerprint(text):
        raise LibraryError(f"{path.name} was built from another kernel.py")
    if not is_rounding_exact(library):
        raise LibraryError(f"{path.name} does not round products before adding")
    return functions_by_name


def is_rounding_exact(library: ctypes.CDLL) -> bool:
    """Return whether the library rounds a product before it adds.

    The test uses a product with the exact value 1 + 2^-29 + 2^-60. This value needs one bit more than a
    float has.
    """
    multiply_add = library.multiply_add
    multiply_add.argtypes, multiply_add.restype = [ctypes.c_double] * 3, ctypes.c_double
    factor = 1.0 + 1.0 / 2**30
    exact: bool = multiply_add(factor, factor, -(1.0 + 1.0 / 2**29)) == 0.0
    return exact


def _connect_library(library: ctypes.CDLL, wide: bool) -> None:
    addresses = [ctypes.c_void_p.in_dll(ctypes.pythonapi, "PyExc_TypeError").value or 0]
    for name in PYTHON_API_FUNCTIONS:
        addresses.append(ctypes.cast(getattr(ctypes.pythonapi, name), ctypes.c_void_p).value or 0)
    table = (ctypes.c_void_p * len(addresses))(*addresses)
    library.connect.argtypes, library.connect.restype = [ctypes.c_void_p, ctypes.c_bool], None
    library.connect(table, wide)


def _wrap_function(library: ctypes.CDLL, python_function: KernelFunction) -> KernelFunction:
    call = library[f"call_{python_function.__name__}"]
    call.argtypes = [ctypes.py_object]
    call.restype = RESULT_TYPES[python_function.__annotations__["return"]]

    def entry(*arguments: object) -> object:
        return call(arguments)

    return entry


def _compile_with_any_compiler(text: str) -> Path:
    if sys.implementation.name != "cpython":
        raise LibraryError("no library can be loaded")

    return find_compiled_library(text)


def _find_prebuilt(text: str) -> Path:
    if sys.implementation.name != "cpython":
        raise LibraryError(f"no library is made for {sys.implementation.name}")
    path = LIBRARIES / get_library_name(platform.system(), platform.machine())
    if not path.exists():
        raise LibraryError(f"no library is made for {platform.system()} on {platform.machine()}")
    return path
