"""Runs in the browser, and in notebooks inside a cell."""

from __future__ import annotations

import atexit
import html
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from .errors import OutputError

__all__ = ["Viewer", "view"]


class Viewer:
    """The viewer of a run: the command ``standoff view`` as a process of its own. It keeps running while Python
    computes, and ends with :meth:`close` or with Python. In a notebook its value is shown inside the cell."""

    def __init__(self, folder: str | os.PathLike[str], listen: str = "127.0.0.1:0", height: int = 640) -> None:
        self.folder = os.fspath(folder)
        self.height = height
        #: What has to stay while this is open: a temporary folder.
        self._keeps: Any = None
        command = "from standoff._cli import main; main()"
        arguments = ["view", self.folder, "--listen", listen]
        self._process = subprocess.Popen(
            [*self._program(command), *arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        atexit.register(self.close)
        assert self._process.stdout is not None
        for line in self._process.stdout:
            if line.startswith("viewer: "):
                self.url = line.removeprefix("viewer: ").strip()
                return
        _, said = self._process.communicate()
        error = OutputError(said.strip().removeprefix("error: "))
        error.path = Path(self.folder)
        raise error

    @staticmethod
    def _program(command: str) -> list[str]:
        return [sys.executable, "-c", command]

    def close(self) -> None:
        """Ends the viewer."""
        atexit.unregister(self.close)
        if self._process.poll() is None:
            self._process.terminate()
            self._process.wait()
        for stream in (self._process.stdout, self._process.stderr):
            if stream is not None:
                stream.close()

    def __enter__(self) -> Viewer:
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<viewer of {self.folder} at {self.url}>"

    def _repr_html_(self) -> str:
        url = html.escape(self.url, quote=True)
        return f'<iframe src="{url}" width="100%" height="{self.height}" style="border: 0"></iframe>'


def view(folder: str | os.PathLike[str], *, listen: str = "127.0.0.1:0", height: int = 640) -> Viewer:
    """Shows the run in a folder, while it is written or afterwards. Open :attr:`Viewer.url` in a browser; in a
    notebook, the last line of a cell shows it inside, `height` pixels high.

    Raises:
        OutputError: the folder holds no run, the address is not available, or the package was built without
            the viewer.
    """
    return Viewer(folder, listen, height)
