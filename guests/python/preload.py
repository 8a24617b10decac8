"""Imports, while the snapshot is made, whatever of the standard library can work in the guest.

The guest has no files, so a module that is not in the snapshot cannot be imported later at all.
"""

import importlib
import pkgutil
import sys

# Modules that are left out, by the reason.
SKIPPED = {
    # Need what the guest does not have: processes, terminals, native libraries, sockets that listen.
    "_ctypes", "_lzma", "_pyrepl", "_ssl", "ctypes", "curses", "dbm", "ftplib", "imaplib", "lzma",
    "multiprocessing", "poplib", "pyrepl", "readline", "rlcompleter", "smtplib", "ssl", "tkinter",
    "turtle", "turtledemo", "webbrowser", "wsgiref", "xmlrpc",
    # Belong to other systems.
    "_aix_support", "_android_support", "_apple_support", "_ios_support", "_msi", "_osx_support",
    "_overlapped", "_scproxy", "_winapi", "_winreg", "msilib", "msvcrt", "nt", "nturl2path",
    "winreg", "winsound",
    # Tools for developing, large and of no use to a snippet.
    "cProfile", "distutils", "doctest", "ensurepip", "idlelib", "lib2to3", "pdb", "pip", "profile",
    "pydoc", "pydoc_data", "test", "unittest", "venv",
    # Act when imported: print, open a browser, change the path.
    "__hello__", "__phello__", "antigravity", "site", "sitecustomize", "this", "usercustomize",
    # Gone from the language.
    "crypt",
}

# Packages whose modules are imported too; those of the others come as far as their package imports them.
WITH_SUBMODULES = {
    "asyncio", "collections", "compression", "concurrent", "email", "encodings", "html", "http",
    "importlib", "json", "logging", "os", "pathlib", "re", "sqlite3", "string", "tomllib", "urllib",
    "xml", "zipfile", "zoneinfo",
}

# Submodules that are left out: codecs and event loops of Windows, and what would start a program.
SKIPPED_SUBMODULES = {"__main__", "mbcs", "oem", "windows_events", "windows_utils"}


def _try_import(name):
    try:
        importlib.import_module(name)
    except Exception:
        # It wants something that WASI lacks. A snippet gets ModuleNotFoundError for it.
        pass


def preload():
    """Imports all of it."""
    for name in sorted(sys.stdlib_module_names - SKIPPED):
        if not name.startswith(("_test", "_xx")):
            _try_import(name)
    for package in sorted(WITH_SUBMODULES):
        path = getattr(sys.modules.get(package), "__path__", ())
        for module in pkgutil.walk_packages(path, package + "."):
            if module.name.rpartition(".")[2] not in SKIPPED_SUBMODULES:
                _try_import(module.name)
