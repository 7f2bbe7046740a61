"""Lets pyHanko make a detached CMS over a digest: cms.py key.pem cert.pem chain.pem hash hexdigest out.der"""

import asyncio
import datetime
import sys

from pyhanko.sign import signers
from pyhanko.sign.signers.pdf_cms import PdfCMSSignedAttributes

key, cert, chain, algorithm, digest, target = sys.argv[1:]
signer = signers.SimpleSigner.load(key, cert, ca_chain_files=[chain])
content = asyncio.run(
    signer.async_sign(
        bytes.fromhex(digest),
        algorithm,
        signed_attr_settings=PdfCMSSignedAttributes(signing_time=datetime.datetime.now(datetime.timezone.utc)),
    )
)
with open(target, "wb") as out:
    out.write(content.dump())
