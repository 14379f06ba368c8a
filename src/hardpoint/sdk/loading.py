"""Finding the App that somebody means: in a file, or in a module on the import path.

A file is run like a script's module: its folder is on the import path, so that it finds its neighbours. What it
imported from there is known afterwards, so that it can be watched, and forgotten for the next load.
"""

from __future__ import annotations

import importlib
import importlib.util
import itertools
import sys
import traceback
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType

from hardpoint.machinery.errors import ConfigError, HardpointError
from hardpoint.sdk.app import App

_numbers = itertools.count(1)


@dataclass(slots=True)
class Loaded:
    """An App, and where it came from."""

    app: App
    files: tuple[Path, ...]
    """Those of its own folder that it was made of."""
    modules: tuple[str, ...] = field(default=(), repr=False)

    def forget(self) -> None:
        """Have the next load read the files again."""
        for name in self.modules:
            sys.modules.pop(name, None)


def load(target: str) -> Loaded:
    """The App that `target` names: `FILE.py`, `FILE.py:NAME`, `MODULE` or `MODULE:NAME`. Raises ConfigError."""
    where, _, name = target.partition(":")
    before = set(sys.modules)
    is_file = where.endswith(".py") or "/" in where
    module = _from_file(Path(where)) if is_file else _from_name(where)
    app = _app(module, where, name)
    folder = Path(module.__file__ or ".").resolve().parent
    own = {name: file for name in set(sys.modules) - before if (file := _file(sys.modules[name])) is not None}
    near = {name: file for name, file in own.items() if file.is_relative_to(folder) and not _is_installed(name, file)}
    files = {Path(module.__file__ or where).resolve(), *near.values()}
    return Loaded(app, tuple(sorted(files)), tuple(near))


def _from_file(file: Path) -> ModuleType:
    if not file.is_file():
        raise ConfigError(f"{file} is no file; name the Python file that holds your App")
    folder = str(file.resolve().parent)
    if folder not in sys.path:
        sys.path.insert(0, folder)
    # Two files of one name are two modules; classes find their module by name.
    title = f"hardpoint_app_{next(_numbers)}_{file.stem}"
    spec = importlib.util.spec_from_file_location(title, file.resolve())
    if spec is None or spec.loader is None:
        raise ConfigError(f"{file} is not a Python file; its name must end in .py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[title] = module
    try:
        spec.loader.exec_module(module)
    except HardpointError:
        sys.modules.pop(title, None)
        raise
    except Exception as raised:
        # The author's file may raise anything at all.
        sys.modules.pop(title, None)
        raise ConfigError(f"{_line(raised, file)}: {type(raised).__name__}: {raised}") from raised
    return module


def _from_name(name: str) -> ModuleType:
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as missing:
        if missing.name and (name == missing.name or name.startswith(f"{missing.name}.")):
            raise ConfigError(
                f"there is no module {name!r}; name a file (./{name}.py) or a module on the path"
            ) from None
        raise ConfigError(f"module {name!r} needs {missing.name!r}, which is not installed") from missing
    except HardpointError:
        raise
    except Exception as raised:
        # The author's module may raise anything at all.
        raise ConfigError(f"{_line(raised, Path(name))}: {type(raised).__name__}: {raised}") from raised


def _app(module: ModuleType, where: str, name: str) -> App:
    if name:
        found = getattr(module, name, None)
        if not isinstance(found, App):
            raise ConfigError(f"{where} has no App called {name!r}; there {_there(module)}")
        return found
    apps = {app for app in vars(module).values() if isinstance(app, App)}
    if len(apps) != 1:
        wanted = f"name one, such as {where}:app" if apps else 'make one with app = App("name")'
        raise ConfigError(f"{where} must hold one App, and there {_there(module)}; {wanted}")
    return apps.pop()


def _there(module: ModuleType) -> str:
    names = sorted(name for name, value in vars(module).items() if isinstance(value, App))
    return f"are {', '.join(names)}" if len(names) > 1 else f"is {names[0] if names else 'none'}"


def _line(raised: Exception, file: Path) -> str:
    """Where it went wrong: the innermost line of the author's file, or the line that cannot be read."""
    if isinstance(raised, SyntaxError) and raised.filename:
        return f"{raised.filename}:{raised.lineno}"
    frames = traceback.extract_tb(raised.__traceback__)
    own = [frame for frame in frames if Path(frame.filename).name == file.name]
    return f"{own[-1].filename}:{own[-1].lineno}" if own else str(file)


def _is_installed(name: str, file: Path) -> bool:
    """Whether it is there without the author: environments, and clones of this package, are often below their files."""
    is_ours = name.partition(".")[0] == __name__.partition(".")[0]
    return is_ours or "site-packages" in file.parts or file.is_relative_to(Path(sys.prefix).resolve())


def _file(module: ModuleType | None) -> Path | None:
    name = getattr(module, "__file__", None)
    return Path(name).resolve() if isinstance(name, str) else None
