"""Lines as they arrive: from a stream, or from files of a directory that come and grow."""

from __future__ import annotations

import hashlib
import json
import os
import queue
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from graphglass.errors import InputError
from graphglass.files.atomic import write_whole

MOST_AT_ONCE = 256
MARKED = 1024  # bytes before a place that must still be there for a file to count as the same


@dataclass(frozen=True)
class Line:
    """One line, and its source and number."""

    source: str
    number: int
    content: bytes


def standard_input() -> BinaryIO:
    """A reader of standard input of its own.

    The interpreter closes ``sys.stdin`` when the program ends, and aborts if a thread is still reading it.
    """
    try:
        return os.fdopen(os.dup(sys.stdin.fileno()), "rb")
    except OSError:  # not a real file, as in a test or a notebook
        return sys.stdin.buffer


def stream_lines(stream: BinaryIO, longest: int) -> Iterator[list[Line]]:
    """Lines of a stream, as many at a time as have arrived.

    A thread reads ahead while lines are scored, up to a bound, so that a fast writer waits. Of a line longer than
    ``longest`` bytes only the beginning is returned, which is not a valid record.
    """
    waiting: queue.Queue[Line | Exception | None] = queue.Queue(maxsize=4 * MOST_AT_ONCE)

    def read() -> None:
        try:
            contents = iter(lambda: _next_line(stream, longest)[0], b"")
            for number, content in enumerate(contents, start=1):
                waiting.put(Line("input", number, content))
            waiting.put(None)
        except Exception as error:
            waiting.put(error)  # raised where the lines are used, since errors of this thread would be lost

    threading.Thread(target=read, daemon=True, name="lines").start()
    while True:
        items = [waiting.get()]
        while len(items) < MOST_AT_ONCE and not waiting.empty():
            items.append(waiting.get())
        if lines := [item for item in items if isinstance(item, Line)]:
            yield lines
        if len(lines) < len(items):
            break
    end = items[-1]
    if isinstance(end, OSError):
        raise InputError(f"The input cannot be read any further: {end}. What was read before is scored.") from end
    if isinstance(end, Exception):
        raise end


def _next_line(file: BinaryIO, longest: int) -> tuple[bytes, int, bool]:
    """At most ``longest`` bytes of the next line, how many the line has, and whether its end is there."""
    content = piece = file.readline(longest)
    taken = len(content)
    while piece and not piece.endswith(b"\n") and len(piece) == longest:
        piece = file.readline(longest)
        taken += len(piece)
    return content, taken, piece.endswith(b"\n")


def _whole(content: bytes) -> bool:
    """Whether a line without its end is a record already, and not half of one."""
    try:
        json.loads(content)
    except (ValueError, RecursionError):
        return False
    return True


# file -> (its number on the disk, bytes read, lines read, a mark of the last bytes read). Disks reuse the number of a
# deleted file at once, so only the mark tells a new file from one that grew.
Places = dict[str, tuple[int, int, int, str]]


def read_places(path: Path, directory: Path) -> Places:
    """How far the files of a directory were read by the run that wrote ``path``; nothing without it."""
    try:
        files = json.loads(path.read_bytes()).get(str(directory.resolve()), {})
        return {name: (int(file), int(at), int(line), str(mark)) for name, (file, at, line, mark) in files.items()}
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise InputError(
            f"{path}, which records what was scored before, cannot be read: {error}. Delete it to score all again."
        ) from error


def write_places(path: Path, directory: Path, places: Places) -> None:
    """Save the places of a directory beside those of others with the same results."""
    kept = json.loads(path.read_bytes()) if path.exists() else {}
    write_whole(path, json.dumps({**kept, str(directory.resolve()): places}).encode())


def directory_lines(
    directory: Path,
    *,
    poll: float,
    once: bool,
    longest: int,
    places: Places | None = None,
    complain: Callable[[str], None] = lambda text: None,
) -> Iterator[list[Line]]:
    """Lines of all ``.jsonl`` files in a directory, of files that appear later, and of those that grow.

    A last line without its line end is taken once it is a whole JSON value and the file has not grown for one poll;
    with ``once``, which does not wait, half a line is left to the next run. ``places`` says where to continue, and is
    kept up to date with the lines returned. A file that was replaced or cut short is read from its beginning; one that
    cannot be read is reported once.
    """
    places = {} if places is None else places
    seen: dict[str, tuple[int, int]] = {}
    unreadable: set[str] = set()
    while True:
        for path in sorted(directory.glob("*.jsonl")):
            try:
                yield from _new_lines(path, places, seen, whole=once, longest=longest)
                unreadable.discard(path.name)
            except FileNotFoundError:
                continue  # the file went away between being listed and being read
            except OSError as error:
                if path.name not in unreadable:
                    complain(f"{path} cannot be read: {error.strerror}")
                unreadable.add(path.name)
        if once:
            return
        time.sleep(poll)  # also after lines were found: a file is at rest only if there was time to write


def _new_lines(
    path: Path, places: Places, seen: dict[str, tuple[int, int]], *, whole: bool, longest: int
) -> Iterator[list[Line]]:
    status = path.stat()
    size, file_number = status.st_size, status.st_ino
    unchanged = seen.get(path.name) == (size, status.st_mtime_ns)
    seen[path.name] = size, status.st_mtime_ns
    known, place, number, mark = places.get(path.name, (file_number, 0, 0, ""))
    if unchanged and size == place:
        return
    with path.open("rb") as file:
        if known != file_number or size < place or (place and _mark(file, place) != mark):
            place, number = 0, 0
        file.seek(place)
        lines: list[Line] = []
        while True:
            content, taken, ended = _next_line(file, longest)
            # Past the size that was seen to rest, a writer is in the middle of a line.
            if not content or (not ended and not ((whole or unchanged) and place + taken == size and _whole(content))):
                break
            place, number = place + taken, number + 1
            lines.append(Line(path.name, number, content))
            if len(lines) == MOST_AT_ONCE:
                places[path.name] = file_number, place, number, _mark(file, place)
                yield lines
                lines = []
                file.seek(place)
        places[path.name] = file_number, place, number, _mark(file, place)
        if lines:
            yield lines


def _mark(file: BinaryIO, place: int) -> str:
    """A digest of the last bytes before a place."""
    first = max(0, place - MARKED)
    file.seek(first)
    return hashlib.sha256(file.read(place - first)).hexdigest()[:16]
