"""Runs programs in one Python, which takes longer to start than most of what they do.

    serve.py <requests

Each line of standard input is a JSON array, the path of a program and its arguments, and is
answered with what the program prints and an empty line. What a program raises ends this one.
"""

import json
import runpy
import sys

for line in sys.stdin:
    sys.argv = json.loads(line)
    runpy.run_path(sys.argv[0], run_name="__main__")
    print(flush=True)
