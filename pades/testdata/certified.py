"""Judges certified files with pyHanko: certified.py root.pem file...

By default pyHanko takes a new field that is shown for a change of what was certified, which is
stricter than Acrobat by its documentation. Here it may be there, and nothing else new. For each file it prints a line of what became of each signature.
"""

import sys

from pyhanko.keys import load_cert_from_pemder
from pyhanko.pdf_utils.reader import PdfFileReader
from pyhanko.sign.diff_analysis import DEFAULT_DIFF_POLICY, FormUpdatingRule, StandardDiffPolicy
from pyhanko.sign.diff_analysis.rules.form_field_rules import (
    GenericFieldModificationRule,
    SigFieldCreationRule,
    SigFieldModificationRule,
)
from pyhanko.sign.validation import validate_pdf_signature
from pyhanko_certvalidator import ValidationContext

root, paths = load_cert_from_pemder(sys.argv[1]), sys.argv[2:]
policy = StandardDiffPolicy(
    global_rules=DEFAULT_DIFF_POLICY.global_rules,
    form_rule=FormUpdatingRule(
        field_rules=[
            SigFieldCreationRule(allow_new_visible_after_certify=True),
            SigFieldModificationRule(),
            GenericFieldModificationRule(),
        ],
    ),
)
for path in paths:
    with open(path, "rb") as stream:
        verdicts = []
        for embedded in PdfFileReader(stream).embedded_signatures:
            context = ValidationContext(trust_roots=[root], allow_fetching=False, revocation_mode="soft-fail")
            status = validate_pdf_signature(embedded, context, diff_policy=policy)
            verdicts.append(f"{embedded.field_name} {status.modification_level.name} {status.bottom_line}")
        print(", ".join(verdicts))
