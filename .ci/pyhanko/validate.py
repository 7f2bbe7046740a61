"""Validates the signatures embedded in PDF files with pyHanko, offline.

    validate.py [--root anchor.pem]... file...

Prints one JSON object per line, one for each file in the order given. The only
trust anchors are those named; nothing is fetched, and revocation counts only
where it is embedded. What pyHanko refuses in a strict reading, above all hybrid
files, is read again leniently. Encrypted files are opened with the empty password.
"""

import argparse
import json
import logging

from pyhanko.keys import load_cert_from_pemder
from pyhanko.pdf_utils.crypt import AuthStatus
from pyhanko.pdf_utils.reader import PdfFileReader
from pyhanko.sign.diff_analysis import SuspiciousModification
from pyhanko.sign.validation import validate_pdf_signature, validate_pdf_timestamp
from pyhanko_certvalidator import ValidationContext


def name(member):
    return member.name if member is not None else ""


def timestamp(status):
    if status is None:
        return None
    return {
        "time": status.timestamp.isoformat(),
        "intact": status.intact,
        "valid": status.valid,
        "trusted": status.trusted,
    }


def verdict(embedded, roots):
    """One signature's verdict; pyHanko throws on what it will not judge."""
    context = ValidationContext(trust_roots=roots, allow_fetching=False, revocation_mode="soft-fail")
    is_timestamp = embedded.sig_object_type == "/DocTimeStamp"
    validate = validate_pdf_timestamp if is_timestamp else validate_pdf_signature
    status = validate(embedded, context)
    return {
        "intact": status.intact,
        "valid": status.valid,
        "trusted": status.trusted,
        "problem": name(status.trust_problem_indic),
        "coverage": name(status.coverage),
        "modificationLevel": name(status.modification_level),
        "suspicion": str(embedded.diff_result) if isinstance(embedded.diff_result, SuspiciousModification) else "",
        "docMDPOK": status.docmdp_ok,
        "bottomLine": status.trusted and status.docmdp_ok is not False if is_timestamp else status.bottom_line,
        "timestamp": None if is_timestamp else timestamp(status.timestamp_validity),
    }


def signature(embedded, roots):
    about = {
        "field": embedded.field_name,
        "type": embedded.sig_object_type,
        "subFilter": embedded.sig_object.get("/SubFilter", ""),
    }
    try:
        return about | verdict(embedded, roots)
    except Exception as error:  # whatever the file provoked is the verdict
        return about | {"error": f"{type(error).__name__}: {error}"}


def reading(path, roots, strict):
    try:
        with open(path, "rb") as stream:
            reader = PdfFileReader(stream, strict=strict)
            if reader.encrypted and reader.decrypt(b"").status == AuthStatus.FAILED:
                raise ValueError("the password is not the empty one")
            signatures = [signature(one, roots) for one in reader.embedded_signatures]
            return {"file": path, "encrypted": reader.encrypted, "signatures": signatures}
    except Exception as error:
        return {"file": path, "error": f"{type(error).__name__}: {error}", "signatures": []}


def problems(report):
    """What pyHanko would not judge, and why."""
    return [part["error"] for part in [report, *report["signatures"]] if "error" in part]


def report(path, roots):
    strict = reading(path, roots, strict=True)
    refused = problems(strict)
    if not refused:
        return strict
    lenient = reading(path, roots, strict=False)
    return lenient | {"lenient": refused[0]} if len(problems(lenient)) < len(refused) else strict


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--root", action="append", default=[])
    parser.add_argument("files", nargs="+")
    args = parser.parse_args()
    logging.disable(logging.CRITICAL)
    roots = [load_cert_from_pemder(path) for path in args.root]
    for path in args.files:
        print(json.dumps(report(path, roots)), flush=True)


if __name__ == "__main__":
    main()
