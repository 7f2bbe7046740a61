"""Lets pyHanko sign a PDF file: schemes.py key.pem cert.pem pkcs1v15|pss|ed25519 hash in.pdf out.pdf

The salt of its RSASSA-PSS is the longest that the key allows.
"""

import sys

from pyhanko.pdf_utils.incremental_writer import IncrementalPdfFileWriter
from pyhanko.sign import fields, signers

key, cert, scheme, algorithm, source, target = sys.argv[1:]
signer = signers.SimpleSigner.load(key, cert, prefer_pss=scheme == "pss")
metadata = signers.PdfSignatureMetadata(
    field_name="Signature1", md_algorithm=algorithm, subfilter=fields.SigSeedSubFilter.PADES
)
with open(source, "rb") as stream, open(target, "wb") as out:
    signers.sign_pdf(IncrementalPdfFileWriter(stream), metadata, signer=signer, output=out)
