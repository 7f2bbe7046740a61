"""Verifies every signature in XML files with XML Security Library, the library of xmlsec1.

    verify.py [--root anchor.pem]... file...

Prints one JSON object per line, one for each file in the order given, with its signatures in document
order. With anchors, the signer is the first certificate in KeyInfo whose chain ends in one of them;
without, every certificate in KeyInfo is tried. Attributes Id, ID, id and xml:id are identifiers.
The library knows XML Signature alone: that an object is signed does not say which one, and nothing
is asked of XAdES. Debian's xmlsec1 is of an older version, which has no RSASSA-PSS.
"""

import argparse
import base64
import json

import xmlsec
from lxml import etree

DS = "{http://www.w3.org/2000/09/xmldsig#}"
IDENTIFIERS = "Id", "ID", "id"


def trusted(roots):
    """Those that the library may trust, when its certificates come from the signature."""
    keys = xmlsec.KeysManager()
    for root in roots:
        keys.load_cert(root, xmlsec.KeyFormat.PEM, xmlsec.KeyDataType.TRUSTED)
    return keys


def candidates(element):
    for text in element.findall(f"{DS}KeyInfo/{DS}X509Data/{DS}X509Certificate"):
        der = base64.b64decode("".join(text.itertext()))
        yield xmlsec.Key.from_memory(der, xmlsec.KeyFormat.CERT_DER)


def contexts(element, roots):
    """What may verify a signature, in turn. None is used twice: it keeps what it has seen."""
    if roots:
        yield xmlsec.SignatureContext(trusted(roots))
        return
    for key in candidates(element):
        context = xmlsec.SignatureContext()
        context.key = key
        yield context


def verdict(element, roots):
    problem = "no certificate in KeyInfo"
    for context in contexts(element, roots):
        try:
            context.verify(element)
            return {"valid": True}
        except Exception as error:  # whatever the file provoked is the verdict
            problem = f"{type(error).__name__}: {error}"
    return {"valid": False, "error": problem}


def report(path, roots):
    try:
        tree = etree.parse(path, etree.XMLParser(huge_tree=True, resolve_entities=False, no_network=True))
        xmlsec.tree.add_ids(tree.getroot(), IDENTIFIERS)
        signatures = [{"id": one.get("Id", "")} | verdict(one, roots) for one in tree.iter(f"{DS}Signature")]
        return {"file": path, "signatures": signatures}
    except Exception as error:
        return {"file": path, "error": f"{type(error).__name__}: {error}", "signatures": []}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--root", action="append", default=[])
    parser.add_argument("files", nargs="+")
    args = parser.parse_args()
    for path in args.files:
        print(json.dumps(report(path, args.root)), flush=True)


if __name__ == "__main__":
    main()
