"""Prints its arguments, one a line."""

import sys

for word in sys.argv[1:]:
    print(word)
