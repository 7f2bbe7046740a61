"""Validates signatures in PDF files for the long term with pyHanko, offline.

    longterm.py [--root anchor.pem]... file...

Prints one JSON object per line, one for each file in the order given. The only trust
anchors are those named. Nothing is fetched, and revocation data is required for every
certificate below an anchor: what is not embedded is missing.
Encrypted files are opened with the empty password. For each signature:

"sufficient"  the data in the document security store is enough to trust the signature
              and its timestamp today, which is what level LT is for
"now"         what EN 319 102-1 5.6.3 comes to
"archived"    the time of the first document timestamp after the signature, if pyHanko
              found the whole chain of document timestamps to be valid. Without one the
              signature is of level LT at most
"later"       what EN 319 102-1 5.6.3 will come to in ten years, when the certificates of
              signers and timestamp authorities have expired, if the document is renewed
              until then
"""

import argparse
import asyncio
import json
import logging
from datetime import datetime, timedelta, timezone

from pyhanko.keys import load_cert_from_pemder
from pyhanko.pdf_utils.crypt import AuthStatus
from pyhanko.pdf_utils.reader import PdfFileReader
from pyhanko.sign.validation import validate_pdf_signature
from pyhanko.sign.validation.ades import ades_lta_validation, simulate_future_ades_lta_validation
from pyhanko.sign.validation.dss import DocumentSecurityStore
from pyhanko.sign.validation.errors import NoDSSFoundError
from pyhanko.sign.validation.policy_decl import (
    PdfSignatureValidationSpec,
    RevinfoOnlineFetchingRule,
    RevocationInfoGatheringSpec,
    SignatureValidationSpec,
)
from pyhanko_certvalidator.context import CertValidationPolicySpec
from pyhanko_certvalidator.policy_decl import REQUIRE_REVINFO, CertRevTrustPolicy
from pyhanko_certvalidator.registry import SimpleTrustManager

TEN_YEARS = timedelta(days=3653)


def specification(roots):
    return PdfSignatureValidationSpec(
        SignatureValidationSpec(
            cert_validation_policy=CertValidationPolicySpec(
                trust_manager=SimpleTrustManager.build(trust_roots=roots),
                revinfo_policy=CertRevTrustPolicy(REQUIRE_REVINFO),
            ),
            revinfo_gathering_policy=RevocationInfoGatheringSpec(RevinfoOnlineFetchingRule.LOCAL_ONLY),
        )
    )


def sufficient(embedded, roots):
    try:
        store = DocumentSecurityStore.read_dss(embedded.reader)
    except NoDSSFoundError:
        return False
    context = store.as_validation_context(
        {"trust_roots": roots, "allow_fetching": False, "revocation_mode": "require"}
    )
    return validate_pdf_signature(embedded, context).bottom_line


def indication(result):
    """PASSED, or the status with its sub-indication."""
    sub = result.ades_subindic
    return sub.status.name if sub.status.name == "PASSED" else f"{sub.status.name} {sub.name}"


def verdict(embedded, roots):
    spec = specification(roots)
    now = asyncio.run(ades_lta_validation(embedded, spec))
    archived = now.oldest_evidence_record_timestamp
    in_ten_years = datetime.now(timezone.utc) + TEN_YEARS
    later = asyncio.run(simulate_future_ades_lta_validation(embedded, spec, in_ten_years))
    return {
        "sufficient": sufficient(embedded, roots),
        "now": indication(now),
        "archived": archived and archived.isoformat(),
        "later": indication(later),
    }


def signature(embedded, roots):
    about = {"field": embedded.field_name}
    try:
        return about | verdict(embedded, roots)
    except Exception as error:  # whatever the file provoked is the verdict
        return about | {"error": f"{type(error).__name__}: {error}"}


def report(path, roots):
    try:
        with open(path, "rb") as stream:
            reader = PdfFileReader(stream)
            if reader.encrypted and reader.decrypt(b"").status == AuthStatus.FAILED:
                raise ValueError("the password is not the empty one")
            signatures = [signature(one, roots) for one in reader.embedded_regular_signatures]
            return {"file": path, "signatures": signatures}
    except Exception as error:
        return {"file": path, "error": f"{type(error).__name__}: {error}", "signatures": []}


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
