"""Builds what pip installs (PEP 517). It needs only the standard library, so pip needs no network."""

import base64
import hashlib
import tomllib
import zipfile
from pathlib import Path
from typing import Any

_HERE = Path(__file__).parent
_PACKAGE = "identity_client"


def build_wheel(wheel_directory: str, config_settings: Any = None, metadata_directory: Any = None) -> str:
    project = tomllib.loads((_HERE / "pyproject.toml").read_text("utf-8"))["project"]
    version = (_HERE / "VERSION").read_text("utf-8").strip()
    metadata = {
        "Metadata-Version": "2.4",
        "Name": project["name"],
        "Version": version,
        "Summary": project["description"],
        "License-Expression": project["license"],
        "License-File": "LICENSE",
        "Requires-Python": project["requires-python"],
        "Description-Content-Type": "text/markdown",
    }
    wheel = {"Wheel-Version": "1.0", "Generator": "identity-client", "Root-Is-Purelib": "true", "Tag": "py3-none-any"}
    about = f"{_PACKAGE}-{version}.dist-info"
    files = {path.relative_to(_HERE).as_posix(): path.read_bytes() for path in sorted((_HERE / _PACKAGE).glob("*.*"))}
    files[f"{about}/METADATA"] = _write(metadata) + (_HERE / "README.md").read_bytes()
    files[f"{about}/WHEEL"] = _write(wheel)
    files[f"{about}/licenses/LICENSE"] = (_HERE / "LICENSE").read_bytes()
    record = [f"{name},sha256={_digest(data)},{len(data)}" for name, data in files.items()]
    files[f"{about}/RECORD"] = "\n".join([*record, f"{about}/RECORD,,", ""]).encode()
    name = f"{_PACKAGE}-{version}-py3-none-any.whl"
    with zipfile.ZipFile(Path(wheel_directory) / name, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, data in files.items():
            archive.writestr(path, data)
    return name


def _write(headers: dict[str, str]) -> bytes:
    return "".join(f"{name}: {value}\n" for name, value in headers.items()).encode() + b"\n"


def _digest(data: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
