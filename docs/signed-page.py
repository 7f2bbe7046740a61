#!/usr/bin/env python3
"""Draws docs/signed-page.png: the page that the demo signs, its stamp, and what validators say.

It runs the demo, renders the signed file, and lays the page, the stamp and the reports out as
a PDF that pdftoppm turns into the picture. Needed: go, poppler-utils, the font DejaVu Sans Mono.
"""

import pathlib
import re
import subprocess
import tempfile
import textwrap
import zlib

ROOT = pathlib.Path(__file__).resolve().parent.parent
WIDTH, HEIGHT = 1752, 1092  # pixels; shown at half of it
PAGE_X, PAGE_Y, PAGE_HEIGHT = 40, 40, 1012
TEXT_X, TEXT_SIZE, LEADING, COLUMNS = 824, 18, 23.5, 80
STAMP_SCALE, STAMP_GAP = 3, 44  # pixels to the point; between the reports and the stamp
INK, MARK = "0.12 0.14 0.16", "0.09 0.29 0.45"


def run(*command, cwd):
    return subprocess.run(command, cwd=cwd, check=True, capture_output=True).stdout


def main():
    with tempfile.TemporaryDirectory() as folder:
        run("go", "build", "-o", f"{folder}/innsigli", "./cmd/innsigli", cwd=ROOT)
        run("./innsigli", "demo", cwd=folder)
        page = read_ppm(run("pdftoppm", "-scale-to-x", "-1", "-scale-to-y", str(PAGE_HEIGHT), "signed.pdf", cwd=folder))
        layout = pathlib.Path(folder, "layout.pdf")
        layout.write_bytes(compose(page, stamp(folder), reports(folder)))
        run("pdftoppm", "-r", "72", "-png", "-singlefile", str(layout), str(ROOT / "docs/signed-page"), cwd=folder)


def reports(folder):
    """Lines with their colours. What is too long for the picture is wrapped."""
    verify = "innsigli verify signed.pdf --trust sandbox-root.pem"
    foreign = "pdfsig -nocert signed.pdf"
    lines = [(MARK, "$ " + verify)]
    lines += output(folder, "./" + verify, "")
    lines += [(INK, ""), (MARK, "$ " + foreign)]
    return lines + output(folder, foreign, " " * 4)


def stamp(folder):
    """The rectangle of the signature's field, larger. The page is upright and begins at 0, 0."""
    rect = re.search(rb"/Rect ?\[([^]]+)\]", pathlib.Path(folder, "signed.pdf").read_bytes())
    left, bottom, right, top = (float(n) for n in rect[1].split())
    page_height = float(re.search(r"x ([\d.]+) pts", run("pdfinfo", "signed.pdf", cwd=folder).decode())[1])
    box = (left, page_height - top, right - left, top - bottom)
    x, y, width, height = (str(round(STAMP_SCALE * n)) for n in box)
    return read_ppm(run("pdftoppm", "-r", str(72 * STAMP_SCALE), "-x", x, "-y", y, "-W", width, "-H", height, "signed.pdf", cwd=folder))


def output(folder, command, indent):
    text = run(*command.split(), cwd=folder).decode()
    wrapped = (textwrap.wrap(line, COLUMNS, subsequent_indent=indent, drop_whitespace=True) or [""] for line in text.splitlines())
    return [(INK, part) for parts in wrapped for part in parts]


def read_ppm(ppm):
    width, height, pixels = re.match(rb"P6\s(\d+)\s(\d+)\s255\s(.*)", ppm, re.DOTALL).groups()
    return int(width), int(height), pixels


def sheet(name, picture, x, y):
    """Draws a picture as paper with a shadow. Its lower left corner is at x, y."""
    width, height, _ = picture
    drawn = []
    for grow in (6, 4, 2):
        drawn.append(f"{0.965 - 0.012 * (7 - grow)} g {x - grow} {y - grow - 2} {width + 2 * grow} {height + 2 * grow} re f")
    return drawn + [f"q {width} 0 0 {height} {x} {y} cm /{name} Do Q"]


def image(picture):
    width, height, pixels = picture
    return (f"/Type /XObject /Subtype /Image /Width {width} /Height {height} /ColorSpace /DeviceRGB /BitsPerComponent 8", pixels)


def compose(page, mark, lines):
    """The picture as a PDF of one page, a point to the pixel."""
    below = STAMP_GAP + mark[1]  # the reports
    first = HEIGHT - (HEIGHT - LEADING * (len(lines) - 1) - below) / 2 - TEXT_SIZE * 0.3
    drawn = [f"0.955 0.963 0.972 rg 0 0 {WIDTH} {HEIGHT} re f"]
    drawn += sheet("Page", page, PAGE_X, HEIGHT - PAGE_Y - page[1])
    drawn += sheet("Stamp", mark, TEXT_X, first - LEADING * (len(lines) - 1) - below)
    for i, (colour, line) in enumerate(lines):
        text = line.encode("cp1252").replace(b"\\", b"\\\\").replace(b"(", b"\\(").replace(b")", b"\\)")
        drawn.append(f"BT {colour} rg /Mono {TEXT_SIZE} Tf {TEXT_X} {first - i * LEADING:.1f} Td ({text.decode('latin-1')}) Tj ET")
    content = "\n".join(drawn).encode("latin-1")
    font = pathlib.Path(run("fc-match", "-f", "%{file}", "DejaVu Sans Mono", cwd=ROOT).decode()).read_bytes()
    return pdf(
        "<< /Type /Catalog /Pages 2 0 R >>",
        "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 {WIDTH} {HEIGHT}] /Contents 4 0 R "
        "/Resources << /XObject << /Page 5 0 R /Stamp 9 0 R >> /Font << /Mono 6 0 R >> >> >>",
        ("", content),
        image(page),
        "<< /Type /Font /Subtype /TrueType /BaseFont /DejaVuSansMono /Encoding /WinAnsiEncoding "
        f"/FirstChar 32 /LastChar 255 /Widths [{'602 ' * 224}] /FontDescriptor 7 0 R >>",
        "<< /Type /FontDescriptor /FontName /DejaVuSansMono /Flags 33 /FontBBox [-558 -375 718 1041] /ItalicAngle 0 "
        "/Ascent 928 /Descent -236 /CapHeight 729 /StemV 80 /FontFile2 8 0 R >>",
        (f"/Length1 {len(font)}", font),
        image(mark),
    )


def pdf(*objects):
    """A PDF of objects numbered from 1: dictionaries, or streams as (entries, content)."""
    out, offsets = bytearray(b"%PDF-1.7\n"), []
    for number, body in enumerate(objects, 1):
        offsets.append(len(out))
        if isinstance(body, tuple):
            packed = zlib.compress(body[1])
            body = f"<< {body[0]} /Filter /FlateDecode /Length {len(packed)} >>\nstream\n".encode() + packed + b"\nendstream"
        else:
            body = body.encode()
        out += b"%d 0 obj\n" % number + body + b"\nendobj\n"
    start = len(out)
    out += b"xref\n0 %d\n0000000000 65535 f \n" % (len(offsets) + 1)
    out += b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    out += b"trailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n" % (len(offsets) + 1, start)
    return bytes(out)


main()
