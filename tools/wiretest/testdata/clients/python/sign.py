"""Signs a PDF with the client that openapi-python-client makes of the API's description:

    openapi-python-client generate --path openapi.json --meta none --output-path api
    python sign.py document.pdf signed.pdf

INNSIGLI_URL, CLIENT_ID and CLIENT_SECRET are in the environment.
"""

import base64
import os
import sys
import time

from api import AuthenticatedClient, Client, models
from api.api.access_tokens import get_token
from api.api.sandbox import create_sandbox_user
from api.api.signing_api import poll_signing, start_signing


def connect(url: str, client_id: str, client_secret: str) -> AuthenticatedClient:
    """Returns a client that sends a token."""
    token = get_token.sync(
        client=Client(base_url=url),
        body=models.TokenRequest(
            grant_type=models.TokenRequestGrantType.CLIENT_CREDENTIALS, client_id=client_id, client_secret=client_secret
        ),
    )
    if not isinstance(token, models.Token):
        raise SystemExit(f"no token: {token}")
    return AuthenticatedClient(base_url=url, token=token.access_token)


def sign(client: AuthenticatedClient, content: bytes) -> bytes:
    """Has a sandbox user sign a document, and returns it."""
    user = create_sandbox_user.sync(
        client=client, body=models.SandboxUserDraft(full_name="Sandbox Signer", kennitala="0101302989", phone="5550101")
    )
    if not isinstance(user, models.NewSandboxUser):
        raise SystemExit(f"no user: {user}")
    started = start_signing.sync(
        client=client,
        body=models.SigningStart(
            file=models.SigningFile(
                type_=models.SigningFileType.PDF, name="document.pdf", content_b64=base64.b64encode(content).decode()
            ),
            signer=models.Signer(kennitala=user.kennitala, signing_method=models.SignerSigningMethod.IDPAPP),
            signature_image=models.SignatureImage(
                alignment=models.SignatureImageAlignment.BOTTOMRIGHT,
                positioning=models.SignatureImagePositioningType1.AUTO,
            ),
        ),
    )
    if not isinstance(started, models.SigningStarted):
        raise SystemExit(f"not started: {started}")
    interval = started.interval
    while True:
        time.sleep(interval)
        polled = poll_signing.sync(started.polling_id, client=client)
        if isinstance(polled, models.SignedDocument):
            return base64.b64decode(polled.signed_file_b64)
        code = polled.error_code if isinstance(polled, models.SigningFailure) else None
        if code == "SlowDown":
            interval += 5
        elif code != "AuthorizationPending":
            raise SystemExit(f"not signed: {polled}")


if __name__ == "__main__":
    connection = connect(os.environ["INNSIGLI_URL"], os.environ["CLIENT_ID"], os.environ["CLIENT_SECRET"])
    with open(sys.argv[1], "rb") as document:
        result = sign(connection, document.read())
    with open(sys.argv[2], "wb") as signed:
        signed.write(result)
