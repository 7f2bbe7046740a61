"""Signs a small XML document in parallel by the library of xmlsec1, with RSASSA-PSS:
signxml.py key.pem cert.pem count out.xml"""

import sys

import xmlsec
from lxml import etree

TEMPLATE = """
<Signature xmlns="http://www.w3.org/2000/09/xmldsig#" Id="{id}"><SignedInfo>
<CanonicalizationMethod Algorithm="http://www.w3.org/2001/10/xml-exc-c14n#"/>
<SignatureMethod Algorithm="http://www.w3.org/2007/05/xmldsig-more#sha256-rsa-MGF1"/>
<Reference URI=""><Transforms>
<Transform Algorithm="http://www.w3.org/2002/06/xmldsig-filter2">
<XPath xmlns="http://www.w3.org/2002/06/xmldsig-filter2" xmlns:ds="http://www.w3.org/2000/09/xmldsig#"
 Filter="subtract">/descendant::ds:Signature</XPath></Transform>
</Transforms><DigestMethod Algorithm="http://www.w3.org/2001/04/xmlenc#sha256"/><DigestValue/></Reference>
</SignedInfo><SignatureValue/><KeyInfo><X509Data><X509Certificate/></X509Data></KeyInfo></Signature>
"""

key, cert, count, path = sys.argv[1:]
text = b"<letter><sum>842</sum></letter>"
for i in range(int(count)):
    signature = TEMPLATE.strip().format(id=f"Sig{i + 1}").encode()
    root = etree.fromstring(text.replace(b"</letter>", signature + b"</letter>"))
    context = xmlsec.SignatureContext()
    context.key = xmlsec.Key.from_file(key, xmlsec.KeyFormat.PEM)
    context.key.load_cert_from_file(cert, xmlsec.KeyFormat.PEM)
    context.sign(root[-1])
    text = etree.tostring(root)
with open(path, "wb") as out:
    out.write(text)
