"""A small client for Lynxroom, with httpx: typed errors, retries that change nothing twice, and pages."""

import random
import time
import uuid
from dataclasses import dataclass, field
from typing import Any, Iterator

import httpx

MAX_ATTEMPTS = 4
MAX_DELAY_SECONDS = 30.0
WRITES = ("POST", "PUT", "PATCH", "DELETE")


@dataclass
class LynxroomError(Exception):
    """An error of the API. `code` is for programs, `message` for people, `issues` names the invalid fields."""

    status: int
    code: str
    message: str
    issues: list[dict[str, str]] = field(default_factory=list)

    def __str__(self) -> str:
        return f"{self.code} ({self.status}): {self.message}"


class Lynxroom:
    """Calls the operations of `/docs`. `token` is an API key (`lnx_...`) or a session token (`lns_...`)."""

    def __init__(self, url: str, token: str) -> None:
        headers = {"Authorization": f"Bearer {token}", "Accept": "application/json"}
        self.http = httpx.Client(base_url=url, headers=headers, timeout=httpx.Timeout(60, connect=5))

    def __enter__(self) -> "Lynxroom":
        return self

    def __exit__(self, *_: object) -> None:
        self.http.close()

    def call(self, method: str, path: str, **options: Any) -> dict[str, Any]:
        """
        Returns the body of the response. `options` are those of httpx, such as `json`, `params` and `files`.

        Repeats a call whose response is lost, or that the service asks to repeat. An idempotency key makes the service
        carry out a write only once. Raises LynxroomError, or httpx.TransportError after the last attempt.
        """
        headers = {"Idempotency-Key": str(uuid.uuid4())} if method in WRITES else {}
        for attempt in range(1, MAX_ATTEMPTS + 1):
            try:
                response = self.http.request(method, path, headers=headers, **options)
            except httpx.TransportError:
                if attempt == MAX_ATTEMPTS:
                    raise
                wait(attempt, None)
                continue
            if response.is_success:
                return response.json()
            if response.status_code not in (429, 502, 503, 504) or attempt == MAX_ATTEMPTS:
                raise read_error(response)
            wait(attempt, response.headers.get("Retry-After"))
        raise AssertionError("unreachable")

    def pages(self, path: str, **params: Any) -> Iterator[dict[str, Any]]:
        """The pages of a list, until one has no `next_cursor`."""
        while True:
            page = self.call("GET", path, params=params)
            yield page
            if page.get("next_cursor") is None:
                return
            params["cursor"] = page["next_cursor"]


def read_error(response: httpx.Response) -> LynxroomError:
    """Reads an error. A proxy in front of the service may send another body."""
    try:
        body = response.json()
        return LynxroomError(response.status_code, body["code"], body["message"], body.get("issues", []))
    except (ValueError, KeyError, TypeError):
        return LynxroomError(response.status_code, "UNKNOWN", response.reason_phrase)


def wait(attempt: int, retry_after: "str | None") -> None:
    """Waits as long as the service asks, and otherwise 1, 2, 4 s with a random part."""
    asked = float(retry_after) if retry_after is not None and retry_after.isdecimal() else 2.0 ** (attempt - 1)
    time.sleep(min(asked, MAX_DELAY_SECONDS) * random.uniform(1, 1.2))
