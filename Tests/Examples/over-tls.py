#!/usr/bin/python3
"""Plays an example against a portal over https on loopback: with an untrusted certificate, and with a trusted one.

usage: over-tls.py PROGRAM [--types]. With --types the form has a password field. Mistakes are printed and counted in the exit status.
"""
import base64, hashlib, http.server, json, os, ssl, subprocess, sys, tempfile, threading

got = []
bodies = []
is_open = False
action = "/login"
typed = ""

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
        form = ('<form action="%s" method="post"><input type="hidden" name="a" value="b">%s'
                '<input type="checkbox" name="terms"><input type="submit" name="go" value="Go"></form>')
        self.answer(200, form % (action, typed))

    def do_POST(self):
        global is_open
        body = self.rfile.read(int(self.headers["Content-Length"])).decode()
        got.append((self.scheme, "POST", self.path))
        bodies.append(body)
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

def key_of(certificate):
    """Computes the pin with openssl, another way than that of the examples."""
    key = subprocess.run(["openssl", "x509", "-in", certificate, "-noout", "-pubkey"], check=True, stdout=subprocess.PIPE).stdout
    der = subprocess.run(["openssl", "pkey", "-pubin", "-outform", "der"], input=key, check=True, stdout=subprocess.PIPE).stdout
    return base64.b64encode(hashlib.sha256(der).digest()).decode()

def ask(program, folder, method, parameters, **variables):
    got.clear()
    bodies.clear()
    network = {"ssid": "x", "ssidHex": "78", "interface": "lo", "security": "open", "autoJoined": False, "justJoined": False,
               "chosenHelper": False}
    link = {"attempt": "a", "association": "b", "interface": "lo", "index": 1, "addresses": [], "gateways": [], "nameservers": [],
            "probeURL": plain + "/probe", "probeExpect": "204"}
    call = json.dumps({"method": "org.hotspotd.Helper." + method, "parameters": {"network": network, "link": link, **parameters}})
    environment = {"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", "TMPDIR": folder, **variables}
    ended = subprocess.run([program], input=call.encode() + b"\0", stdout=subprocess.PIPE, env=environment, timeout=60)
    return json.loads(ended.stdout.rstrip(b"\0"))["parameters"]

def log_in(program, folder, known=None, **more):
    global is_open
    is_open = False
    parameters = {"portal": {"origin": secure, "kind": "aroma", "pin": pin}, "consent": True, **more}
    reply = ask(program, folder, "Authenticate", parameters, **(known or {}))["reply"]
    if reply["result"] in ("success", "uiRequired") and (reply.get("portal") or {}).get("pin") != pin:
        wrong.append("a reply without the portal's key: %s" % reply)
    return reply["result"], [request for request in got if request[1] == "POST"]

with tempfile.TemporaryDirectory() as folder:
    key, certificate = folder + "/key.pem", folder + "/certificate.pem"
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=127.0.0.1",
                    "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", key, "-out", certificate], check=True, stderr=subprocess.DEVNULL)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    secure = "https://127.0.0.1:%d" % serve(Portal, context)
    plain = "http://127.0.0.1:%d" % serve(PlainPortal)
    known = {"SSL_CERT_FILE": certificate, "CURL_CA_BUNDLE": certificate}
    pin = key_of(certificate)
    # The key is random, and one in 64 begins with any given letter.
    other = ("y" if pin[0] == "x" else "x") + pin[1:]
    wrong = []
    seen = log_in(sys.argv[1], folder)
    if seen != ("temporaryFailure", []):
        wrong.append("an untrusted certificate: %s" % (seen,))
    found = ask(sys.argv[1], folder, "Evaluate", {}, **known)
    if found.get("confidence") != "high" or found.get("portal") != {"origin": secure, "kind": "aroma", "pin": pin}:
        wrong.append("Evaluate: %s" % found)
    seen = log_in(sys.argv[1], folder, known)
    if seen != ("success", [("https", "POST", "/login")]):
        wrong.append("a good certificate: %s" % (seen,))
    for portal in {"origin": secure, "kind": "aroma", "pin": other}, {"origin": secure, "kind": "aroma"}:
        seen = log_in(sys.argv[1], folder, known, portal=portal)
        if seen != ("uiRequired", []):
            wrong.append("a portal with another key than the one that was agreed to: %s" % (seen,))
    if sys.argv[2:] == ["--types"]:
        typed = '<input type="password" name="word">'
        seen = log_in(sys.argv[1], folder, known, credential={"word": "opensesame"})
        if seen[0] != "success" or not any("word=opensesame" in body for body in bodies):
            wrong.append("a stored answer for this key: %s, %s" % (seen, bodies))
        seen = log_in(sys.argv[1], folder, known, credential={"word": "opensesame"}, portal={**portal, "pin": other})
        if seen != ("uiRequired", []):
            wrong.append("a stored answer for another key: %s" % (seen,))
        action = "https://localhost:%d/login" % int(secure.rsplit(":", 1)[1])
        seen = log_in(sys.argv[1], folder, known, credential={"word": "opensesame"})
        if seen != ("unsupportedNetwork", []):
            wrong.append("a stored answer, and a form that leads to another origin: %s" % (seen,))
        typed = ""
    action = plain + "/login"
    seen = log_in(sys.argv[1], folder, known)
    if seen != ("unsupportedNetwork", []):
        wrong.append("a form that leads from https to http: %s" % (seen,))
    print("\n".join(wrong) or "ok")
    sys.exit(len(wrong))
