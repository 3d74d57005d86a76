"""What the benchmarks printed, by page: each record with its command, machine, versions and date."""

from __future__ import annotations

import json
from pathlib import Path


def page(folder: Path) -> str:
    """The records of a folder, in Markdown."""
    return "\n".join(_section(json.loads(path.read_text())) for path in sorted(folder.glob("*.json")))


def _section(record: dict[str, object]) -> str:
    versions = ", ".join(f"{name} {number}" for name, number in dict(record["versions"]).items())  # type: ignore[call-overload]
    return f"""```sh
{record["command"]}
```

On {record["date"]}, {record["machine"]}; {versions}; {record["processor_seconds"]} s of processor time:

```text
{str(record["output"]).strip(chr(10))}
```
"""
