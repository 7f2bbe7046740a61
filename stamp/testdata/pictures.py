"""Makes the JPEGs here, of kinds that Go cannot encode: python3 pictures.py (Pillow 13.0.0).

Each has 48 by 32 pixels: quarters of red and green above blue and yellow. A YCCK file
is a CMYK one whose samples are meant otherwise, as the marker of Adobe says.
"""

from PIL import Image

QUARTERS = ((255, 0, 0), (0, 255, 0), (0, 0, 255), (255, 255, 0))


def picture(mode, colour):
    image = Image.new(mode, (48, 32))
    for i, quarter in enumerate(QUARTERS):
        x, y = i % 2 * 24, i // 2 * 16
        image.paste(colour(*quarter), (x, y, x + 24, y + 16))
    return image


def cmyk(r, g, b):
    return 255 - r, 255 - g, 255 - b, 0


def ycck(r, g, b):  # as stored: Y, Cb and Cr of cyan, magenta and yellow as if they were light; black inverted
    r, g, b, _ = cmyk(r, g, b)
    y = 0.299 * r + 0.587 * g + 0.114 * b
    stored = y, 128 + (b - y) / 1.772, 128 + (r - y) / 1.402, 255
    return tuple(255 - max(0, min(255, round(v))) for v in stored)  # Pillow inverts CMYK


def save(name, image, **options):
    image.save(name, "JPEG", quality=90, **options)


save("progressive.jpg", picture("RGB", lambda *rgb: rgb), progressive=True)
save("rgb.jpg", picture("RGB", lambda *rgb: rgb), keep_rgb=True)
save("cmyk.jpg", picture("CMYK", cmyk))
save("ycck.jpg", picture("CMYK", ycck))
with open("ycck.jpg", "rb") as f:
    b = f.read()
marker = b.index(b"Adobe")
with open("ycck.jpg", "wb") as f:
    f.write(b[: marker + 11] + b"\x02" + b[marker + 12 :])
