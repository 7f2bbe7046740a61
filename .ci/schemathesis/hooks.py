"""What a document cannot tell a fuzzer: ids of what there is, people who sign, and files that can be read.

A generated request keeps all that it has but these. A value is put in the place of one that has its form, so
that what is wrong stays wrong, and that what is right is not refused for what no schema can say. What was
answered is counted by operation, in the file INNSIGLI_COUNTS.
"""

import atexit
import base64
import collections
import itertools
import json
import math
import os
import re
import threading

import requests
import schemathesis

BASE = os.environ["INNSIGLI_URL"]
ENDPOINT = os.environ["INNSIGLI_ENDPOINT"]  # of webhooks, which answers as it should
FILES = {kind: os.environ["INNSIGLI_" + kind.upper()] for kind in ("Pdf", "Xml", "Png", "Jpeg")}  # in Base64
CLIENT = {"client_id": os.environ["INNSIGLI_CLIENT"], "client_secret": os.environ["INNSIGLI_SECRET"]}

UUID = re.compile(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
PROCESSES, HOOKS = "/api/v1/portal/signing-processes", "/api/v1/portal/webhooks"


class Account:
    """The account that the requests are of, and what it has."""

    def __init__(self):
        self.lock = threading.RLock()
        self.numbers = itertools.count(1)
        self.session = requests.Session()
        token = self.post("/api/v1/auth/token", CLIENT | {"grant_type": "client_credentials"})["access_token"]
        self.session.headers["Authorization"] = "Bearer " + token
        self.signer = {"fullName": "Sandbox Signer", "kennitala": "0101302989", "phone": "5550101"}
        self.signer = self.signer | self.post("/api/v1/sandbox/users", self.signer)
        self.changed = self.post("/api/v1/sandbox/users", {"fullName": "Another", "kennitala": "0202025559", "phone": "5550102"})
        self.kept = {}  # what one request after another is about
        self.polls = []
        self.hooks = []
        self.values = collections.defaultdict(set)

    def post(self, path, body=None):
        answer = self.session.post(BASE + path, json=body)
        answer.raise_for_status()
        return answer.json() if answer.content else None

    def process(self):
        participants = [{"name": "Sandbox Signer", "email": "signer@example.com", "role": "Signer"}]
        return self.post(PROCESSES, {"file": {"name": "a.pdf", "contentBase64": FILES["Pdf"]}, "participants": participants, "signatureLocation": "TopLeft"})

    def hook(self):
        return self.post(HOOKS, {"url": f"{ENDPOINT}/{next(self.numbers)}", "eventTypes": ["process.completed"]})

    def made(self, hook):
        """An account has at most 100 subscriptions: the oldest of those that requests made goes."""
        with self.lock:
            self.hooks.append(hook)
            oldest = self.hooks.pop(0) if len(self.hooks) > 60 else None
        if oldest:
            self.session.delete(f"{BASE}{HOOKS}/{oldest}")

    def busy_signal(self):
        return self.post("/api/v1/signing/busy-signal")["id"]

    def polled(self):
        """A request is polled three times: it waits, it is signed, it is gone."""
        with self.lock:
            if not self.polls:
                signer = {"kennitala": self.signer["kennitala"], "signingMethod": "IdpApp"}
                body = {"file": {"type": "Pdf", "name": "a.pdf", "contentB64": FILES["Pdf"]}, "signer": signer, "advancedSignatureSettings": {"signatureLevel": "B"}}
                self.polls = 3 * [self.post("/api/v1/signing", body)["pollingId"]]
            return self.polls.pop()

    def sent(self, name, value):
        """Whether this was sent before."""
        with self.lock:
            before = value in self.values[name]
            self.values[name].add(value)
            return before

    def once(self, name, make):
        """What is made but once, or again when it is gone."""
        with self.lock:
            if name not in self.kept:
                self.kept[name] = make()
            return self.kept[name]


account = Account()


def ids(method, path):
    """The ids of a path that there are, by the names of its parameters."""
    if path.startswith("/api/v1/signing/"):
        return {"pollingId": account.polled()}
    if path.startswith("/api/v1/sandbox/users/"):
        return {"uuid": account.changed["uuid"]}
    if path.startswith(HOOKS):
        hook = account.hook() if method == "DELETE" else account.once("hook", account.hook)
        return {"subscriptionId": hook["id"]}
    process = account.once("process", account.process) if method == "GET" else account.process()
    return {"signingProcessId": process["signingProcessId"], "participantId": process["participants"][0]["participantId"]}


def is_base64(value):
    try:
        return isinstance(value, str) and len(base64.b64decode(value, validate=True)) > 0
    except ValueError:
        return False


def is_number(value, least, most):
    return isinstance(value, (int, float)) and not isinstance(value, bool) and least <= value <= most


def is_text(value, most):
    return isinstance(value, str) and bool(value.strip()) and len(value) <= most and not re.search(r"[\x00-\x1f\x7f-\x9f]", value)


def part(body, name):
    """An object in a body, empty if it is none."""
    value = body.get(name) if isinstance(body, dict) else None
    return value if isinstance(value, dict) else {}


def swap(body, name, fits, value):
    if name in body and fits(body[name]):
        body[name] = value() if callable(value) else value


def without_blanks(value):
    """A blank string counts as missing (spec 1.2), which schemas do not say, so that clients that are
    made of them keep their types: where it was made up as a wrong value, it is sent as the null that it means."""
    if isinstance(value, dict):
        return {name: without_blanks(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [without_blanks(inner) for inner in value]
    return None if isinstance(value, str) and not value.strip() else value


def start(body):
    file, signer, image = part(body, "file"), part(body, "signer"), part(body, "signatureImage")
    swap(file, "contentB64", is_base64, FILES.get(str(file.get("type")), FILES["Pdf"]))
    swap(signer, "kennitala", lambda v: isinstance(v, str) and is_text(v.replace("-", ""), 10), account.signer["kennitala"])
    swap(signer, "phone", lambda v: is_text(v, 16), account.signer["phone"])
    swap(image, "imageB64", is_base64, FILES.get(str(image.get("imageType")), FILES["Png"]))
    swap(image, "page", lambda v: is_number(v, 1, 1e300) and v == int(v), 1)
    for name, most, limit in ("originX", 100, math.inf), ("originY", 100, math.inf), ("width", 300, 14400), ("height", 300, 14400):
        swap(image, name, lambda v: is_number(v, most, limit), most)  # it stays on the page
    swap(part(body, "busySignal"), "id", lambda v: isinstance(v, str) and UUID.fullmatch(v), account.busy_signal)


def process(body):
    swap(part(body, "file"), "contentBase64", is_base64, FILES["Pdf"])
    if not isinstance(body, dict):
        return
    swap(body, "signaturePage", lambda v: is_number(v, 1, 1e300) and v == int(v), 1)
    seen = set()
    for one in body.get("participants") if isinstance(body.get("participants"), list) else []:
        if isinstance(one, dict) and isinstance(one.get("email"), str):
            if one["email"].lower() in seen:
                one["email"] = f"signer{next(account.numbers)}@example.com"
            seen.add(one["email"].lower())


def subscription(body):
    if isinstance(body, dict):
        swap(body, "url", lambda v: isinstance(v, str) and re.fullmatch(r"https?://\S+", v) and len(v) <= 512, lambda: f"{ENDPOINT}/{next(account.numbers)}")


def test_person(body):
    if isinstance(body, dict):
        swap(body, "sandboxUserId", lambda v: isinstance(v, str) and UUID.fullmatch(v), account.signer["uuid"])


def test_user(body):
    """No two have the same kennitala or phone: what was sent before is counted on."""
    for name, most in ("kennitala", 10), ("phone", 16):
        if isinstance(body, dict) and isinstance(body.get(name), str) and account.sent(name, body[name].replace("-", "")):
            swap(body, name, lambda v: is_text(v, most), lambda: str(10**9 + next(account.numbers)))


def credentials(body):
    if isinstance(body, dict) and all(isinstance(body.get(name), str) for name in CLIENT):
        body.update(CLIENT)


BODIES = {
    "/api/v1/signing": start,
    PROCESSES: process,
    HOOKS: subscription,
    HOOKS + "/{subscriptionId}": subscription,
    "/api/v1/sandbox/users": test_user,
    "/api/v1/auth/token": credentials,
    "/api/v1/auth/revoke": credentials,
}

# What a request of the right form may be refused for, as no schema can say it: what else there is, and what was
# done before (spec 1.8, 3.6, 4.4 and 6.4).
STATES = {
    "Idempotency key was used",
    "Sandbox user already exists",
    "Participant has already answered",
    "Participant is a viewer",
    "Kennitala does not match",
    "Sandbox user cannot sign now",
    "Signing process is not waiting",
    "No free signature slot",
    "Too many participants for the page",
}


@schemathesis.hook
def before_call(context, case, kwargs):
    path = case.operation.path
    stateful = case.meta is not None and case.meta.phase.name.value == "stateful"
    parameters = case.path_parameters or {}
    if parameters and not stateful and all(UUID.fullmatch(str(v)) for v in parameters.values()):
        there = ids(case.method.upper(), path)
        case.path_parameters = {name: there.get(name, value) for name, value in parameters.items()}
    headers = case.headers or {}
    if account.sent("Idempotency-Key", headers.get("Idempotency-Key")) and is_text(headers.get("Idempotency-Key"), 255):
        headers["Idempotency-Key"] = f"key-{next(account.numbers)}"
    if path.startswith("/api/v1/auth/"):
        headers.pop("Authorization", None)  # the client is in the body
    if case.meta is not None and case.meta.generation.mode.is_negative and isinstance(case.body, (dict, list)):
        case.body = without_blanks(case.body)
    mend = test_person if path.endswith("/sign") else BODIES.get(path)
    if mend:
        mend(case.body)


@schemathesis.hook
def filter_failure(context, failure, case, response):
    """Drops what is no failure: a refusal for a state, and an end that only comes once."""
    kind, poll = type(failure).__name__, case.operation.path == "/api/v1/signing/{pollingId}"
    try:
        answer = response.json()
    except ValueError:
        answer = {}
    if kind == "RejectedPositiveData":
        # A poll answers 400 until there is a signature, and when there is none in time (spec 3.7): between
        # two polls of a request other operations may have their turn for longer than it lives.
        pending = poll and answer.get("errorCode") in ("AuthorizationPending", "ExpiredToken")
        # No parameter is sent twice, also none that nobody knows, as a list in a form is (RFC 6749 3.2).
        repeated = answer.get("error_description") == "A parameter is repeated."
        # Only the service knows which texts it has given out for the next page.
        unknown_page = set(answer.get("errors") or {}) == {"after"}
        return not (pending or repeated or unknown_page or answer.get("title") in STATES)
    # A result is delivered once, and polls answer 404 from then on (spec 3.6).
    return not (kind == "EnsureResourceAvailability" and poll)


@schemathesis.serializer("application/ocsp-request", "application/timestamp-query")
def as_bytes(context, value):
    """Requests in DER are any bytes here: each gets an answer."""
    return {"data": value if isinstance(value, bytes) else str(value).encode("utf-8", "replace")}


counts = collections.defaultdict(collections.Counter)


@schemathesis.hook
def after_call(context, case, response):
    counts[f"{case.operation.method.upper()} {case.operation.path}"][str(response.status_code)] += 1
    if case.operation.path == HOOKS and response.status_code == 201:
        account.made(response.json()["id"])


@atexit.register
def report():
    with open(os.environ["INNSIGLI_COUNTS"], "w") as file:
        json.dump(counts, file)
