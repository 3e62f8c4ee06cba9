"""
Creates a room, uploads files to the library, reads them page by page, and handles an error.

    . .data/demo.env && python3 examples/python/main.py
"""

import os
import sys
from pathlib import Path

from lynxroom import Lynxroom, LynxroomError

SAMPLE = Path(__file__).resolve().parent.parent / "sample.pdf"

settings = [os.environ.get(name, "") for name in ("LYNXROOM_URL", "LYNXROOM_TOKEN", "LYNXROOM_WORKSPACE")]
if "" in settings:
    sys.exit("Load the demo account first: . .data/demo.env")
url, token, workspace = settings
path = f"/api/workspaces/{workspace}"

with Lynxroom(url, token) as api:
    room = api.call("POST", "/api/dashboard/rooms", json={"workspace_id": int(workspace)})["room"]
    print("Created a room")

    # A name of its own, so that the example finds and deletes only its own items.
    prefix = f"Python {room['name']}"
    content = SAMPLE.read_bytes()
    for number in (1, 2, 3):
        files = {"file": (f"{prefix} {number}.pdf", content, "application/pdf")}
        item = api.call("POST", f"{path}/library", files=files)["item"]
        print(f"Uploaded file {number}: {item['size']} bytes")

    items = []
    for page in api.pages(f"{path}/library", search=prefix, sort="name", order="asc", limit=2):
        items.extend(page["items"])
        print(f"Read a page: {len(page['items'])} of {page['total']} items")

    try:
        api.call("POST", "/api/dashboard/rooms", json={"workspace_id": int(workspace), "name": room["name"]})
    except LynxroomError as error:
        print(f"Refused: {error.code} ({error.status})")
    try:
        api.call("POST", f"{path}/labels", json={"name": ""})
    except LynxroomError as error:
        print(f"Refused: {error.code} ({error.status}): {', '.join(issue['path'] for issue in error.issues)}")

    for item in items:
        api.call("DELETE", f"{path}/library/{item['id']}")
    api.call("DELETE", f"/api/dashboard/rooms/{room['name']}")
    print(f"Deleted the room and {len(items)} files")
