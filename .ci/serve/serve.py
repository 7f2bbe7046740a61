"""Runs programs in one Python, which takes longer to start than most of what they do.

    serve.py                      answers standard input on standard output
    serve.py socket module...     imports the modules, and answers whoever connects to a Unix socket,
                                  each in a process of its own

Each line of the input is a JSON array, the path of a program and its arguments, and is
answered with what the program prints and an empty line. What a program raises ends the answers:
with the process, or with the connection, where the traceback is the last that is sent.
"""

import importlib
import json
import os
import runpy
import socketserver
import sys


def answer():
    for line in sys.stdin:
        sys.argv = json.loads(line)
        runpy.run_path(sys.argv[0], run_name="__main__")
        print(flush=True)


class Connection(socketserver.BaseRequestHandler):
    def handle(self):
        for standard in 0, 1:
            os.dup2(self.request.fileno(), standard)
        sys.stderr = sys.stdout  # tracebacks; what C libraries print is not a part of the answer
        answer()

    def finish(self):
        sys.stdout.flush()


class Server(socketserver.ForkingMixIn, socketserver.UnixStreamServer):
    max_children = 100
    request_queue_size = 100

    def handle_error(self, request, client_address):
        sys.excepthook(*sys.exc_info())


if len(sys.argv) == 1:
    answer()
else:
    for module in sys.argv[2:]:
        importlib.import_module(module)
    with Server(sys.argv[1], Connection) as server:
        server.serve_forever()
