"""A debuginfod server on the loopback that sends what the file `mode` in the current folder says.

    real       the file `debug`
    announced  600 MB, as its header says
    endless    as many bytes as are taken, without a length
    packed     4 MB that are 4 GB
    slow       200 KB a second, for ever

It prints its port, and writes the path of each request to the file `asked`.
"""
import http.server
import time
import zlib

BLOCK = bytes(1 << 20)


def packed():
    compress = zlib.compressobj(9, wbits=31)
    for _ in range(4096):
        yield compress.compress(BLOCK)
    yield compress.flush()


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        with open("asked", "a") as asked:
            print(self.path, file=asked)
        mode = open("mode").read().strip()
        self.send_response(200)
        try:
            getattr(self, mode)()
        except OSError:
            pass

    def begin(self, **headers):
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()

    def real(self):
        content = open("debug", "rb").read()
        self.begin(Content_Length=str(len(content)))
        self.wfile.write(content)

    def announced(self):
        self.begin(Content_Length="600000000")
        for _ in range(600):
            self.wfile.write(BLOCK[:1000000])

    def endless(self):
        self.begin()
        while True:
            self.wfile.write(BLOCK)

    def packed(self):
        self.begin(Content_Encoding="gzip")
        for block in packed():
            self.wfile.write(block)

    def slow(self):
        self.begin()
        while True:
            self.wfile.write(BLOCK[:20000])
            time.sleep(0.1)

    def log_message(self, *_):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
server.daemon_threads = True
print(server.server_port, flush=True)
server.serve_forever()
