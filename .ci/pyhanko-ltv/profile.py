"""Validates signatures in PDF files by pyHanko's profile pades-lta, offline.

    profile.py [--root anchor.pem]... file...

Version 0.34 is the last that has the profile; its successor, which longterm.py beside
the newer version calls, goes by EN 319 102-1. Prints one JSON object per line, one for each
file in the order given. The only trust anchors are those named, and nothing is fetched.
The profile requires revocation data, but about the authority of the last document
timestamp: what proves that comes with the next one. "behind" says that a document
timestamp is before the signature: pyHanko then looks for the signature's revocation data in
the revision of that timestamp, where it cannot be.

What says that nothing was revoked was asked for after the signature, as EN 319 102-1 has it;
this version takes that for too new, when it is more than a second, unless "retroactive".
"""

import argparse
import json
import logging
import warnings

from pyhanko.keys import load_cert_from_pemder
from pyhanko.pdf_utils.reader import PdfFileReader
from pyhanko.sign.validation import RevocationInfoValidationType, validate_pdf_ltv_signature
from pyhanko_certvalidator import ValidationContext


def signature(embedded, roots):
    earlier = [one.signed_revision < embedded.signed_revision for one in embedded.reader.embedded_timestamp_signatures]
    about = {"field": embedded.field_name, "behind": any(earlier)}
    try:
        offline = {"trust_roots": roots, "allow_fetching": False, "retroactive_revinfo": True}
        status = validate_pdf_ltv_signature(
            embedded,
            RevocationInfoValidationType.PADES_LTA,
            offline,
            bootstrap_validation_context=ValidationContext(**offline, revocation_mode="soft-fail"),
        )
        return about | {"passed": status.bottom_line}
    except Exception as error:  # whatever the file provoked is the verdict
        return about | {"error": f"{type(error).__name__}: {error}"}


def report(path, roots):
    try:
        with open(path, "rb") as stream:
            reader = PdfFileReader(stream)
            if reader.encrypted:
                reader.decrypt(b"")
            return {"file": path, "signatures": [signature(one, roots) for one in reader.embedded_regular_signatures]}
    except Exception as error:
        return {"file": path, "error": f"{type(error).__name__}: {error}", "signatures": []}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--root", action="append", default=[])
    parser.add_argument("files", nargs="+")
    args = parser.parse_args()
    logging.disable(logging.CRITICAL)
    warnings.simplefilter("ignore")
    roots = [load_cert_from_pemder(path) for path in args.root]
    for path in args.files:
        print(json.dumps(report(path, roots)), flush=True)


if __name__ == "__main__":
    main()
