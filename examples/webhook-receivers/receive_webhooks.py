# WEBHOOK_SECRET=whsec_... python3 receive_webhooks.py
import base64
import hashlib
import hmac
import json
import os
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

SECRET = os.environ.get("WEBHOOK_SECRET", "")
if not SECRET.startswith("whsec_"):
    sys.exit("Set WEBHOOK_SECRET to the secret of the webhook: it begins with whsec_")
TOLERANCE_SECONDS = 5 * 60
MAX_BYTES = 1024 * 1024


def is_equal(one, other):
    return hmac.compare_digest(one.encode(), other.encode())


# X-Webhook-Signature and, for 24 hours after a rotation, X-Webhook-Signature-Previous with the old secret.
def is_signed(headers, body):
    expected = hmac.new(SECRET.encode(), body, hashlib.sha256).hexdigest()
    given = [headers.get("X-Webhook-Signature", ""), headers.get("X-Webhook-Signature-Previous", "")]
    return any(is_equal(signature, expected) for signature in given)


# Standard Webhooks: signs id, time and body. The key is the base64-decoded part of the secret after whsec_.
def is_signed_by_standard(headers, body):
    message_id, sent_at = headers.get("webhook-id", ""), headers.get("webhook-timestamp", "")
    if not sent_at.isdecimal() or abs(time.time() - int(sent_at)) > TOLERANCE_SECONDS:
        return False
    key = base64.b64decode(SECRET.removeprefix("whsec_"))
    digest = hmac.new(key, f"{message_id}.{sent_at}.".encode() + body, hashlib.sha256).digest()
    expected = "v1," + base64.b64encode(digest).decode()
    return any(is_equal(signature, expected) for signature in headers.get("webhook-signature", "").split(" "))


def process_message(message):
    print(message["event"], message["timestamp"], message["data"], flush=True)


handled = set()  # In production, use a database table.


class Receiver(BaseHTTPRequestHandler):
    timeout = 10  # Seconds to wait for a client that stops sending.

    def respond(self, status):
        self.send_response(status)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def do_POST(self):
        length = self.headers.get("Content-Length", "")
        if not length.isdecimal():
            return self.respond(400)
        if int(length) > MAX_BYTES:
            return self.respond(413)
        body = self.rfile.read(int(length))
        if len(body) < int(length):
            return self.respond(400)
        verify = is_signed_by_standard if self.path == "/standard" else is_signed
        if not verify(self.headers, body):
            return self.respond(401)
        message_id = self.headers["webhook-id"]
        message = json.loads(body)
        is_new = message_id not in handled
        handled.add(message_id)
        # In production, write the message to a queue first: after a 2xx response it is not sent again.
        self.send_response(204)
        self.end_headers()
        if is_new:
            process_message(message)


port = int(os.environ.get("PORT", "4000"))
print(f"Listening on port {port}", flush=True)
ThreadingHTTPServer(("", port), Receiver).serve_forever()
