"""Times pyHanko at signing PDF files as this project does: PAdES-B, invisible, in one go.

    sign.py --key key.pem --cert cert.pem --runs 5 file...

Prints one JSON object a line, one for each file: the median in seconds, from the open
input to the written output. Starting Python is not counted.
"""

import argparse
import io
import json
import statistics
import time

from pyhanko.pdf_utils.incremental_writer import IncrementalPdfFileWriter
from pyhanko.sign import fields, signers


def sign(path, signer):
    """Signs one file into memory and returns how long that took."""
    with open(path, "rb") as stream:
        began = time.perf_counter()
        writer = IncrementalPdfFileWriter(stream)
        metadata = signers.PdfSignatureMetadata(
            field_name="Signature1", md_algorithm="sha256", subfilter=fields.SigSeedSubFilter.PADES
        )
        signers.sign_pdf(writer, metadata, signer=signer, output=io.BytesIO())
        return time.perf_counter() - began


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--key", required=True)
    parser.add_argument("--cert", required=True)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("files", nargs="+")
    args = parser.parse_args()
    signer = signers.SimpleSigner.load(args.key, args.cert)
    for path in args.files:
        seconds = statistics.median(sign(path, signer) for _ in range(args.runs))
        print(json.dumps({"file": path, "seconds": seconds}), flush=True)


if __name__ == "__main__":
    main()
