"""Signs PDF files with pyHanko, invisibly and in one go, and times it.

    sign.py --key key.pem --cert cert.pem [--chain chain.pem]... [--root anchor.pem]
            [--tsa URL] [--level B] [--runs 5] [--output folder] [--digest SHA512]
            [--policy implicit|OID] [--with OPTION]... file...

Level B is the default; T, LT and LTA need the timestamp authority, LT and LTA the
anchor too. Issuers, revocation lists and responders are asked where the certificates
say, in each run anew. RSA keys sign with PKCS #1 v1.5, or by RSASSA-PSS with the option pss.
Other options are content-timestamp, commitment, and pkcs7 for adbe.pkcs7.detached.
A file that has a signature field gets another one.

Prints one JSON object per line, one for each file: the median in seconds, from the open
input to the written output. Starting Python is not counted. With a folder, each signed
file is written there under its own name.
"""

import argparse
import hashlib
import io
import json
import pathlib
import statistics
import time
from datetime import timedelta

from asn1crypto import algos, core
from pyhanko.keys import load_cert_from_pemder
from pyhanko.pdf_utils.incremental_writer import IncrementalPdfFileWriter
from pyhanko.pdf_utils.reader import PdfFileReader
from pyhanko.sign import fields, signers
from pyhanko.sign.ades import cades_asn1
from pyhanko.sign.ades.api import CAdESSignedAttrSpec, GenericCommitment
from pyhanko.sign.timestamps import HTTPTimeStamper
from pyhanko_certvalidator import ValidationContext


def metadata(args, field):
    long_term = args.level in ("LT", "LTA")
    pkcs7 = "pkcs7" in args.options
    return signers.PdfSignatureMetadata(
        field_name=field,
        md_algorithm=args.digest.lower(),
        subfilter=fields.SigSeedSubFilter.ADOBE_PKCS7_DETACHED if pkcs7 else fields.SigSeedSubFilter.PADES,
        cades_signed_attr_spec=None if pkcs7 else signed_attributes(args),
        embed_validation_info=long_term,
        use_pades_lta=args.level == "LTA",
        validation_context=context(args) if long_term else None,
    )


def signed_attributes(args):
    """What is signed beside the document; the policy is one that is nowhere."""
    return CAdESSignedAttrSpec(
        commitment_type=GenericCommitment.PROOF_OF_APPROVAL.asn1 if "commitment" in args.options else None,
        timestamp_content="content-timestamp" in args.options,
        signature_policy_identifier=policy(args.policy) if args.policy else None,
    )


def policy(name):
    if name == "implicit":
        return cades_asn1.SignaturePolicyIdentifier("signature_policy_implied", core.Null())
    digest = {"digest_algorithm": algos.DigestAlgorithm({"algorithm": "sha256"}), "digest": hashlib.sha256(name.encode()).digest()}
    return cades_asn1.SignaturePolicyIdentifier(
        "signature_policy_id", cades_asn1.SignaturePolicyId({"sig_policy_id": name, "sig_policy_hash": digest})
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
    output = io.BytesIO()
    with open(path, "rb") as stream:
        taken = len(PdfFileReader(stream, strict=False).embedded_regular_signatures)
        about = metadata(args, f"Signature{taken + 1}")
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
    parser.add_argument("--digest", default="SHA256")
    parser.add_argument("--policy")
    parser.add_argument("--with", dest="options", action="append", default=[])
    parser.add_argument("files", nargs="+")
    args = parser.parse_args()
    signer = signers.SimpleSigner.load(args.key, args.cert, ca_chain_files=args.chain, prefer_pss="pss" in args.options)
    for path in args.files:
        seconds = statistics.median(sign(path, signer, args) for _ in range(args.runs))
        print(json.dumps({"file": path, "seconds": seconds}), flush=True)


if __name__ == "__main__":
    main()
