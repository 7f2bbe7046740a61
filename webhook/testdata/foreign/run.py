# Says which of the requests on stdin the verifier of docs/webhooks.md takes.
import base64, json, sys

from verify import verify

print(json.dumps({c["name"]: verify(c["headers"], base64.b64decode(c["body"]), c["keys"]) for c in json.load(sys.stdin)}))
