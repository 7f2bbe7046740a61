"""Receives webhooks at http://127.0.0.1:PORT/hooks and prints what happened:

PORT=9000 WEBHOOK_SECRET=... python3 webhook.py

WEBHOOK_SECRET is the secret of the subscription. Needs Python 3.9 or later, and nothing else.
"""

import base64
import hashlib
import hmac
import http.server
import json
import os
import re
import time

SECRET = bytes.fromhex(os.environ["WEBHOOK_SECRET"])
handled = set()  # of webhook-ids; a program for production keeps them with what they led to


def verifies(headers, body):
    id, sent = headers.get("webhook-id", ""), headers.get("webhook-timestamp", "")
    if not re.fullmatch(r"[!-\-/-~]+", id) or not re.fullmatch(r"[1-9][0-9]{0,11}", sent):
        return False
    if abs(time.time() - int(sent)) > 300:
        return False
    mac = hmac.digest(SECRET, f"{id}.{sent}.".encode() + body, hashlib.sha256)
    right = b"v1," + base64.b64encode(mac)
    signatures = headers.get("webhook-signature", "").encode().split(b" ")
    return any([hmac.compare_digest(signature, right) for signature in signatures])


class Hooks(http.server.BaseHTTPRequestHandler):
    timeout = 15  # seconds, of who connects and says nothing

    def do_POST(self):
        body = self.rfile.read(min(int(self.headers.get("Content-Length", "0")), 1 << 20))
        self.send_response(self.judge(body))
        self.send_header("Content-Length", "0")
        self.end_headers()

    def judge(self, body):
        if self.path != "/hooks":
            return 404
        if not verifies(self.headers, body):  # before anything else
            return 401
        if self.headers["webhook-id"] not in handled:
            event = json.loads(body)
            if event["type"] != "webhook.ping":
                print(event["type"], json.dumps(event["data"]), flush=True)
            handled.add(self.headers["webhook-id"])
        return 204

    def log_message(self, *_):
        pass


if __name__ == "__main__":
    http.server.ThreadingHTTPServer(("127.0.0.1", int(os.environ["PORT"])), Hooks).serve_forever()
