#!/usr/bin/python3
"""Plays an example against a portal over https on loopback: once with a certificate that nobody vouches for, once with one that is known.

usage: over-tls.py PROGRAM. What is wrong is printed, and is the exit status.
"""
import http.server, json, os, ssl, subprocess, sys, tempfile, threading

got = []
is_open = False
action = "/login"

class Portal(http.server.BaseHTTPRequestHandler):
    scheme = "https"

    def answer(self, status, text="", location=None):
        self.send_response(status)
        self.send_header("Content-Length", str(len(text)))
        if location:
            self.send_header("Location", location)
        self.end_headers()
        self.wfile.write(text.encode())

    def do_GET(self):
        got.append((self.scheme, "GET", self.path))
        if self.path == "/probe":
            return self.answer(204) if is_open else self.answer(302, location=secure + "/page")
        form = '<form action="%s" method="post"><input type="hidden" name="a" value="b"><input type="submit" name="go" value="Go"></form>'
        self.answer(200, form % action)

    def do_POST(self):
        global is_open
        self.rfile.read(int(self.headers["Content-Length"]))
        got.append((self.scheme, "POST", self.path))
        is_open = self.scheme == "https" and self.path == "/login"
        self.answer(200, "thank you")

    def log_message(self, *_):
        pass

class PlainPortal(Portal):
    scheme = "http"

def serve(kind, context=None):
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), kind)
    if context:
        server.socket = context.wrap_socket(server.socket, server_side=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server.server_port

def log_in(program, folder, **variables):
    global is_open
    is_open = False
    got.clear()
    network = {"ssid": "x", "ssidHex": "78", "interface": "lo", "security": "open", "autoJoined": False, "justJoined": False,
               "chosenHelper": False}
    link = {"attempt": "a", "association": "b", "interface": "lo", "index": 1, "addresses": [], "gateways": [], "nameservers": [],
            "probeURL": plain + "/probe", "probeExpect": "204"}
    parameters = {"network": network, "link": link, "portal": {"origin": secure, "kind": "aroma"}, "consent": True}
    call = json.dumps({"method": "org.hotspotd.Helper.Authenticate", "parameters": parameters}).encode() + b"\0"
    environment = {"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", "TMPDIR": folder, **variables}
    ended = subprocess.run([program], input=call, stdout=subprocess.PIPE, env=environment, timeout=60)
    result = json.loads(ended.stdout.rstrip(b"\0"))["parameters"]["reply"]["result"]
    return result, [request for request in got if request[1] == "POST"]

with tempfile.TemporaryDirectory() as folder:
    key, certificate = folder + "/key.pem", folder + "/certificate.pem"
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=127.0.0.1",
                    "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", key, "-out", certificate], check=True, stderr=subprocess.DEVNULL)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    secure = "https://127.0.0.1:%d" % serve(Portal, context)
    plain = "http://127.0.0.1:%d" % serve(PlainPortal)
    known = {"SSL_CERT_FILE": certificate, "CURL_CA_BUNDLE": certificate}
    wrong = []
    seen = log_in(sys.argv[1], folder)
    if seen != ("temporaryFailure", []):
        wrong.append("a certificate that nobody vouches for: %s" % (seen,))
    seen = log_in(sys.argv[1], folder, **known)
    if seen != ("success", [("https", "POST", "/login")]):
        wrong.append("a good certificate: %s" % (seen,))
    action = plain + "/login"
    seen = log_in(sys.argv[1], folder, **known)
    if seen != ("temporaryFailure", []):
        wrong.append("a form that leads from https to http: %s" % (seen,))
    print("\n".join(wrong) or "ok")
    sys.exit(len(wrong))
