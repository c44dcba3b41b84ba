"""The cookies of the kit. On https their names begin with `__Host-`, so that no other host can set them."""

from .config import Config
from .messages import Request


def name_cookie(config: Config, name: str) -> str:
    return f"{'__Host-' if config.is_secure else ''}{name}"


def build_cookie(config: Config, name: str, value: str, max_age: int | None = None) -> str:
    """Without `max_age`, the browser deletes the cookie when the browser is closed."""
    age = "" if max_age is None else f" Max-Age={max_age};"
    secure = " Secure;" if config.is_secure else ""
    return f"{name_cookie(config, name)}={value}; Path=/;{age} HttpOnly;{secure} SameSite=Lax"


def find_cookie(config: Config, request: Request, name: str) -> str | None:
    full = name_cookie(config, name)
    return next((value for given, value in request.cookies() if given == full), None)


def keep_from_silence(config: Config) -> tuple[str, str]:
    """The header that keeps `login_silently` from trying again for ten minutes."""
    return ("Set-Cookie", build_cookie(config, f"{config.client}_silent", "1", 600))


def allow_silence(config: Config, request: Request) -> list[tuple[str, str]]:
    if find_cookie(config, request, f"{config.client}_silent") is None:
        return []
    return [("Set-Cookie", build_cookie(config, f"{config.client}_silent", "", 0))]
