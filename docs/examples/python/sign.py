"""Signs a PDF in a sandbox: python3 sign.py document.pdf signed.pdf

CLIENT_ID and CLIENT_SECRET are those of an API client, INNSIGLI_URL is the address of the server.
Needs Python 3.9 or later, and nothing else.
"""

import base64
import json
import os
import sys
import time
import urllib.error
import urllib.parse
import urllib.request

BASE = os.environ.get("INNSIGLI_URL", "http://127.0.0.1:8080")


def send(request):
    """Returns status, headers and JSON of the answer, of whatever status it is."""
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            return answer.status, answer.headers, json.load(answer)
    except urllib.error.HTTPError as answer:
        return answer.code, answer.headers, json.load(answer)


def token():
    form = urllib.parse.urlencode({"grant_type": "client_credentials"}).encode()
    client = f"{os.environ['CLIENT_ID']}:{os.environ['CLIENT_SECRET']}"
    basic = "Basic " + base64.b64encode(client.encode()).decode()
    status, _, answer = send(urllib.request.Request(f"{BASE}/api/v1/auth/token", form, {"Authorization": basic}))
    if status != 200:
        sys.exit(f"no token: {answer}")
    return answer["access_token"]


def call(token, path, body=None):
    """Calls the API, and waits as long as an answer of 429 or 503 asks for."""
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    content = None if body is None else json.dumps(body).encode()
    while True:
        status, heads, answer = send(urllib.request.Request(BASE + path, content, headers))
        if status not in (429, 503):
            return status, answer
        time.sleep(int(heads.get("Retry-After", "1")))


def sign(token, name, document):
    # A sandbox user stands in for a person. 422: there is one, from the last time.
    user = {"fullName": "Sandbox Signer", "kennitala": "0101302989", "phone": "5550101"}
    status, answer = call(token, "/api/v1/sandbox/users", user)
    if status not in (200, 422):
        sys.exit(f"no sandbox user: {answer}")

    status, started = call(token, "/api/v1/signing", {
        "file": {"type": "Pdf", "name": name, "contentB64": base64.b64encode(document).decode()},
        "signer": {"kennitala": user["kennitala"], "signingMethod": "IdpApp"},
        "signatureImage": {"alignment": "BottomRight", "positioning": "Auto"},
    })
    if status != 200:
        sys.exit(f"not started: {started}")

    interval = started["interval"]
    while True:
        time.sleep(interval)
        status, answer = call(token, f"/api/v1/signing/{started['pollingId']}")
        if status == 200:
            return base64.b64decode(answer["signedFileB64"])
        if answer.get("errorCode") == "SlowDown":
            interval += 5
        elif answer.get("errorCode") == "AuthorizationPending":
            print(f"The phone shows {answer['verificationCode'] or 'no code yet'}.")
        else:
            sys.exit(f"not signed: {answer}")


if __name__ == "__main__":
    source, target = sys.argv[1:]
    with open(source, "rb") as file:
        signed = sign(token(), os.path.basename(source), file.read())
    with open(target, "wb") as file:
        file.write(signed)
