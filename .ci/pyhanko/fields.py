"""Adds empty signature fields to a PDF file with pyHanko.

    fields.py in.pdf out.pdf <fields.json

Standard input is a JSON array of objects: "name" (dots divide it), "box" (four
numbers; without, the field is invisible), "separate" (the widget is a kid of the
field), "lock" ("action", "fields", "permission") and "seed" ("flags" and the
constraints below, certificates as paths of PEM files, names as asn1crypto has them).
"""

import json
import sys

from asn1crypto import x509
from pyhanko.keys import load_cert_from_pemder
from pyhanko.pdf_utils.incremental_writer import IncrementalPdfFileWriter
from pyhanko.sign import fields


def certificate_constraints(about):
    subject, issuers = about.get("subject"), about.get("issuers")
    return fields.SigCertConstraints(
        flags=fields.SigCertConstraintFlags(about["flags"]),
        subjects=[load_cert_from_pemder(subject)] if subject else None,
        issuers=[load_cert_from_pemder(path) for path in issuers] if issuers else None,
        subject_dn=x509.Name.build(about["name"]) if "name" in about else None,
        key_usage=[fields.SigCertKeyUsage.read_from_sv_string(about["keyUsage"])] if "keyUsage" in about else None,
    )


def seed_value(about):
    permission = about.get("mdp")
    return fields.SigSeedValueSpec(
        flags=fields.SigSeedValFlags(about["flags"]),
        reasons=about.get("reasons"),
        subfilters=[fields.SigSeedSubFilter("/" + name) for name in about["subFilters"]] if "subFilters" in about else None,
        digest_methods=about.get("digests"),
        add_rev_info=about.get("revocation"),
        timestamp_server_url=about.get("timestamp"),
        timestamp_required="timestamp" in about,
        lock_document=fields.SeedLockDocument("/" + about["lockDocument"]) if "lockDocument" in about else None,
        seed_signature_type=fields.SeedSignatureType(fields.MDPPerm(permission) if permission else None) if permission is not None else None,
        cert=certificate_constraints(about["certificate"]) if "certificate" in about else None,
    )


def lock(about):
    return fields.FieldMDPSpec(fields.FieldMDPAction("/" + about["action"]), about.get("fields"))


def specification(about):
    permission = about.get("lock", {}).get("permission")
    return fields.SigFieldSpec(
        about["name"],
        box=tuple(about["box"]) if "box" in about else None,
        combine_annotation=not about.get("separate", False),
        field_mdp_spec=lock(about["lock"]) if "lock" in about else None,
        doc_mdp_update_value=fields.MDPPerm(permission) if permission else None,
        seed_value_dict=seed_value(about["seed"]) if "seed" in about else None,
    )


def main():
    source, target = sys.argv[1:]
    with open(source, "rb") as before, open(target, "wb") as after:
        writer = IncrementalPdfFileWriter(before)
        for about in json.load(sys.stdin):
            fields.append_signature_field(writer, specification(about))
        writer.write(after)


if __name__ == "__main__":
    main()
