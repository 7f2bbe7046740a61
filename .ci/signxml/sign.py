"""Signs XML files with signxml, as enveloped XAdES signatures, and times it.

    sign.py --key key.pem --cert cert.pem [--chain chain.pem]... [--runs 5] [--output folder] file...

The canonicalization is exclusive, and the digests are SHA-256.

Prints one JSON object per line, one for each file: the median in seconds, from the bytes of the file to
those of the signed one. Starting Python is not counted. With a folder, each signed file is written there
under its own name.
"""

import argparse
import json
import pathlib
import statistics
import time

from cryptography.hazmat.primitives.serialization import load_pem_private_key
from lxml import etree
from signxml import CanonicalizationMethod, methods
from signxml.xades import XAdESSigner


def sign(path, key, certificates, args):
    """Signs one file in memory and returns how long that took."""
    content = path.read_bytes()
    began = time.perf_counter()
    root = etree.fromstring(content, etree.XMLParser(huge_tree=True))
    signer = XAdESSigner(method=methods.enveloped, c14n_algorithm=CanonicalizationMethod.EXCLUSIVE_XML_CANONICALIZATION_1_0)
    signed = etree.tostring(signer.sign(root, key=key, cert=certificates), xml_declaration=True, encoding="UTF-8")
    seconds = time.perf_counter() - began
    if args.output:
        (args.output / path.name).write_bytes(signed)
    return seconds


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--key", type=pathlib.Path, required=True)
    parser.add_argument("--cert", type=pathlib.Path, required=True)
    parser.add_argument("--chain", type=pathlib.Path, action="append", default=[])
    parser.add_argument("--root", action="append", default=[])  # of no use to a signer of level B
    parser.add_argument("--level", choices=["B"], default="B")
    parser.add_argument("--packaging", choices=["ENVELOPED"], default="ENVELOPED")
    parser.add_argument("--tsa")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--output", type=pathlib.Path)
    parser.add_argument("files", type=pathlib.Path, nargs="+")
    args = parser.parse_args()
    key = load_pem_private_key(args.key.read_bytes(), None)
    certificates = [path.read_text() for path in [args.cert, *args.chain]]
    for path in args.files:
        seconds = statistics.median(sign(path, key, certificates, args) for _ in range(args.runs))
        print(json.dumps({"file": str(path), "seconds": seconds}), flush=True)


if __name__ == "__main__":
    main()
