"""Answers with the canonical forms of documents, as libxml2 has them.

    c14n.py REQUESTS

REQUESTS is a file with a JSON array of {"Document": base64, "Forms": [form]}, where a form is
{"Method": "1.0", "1.1" or "exclusive", "Comments": bool, "Prefixes": [prefix], "Apex": number,
"Without": [[namespace, name]]}. Apex counts the elements in document order from 1; 0 is the
whole document. Each document is answered with a line, {"Error": text, "Forms": [base64]}.
"""

import base64
import ctypes
import ctypes.util
import json
import sys

xml = ctypes.CDLL(ctypes.util.find_library("xml2") or "libxml2.so.2")


class Node(ctypes.Structure):
    """What all of libxml2's nodes begin with, and its elements go on with."""


class Namespace(ctypes.Structure):
    _fields_ = [("next", ctypes.c_void_p), ("type", ctypes.c_int), ("href", ctypes.c_char_p)]


Node._fields_ = [
    ("private", ctypes.c_void_p),
    ("type", ctypes.c_int),
    ("name", ctypes.c_char_p),
    ("children", ctypes.POINTER(Node)),
    ("last", ctypes.POINTER(Node)),
    ("parent", ctypes.POINTER(Node)),
    ("next", ctypes.POINTER(Node)),
    ("prev", ctypes.POINTER(Node)),
    ("doc", ctypes.c_void_p),
    ("namespace", ctypes.POINTER(Namespace)),
]

ELEMENT, ATTRIBUTE, NAMESPACE = 1, 2, 18
QUIET, SUBSTITUTE, OFFLINE, HUGE = 32 | 64, 2, 2048, 1 << 19
MODES = {"1.0": 0, "exclusive": 1, "1.1": 2}

Visible = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)


def declare(name, result, *arguments):
    function = getattr(xml, name)
    function.restype, function.argtypes = result, arguments
    return function


pointer, number, text = ctypes.c_void_p, ctypes.c_int, ctypes.c_char_p
read = declare("xmlReadMemory", pointer, text, number, text, text, number)
free = declare("xmlFreeDoc", None, pointer)
root_of = declare("xmlDocGetRootElement", ctypes.POINTER(Node), pointer)
new_buffer = declare("xmlBufferCreate", pointer)
free_buffer = declare("xmlBufferFree", None, pointer)
content = declare("xmlBufferContent", pointer, pointer)
length = declare("xmlBufferLength", number, pointer)
output = declare("xmlOutputBufferCreateBuffer", pointer, pointer, pointer)
close = declare("xmlOutputBufferClose", number, pointer)
execute = declare(
    "xmlC14NExecute", number, pointer, Visible, pointer, number, pointer, number, pointer
)

Complaint = ctypes.CFUNCTYPE(None, pointer, pointer)
unheard = Complaint(lambda *_: None)  # of documents that are not valid, as no other is asked to be
declare("xmlSetStructuredErrorFunc", None, pointer, Complaint)(None, unheard)


def address(node):
    return ctypes.addressof(node.contents)


def children(node):
    child = node.contents.children
    while child:
        yield child
        child = child.contents.next


def elements(root):
    """The elements in document order."""
    pending = [root]
    while pending:
        element = pending.pop()
        yield element
        inner = [child for child in children(element) if child.contents.type == ELEMENT]
        pending.extend(reversed(inner))


def named(element, names):
    space = element.contents.namespace
    uri = space.contents.href if space else b""
    return [(uri or b"").decode(), element.contents.name.decode()] in names


def subset(root, form):
    """The addresses of all nodes of an element but its attributes and namespaces."""
    apex = root
    for count, element in enumerate(elements(root), 1):
        if count == form["Apex"]:
            apex = element
    inside, pending = set(), [apex]
    while pending:
        node = pending.pop()
        if node.contents.type == ELEMENT:
            if named(node, form["Without"] or []):
                continue
            pending.extend(children(node))
        inside.add(address(node))
    if not form["Apex"]:  # and what stands outside of the root
        sibling = root
        while sibling.contents.prev:
            sibling = sibling.contents.prev
        while sibling:
            if address(sibling) != address(root):
                inside.add(address(sibling))
            sibling = sibling.contents.next
    return inside


def filter_of(document, form):
    """The callback that has libxml2 leave nodes out; of a whole document, none."""
    if not form["Apex"] and not form["Without"]:
        return Visible()
    inside = subset(root_of(document), form)

    def visible(_, node, parent):
        kind = ctypes.cast(node, ctypes.POINTER(Node)).contents.type
        return int((parent if kind in (ATTRIBUTE, NAMESPACE) else node) in inside)

    return Visible(visible)


def prefixes(form):
    names = [prefix.encode() or b"#default" for prefix in form["Prefixes"] or []]
    return (text * (len(names) + 1))(*names, None)


def canonical(document, form):
    kept = filter_of(document, form)  # has to live as long as it is called
    buffer = new_buffer()
    try:
        sink = output(buffer, None)
        mode, names = MODES[form["Method"]], prefixes(form)
        status = execute(document, kept, None, mode, names, int(form["Comments"]), sink)
        close(sink)
        return ctypes.string_at(content(buffer), length(buffer)) if status >= 0 else None
    finally:
        free_buffer(buffer)


def answer(request):
    source = base64.b64decode(request["Document"])
    document = read(source, len(source), None, None, QUIET | SUBSTITUTE | OFFLINE | HUGE)
    if not document:
        return {"Error": "not well-formed"}
    try:
        forms = [canonical(document, form) for form in request["Forms"]]
    finally:
        free(document)
    if None in forms:
        return {"Error": "no canonical form"}
    return {"Forms": [base64.b64encode(form).decode() for form in forms]}


with open(sys.argv[1], encoding="utf-8") as requests:
    for request in json.load(requests):
        print(json.dumps(answer(request)))
