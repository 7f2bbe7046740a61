"""Writes an empty page and signs it with pyHanko: sign.py key.pem cert.pem root.pem count out.pdf"""

import io
import sys

from pyhanko.pdf_utils import generic, writer
from pyhanko.pdf_utils.incremental_writer import IncrementalPdfFileWriter
from pyhanko.sign import fields, signers


def empty_page():
    pdf = writer.PdfFileWriter()
    contents = pdf.add_object(generic.StreamObject(stream_data=b""))
    pdf.insert_page(writer.PageObject(contents=contents, media_box=(0, 0, 595, 842)))
    out = io.BytesIO()
    pdf.write(out)
    return out


def signed(pdf, signer, field):
    meta = signers.PdfSignatureMetadata(
        field_name=field, md_algorithm="sha256", subfilter=fields.SigSeedSubFilter.PADES
    )
    return signers.sign_pdf(IncrementalPdfFileWriter(pdf), meta, signer=signer)


key, cert, root, count, path = sys.argv[1:]
signer = signers.SimpleSigner.load(key, cert, ca_chain_files=[root])
pdf = empty_page()
for i in range(int(count)):
    pdf = signed(pdf, signer, f"Sig{i + 1}")
with open(path, "wb") as out:
    out.write(pdf.getvalue())
