"""Signs PDF files with pyHanko, invisibly and in one go, and times it.

    sign.py --key key.pem --cert cert.pem [--chain chain.pem]... [--root anchor.pem]
            [--tsa URL] [--level B] [--runs 5] [--output folder] file...

Level B is the default; T, LT and LTA need the timestamp authority, LT and LTA the
anchor too. Issuers, revocation lists and responders are asked where the certificates
say, in each run anew. RSA keys sign with PKCS #1 v1.5.

Prints one JSON object a line, one for each file: the median in seconds, from the open
input to the written output. Starting Python is not counted. With a folder, each signed
file is written there under its own name.
"""

import argparse
import io
import json
import pathlib
import statistics
import time
from datetime import timedelta

from pyhanko.keys import load_cert_from_pemder
from pyhanko.pdf_utils.incremental_writer import IncrementalPdfFileWriter
from pyhanko.sign import fields, signers
from pyhanko.sign.timestamps import HTTPTimeStamper
from pyhanko_certvalidator import ValidationContext


def metadata(args):
    long_term = args.level in ("LT", "LTA")
    return signers.PdfSignatureMetadata(
        field_name="Signature1",
        md_algorithm="sha256",
        subfilter=fields.SigSeedSubFilter.PADES,
        embed_validation_info=long_term,
        use_pades_lta=args.level == "LTA",
        validation_context=context(args) if long_term else None,
    )


def context(args):
    """Answers are newer than the context, which pyHanko minds after a second."""
    return ValidationContext(
        trust_roots=[load_cert_from_pemder(path) for path in args.root],
        other_certs=[load_cert_from_pemder(path) for path in args.chain],
        allow_fetching=True,
        revocation_mode="require",
        time_tolerance=timedelta(minutes=10),
    )


def sign(path, signer, args):
    """Signs one file into memory and returns how long that took."""
    timestamper = None if args.level == "B" else HTTPTimeStamper(args.tsa, timeout=60)
    about, output = metadata(args), io.BytesIO()
    with open(path, "rb") as stream:
        began = time.perf_counter()
        signers.sign_pdf(
            IncrementalPdfFileWriter(stream), about, signer=signer, timestamper=timestamper, output=output
        )
        seconds = time.perf_counter() - began
    if args.output:
        (args.output / pathlib.Path(path).name).write_bytes(output.getbuffer())
    return seconds


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--key", required=True)
    parser.add_argument("--cert", required=True)
    parser.add_argument("--chain", action="append", default=[])
    parser.add_argument("--root", action="append", default=[])
    parser.add_argument("--tsa")
    parser.add_argument("--level", choices=["B", "T", "LT", "LTA"], default="B")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--output", type=pathlib.Path)
    parser.add_argument("files", nargs="+")
    args = parser.parse_args()
    signer = signers.SimpleSigner.load(args.key, args.cert, ca_chain_files=args.chain)
    for path in args.files:
        seconds = statistics.median(sign(path, signer, args) for _ in range(args.runs))
        print(json.dumps({"file": path, "seconds": seconds}), flush=True)


if __name__ == "__main__":
    main()
