"""How much memory is left to this process."""

from __future__ import annotations

import os
from pathlib import Path


def available_bytes() -> int | None:
    """Memory left to this process, on the machine or in its control group; None where unknown."""
    found = [value for value in (_machine_bytes(), _group_bytes()) if value is not None]
    return min(found) if found else None


def _machine_bytes() -> int | None:
    try:
        for line in Path("/proc/meminfo").read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    except (OSError, ValueError, IndexError):
        pass
    try:
        return int(os.sysconf("SC_AVPHYS_PAGES")) * int(os.sysconf("SC_PAGE_SIZE"))
    except (AttributeError, OSError, ValueError):
        return None


def _group_bytes() -> int | None:
    """Room left in the process's control group, version 2 or 1; its page cache can be given back."""
    rooms = []
    for folder in _group_folders():
        for limit_name, used_name in (
            ("memory.max", "memory.current"),
            ("memory.limit_in_bytes", "memory.usage_in_bytes"),
        ):
            try:
                limit = int((folder / limit_name).read_text())
                used = int((folder / used_name).read_text())
            except (OSError, ValueError):  # "max": no limit
                continue
            rooms.append(max(0, limit - used + _reclaimable(folder)))
    return min(rooms) if rooms else None


def _group_folders() -> list[Path]:
    root = Path("/sys/fs/cgroup")
    folders = {root, root / "memory"}
    try:
        lines = Path("/proc/self/cgroup").read_text().splitlines()
    except OSError:
        lines = []
    for line in lines:
        _, controllers, path = line.split(":", 2)
        if controllers not in ("", "memory"):
            continue
        folder = (root / "memory" if controllers else root) / path.lstrip("/")
        while root in folder.parents:
            folders.add(folder)
            folder = folder.parent
    return sorted(folders)


def _reclaimable(folder: Path) -> int:
    try:
        for line in (folder / "memory.stat").read_text().splitlines():
            if line.startswith(("inactive_file ", "total_inactive_file ")):
                return int(line.split()[1])
    except (OSError, ValueError, IndexError):
        pass
    return 0
