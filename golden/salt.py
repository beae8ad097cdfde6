"""Salts: verbatim text in the key, or ``$digest: GLOB``, the digest of the files that an answer depends on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from golden import project_path, template
from golden.digest import file_digest
from golden.place import Place
from snapshots import canonical

_PREFIX = "$digest:"


@dataclass(frozen=True, slots=True)
class Salts:
    """The digests of one loading of a suite: each glob is read once, so that a run sees one state of the files."""

    root: Path
    digests: dict[str, str] = field(default_factory=dict[str, str])

    def digest(self, glob: str, place: Place, pointer: str) -> str:
        """Return ``sha256:`` of the sorted canonical list of ``[relative path, sha256 of the bytes, CRLF as LF]``.

        Raises:
            ConfigError: nothing matches, or a match lies outside the project.
        """
        if glob not in self.digests:
            files = project_path.files_matching(self.root, glob, place, pointer)
            pairs = [[f.relative_to(self.root).as_posix(), file_digest(f.read_bytes())] for f in files]
            self.digests[glob] = f"sha256:{canonical.digest(sorted(pairs))}"
        return self.digests[glob]


def resolve_salt(salt: str, variables: Mapping[str, Any], salts: Salts, place: Place, pointer: str) -> str:
    """Return a salt as it stands in the key; a ``$digest:`` glob is rendered with ``variables`` first."""
    if not salt.startswith(_PREFIX):
        return salt
    glob = template.render(salt.removeprefix(_PREFIX).strip(), variables, None, place, pointer)
    return salts.digest(glob, place, pointer)
