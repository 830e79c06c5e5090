#!/usr/bin/python3
"""A hotspot helper as a Varlink server: one process for many commands, on a socket that the daemon or systemd hands over.

Needs the package varlink (python3-varlink, or pip install varlink), and the interface's text beside it or in the folder that
VARLINK_DIR names; it is installed as /usr/share/hotspotd/varlink/org.hotspotd.Helper.varlink.
"""
import base64, hashlib, html.parser, http.client, os, re, socket, ssl, sys, time
from urllib.parse import urlencode, urljoin, urlsplit
import varlink

FOLDER = os.environ.get("VARLINK_DIR", "/usr/share/hotspotd/varlink")
service = varlink.Service(vendor="Aroma", product="aroma", version="1", url="https://aroma.example", interface_dir=FOLDER)

TYPED = {"text": "text", "number": "text", "textarea": "text", "password": "password", "email": "email", "tel": "phone"}

def key_of(certificate):
    """Returns what identifies a portal: the SHA-256 of its certificate's public key, in base64."""
    def inside(at):  # The begin and the end of the content of a DER element.
        length, at = certificate[at + 1], at + 2
        more = length - 128 if length > 127 else 0
        length = int.from_bytes(certificate[at:at + more], "big") if more else length
        return at + more, at + more + length
    at = inside(inside(0)[0])[0]
    before = 6 if certificate[at] == 0xA0 else 5  # The version, if there is one, number, algorithm, issuer, time, subject.
    for _ in range(before):
        at = inside(at)[1]
    return base64.b64encode(hashlib.sha256(certificate[at:inside(at)[1]]).digest()).decode()

def ask(link, url, body=None, pin=None):
    """Makes one request over this link and no other, with certificates checked over https; a redirect is an answer. With a pin, sends
    it only to a server with that key. Returns the status, the redirect's target, the text, and over https the server's key."""
    where = urlsplit(url)
    kind = {"http": http.client.HTTPConnection, "https": http.client.HTTPSConnection}[where.scheme]
    connection = kind(where.hostname, where.port, timeout=10)
    family, _, _, _, address = socket.getaddrinfo(where.hostname, connection.port, type=socket.SOCK_STREAM)[0]
    connection.sock = socket.socket(family)
    connection.sock.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, link["interface"].encode())
    connection.sock.settimeout(10)
    connection.sock.connect(address)
    key = None
    if where.scheme == "https":
        connection.sock = ssl.create_default_context().wrap_socket(connection.sock, server_hostname=where.hostname)
        key = key_of(connection.sock.getpeercert(True))
    if pin not in (None, key):
        raise OSError("the portal has another key now")
    headers = {} if body is None else {"Content-Type": "application/x-www-form-urlencoded"}
    path = (where.path or "/") + ("?" + where.query if where.query else "")
    connection.request("GET" if body is None else "POST", path, body, headers)
    answer = connection.getresponse()
    return answer.status, answer.getheader("Location"), answer.read(262144).decode(errors="replace"), key

def onward(origin, reference):
    """Returns the address that a page or a redirect names; refuses one that leads from https to http."""
    target = urljoin(origin, reference)
    if urlsplit(origin).scheme == "https" and urlsplit(target).scheme != "https":
        raise OSError("the portal leads from https to http")
    return target

def look(link):
    """Returns the address, text and key of the portal's page; None if the probe's answer is the expected one."""
    url = link.get("probeURL") or "http://connectivitycheck.gstatic.com/generate_204"
    status, location, text, key = ask(link, url)
    expect = link.get("probeExpect") or "204"
    if (status == int(expect)) if expect.isdigit() else (status == 200 and text.rstrip("\r\n") == expect):
        return None
    for _ in range(5):
        if not location:
            break
        url = onward(url, location)
        status, location, text, key = ask(link, url)
    return url, text, key

class Form(html.parser.HTMLParser):
    """The first form of a page: its action, and the fields that a browser sends, with the first of several buttons."""
    def __init__(self, text):
        super().__init__()
        self.action, self.method, self.fields, self.inside, self.pressed = None, "get", [], False, False
        self.area = self.select = None
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attributes):
        has = {key: value or "" for key, value in attributes}
        if tag == "form" and self.action is None:
            self.action, self.method, self.inside = has.get("action", ""), has.get("method", "get").lower(), True
        elif not self.inside or "disabled" in has:
            return
        elif tag == "input":
            self.add((has.get("type") or "text").lower(), has, has.get("value", ""))
        elif tag == "button":
            self.add((has.get("type") or "submit").lower(), has, has.get("value", ""))
        elif tag == "textarea":
            self.area = [has, ""]
        elif tag == "select":
            self.select = [has, []]
        elif tag == "option" and self.select:
            self.select[1].append([has.get("value"), "", "selected" in has])

    def add(self, kind, has, value):
        name = has.get("name", "")
        if kind in ("submit", "image"):
            if self.pressed:
                return
            self.pressed = True
        if kind == "image":
            self.fields += [("submit", (name + "." if name else "") + axis, "1") for axis in "xy"]
        elif name and (kind != "radio" or "checked" in has):
            self.fields.append((kind, name, value))

    def handle_data(self, data):
        if self.area:
            self.area[1] += data
        elif self.select and self.select[1]:
            self.select[1][-1][1] += data

    def handle_endtag(self, tag):
        if tag == "textarea" and self.area:
            self.add("textarea", self.area[0], self.area[1].removeprefix("\n"))
            self.area = None
        elif tag == "select" and self.select:
            (has, options), self.select = self.select, None
            chosen = [option for option in options if option[2]]
            # A browser sends the last selected option, or else the first; of a list with multiple choice, all selected ones.
            for value, text, _ in chosen if "multiple" in has else chosen[-1:] or options[:1]:
                self.add("select", has, " ".join(text.split()) if value is None else value)
        self.inside = self.inside and tag != "form"

def origin_of(url):
    return "{0.scheme}://{0.netloc}".format(urlsplit(url))

def named(seen):
    """Returns the portal for the answer. Over https, stored answers are released only if its key is named."""
    return {"origin": origin_of(seen[0]), "kind": "aroma", **({"pin": seen[2]} if seen[2] else {})}

def log_in(call):
    link = call["link"]
    seen = look(link)
    if not seen:
        return {"result": "success"}
    page, form, portal = seen[0], Form(seen[1]), named(seen)
    if form.action is None:
        return {"result": "temporaryFailure", "reason": "The portal's page has no form today."}
    # The user's answers and the stored ones are only for the portal of the call, with the same key.
    asked, target = call.get("portal") or {}, onward(page, form.action)
    is_known = all(asked.get(word) == portal.get(word) for word in ("origin", "pin"))
    is_here = origin_of(target) == portal["origin"]
    given = {**((call.get("credential") or {}) if is_here else {}), **(call.get("answers") or {})} if is_known else {}
    accepted = is_known and call["consent"]
    wanted, pairs = [], []
    for kind, name, value in form.fields:
        if kind == "checkbox":
            if accepted or given.get(name) in ("yes", "true"):
                pairs.append((name, value or "on"))
            else:
                wanted.append({"name": name, "label": "I accept the terms", "kind": "checkbox", "required": True})
        elif kind in TYPED:
            if not value and not given.get(name):
                wanted.append({"name": name, "label": name, "kind": TYPED[kind], "required": True})
            pairs.append((name, given.get(name) or value))
        elif kind in ("hidden", "submit", "radio", "select"):
            pairs.append((name, value))
    question = {"result": "uiRequired", "portal": portal, "prompt": {"title": call["network"]["ssid"], "fields": wanted}}
    if wanted:
        return question
    body, pin = urlencode(pairs), portal.get("pin") if is_here else None
    if form.method != "post":
        target, body = target.split("?")[0] + "?" + body, None
    status, _, text, _ = ask(link, target, body, pin)
    # The probe decides, not the portal's page. Some portals open a moment later.
    for _ in range(3):
        if not look(link):
            exit_link = re.search(r'href="([^"]*log-?(?:out|off)[^"]*)"', text, re.IGNORECASE)
            memory = {"logoff": onward(target, html.unescape(exit_link[1]))} if exit_link else {}
            return {"result": "success", "portal": portal, "session": {"memory": memory}}
        time.sleep(1)
    return {"result": "temporaryFailure", "reason": "The portal answered with %d and is still closed." % status}

class ServiceRequestHandler(varlink.RequestHandler):
    service = service

def reply(**call):
    try:
        return {"reply": log_in(call)}
    except (OSError, http.client.HTTPException, LookupError, ValueError) as error:
        # Only the kind of the error: its text may contain an answer of the user.
        return {"reply": {"result": "temporaryFailure", "reason": "The portal cannot be reached (%s)." % type(error).__name__}}

@service.interface("org.hotspotd.Helper")
class Helper:
    def Describe(self):
        return {"name": "aroma-varlink", "displayName": "aroma varlink", "version": "1"}

    def FilterScanList(self, networks):
        return {"annotations": [{"ssidHex": network["ssidHex"], "confidence": "low"} for network in networks
                                if network["security"] == "open"]}

    def Evaluate(self, network, link):
        try:
            seen = look(link)
        except (OSError, http.client.HTTPException, ValueError):
            seen = None
        is_ours = seen and Form(seen[1]).action is not None
        return {"confidence": "low", "portal": named(seen)} if is_ours else {"confidence": "none"}

    # The package hands parameters over in the order of the interface's text; newer ones come last.
    def Authenticate(self, network, link, portal=None, credential=None, consent=False, session=None, *newer):
        return reply(network=network, link=link, portal=portal, credential=credential, consent=consent)

    def PresentUI(self, network, link, portal=None, answers=None, credential=None, consent=False, session=None, *newer):
        return reply(network=network, link=link, portal=portal, answers=answers, credential=credential, consent=consent)

    def Maintain(self, network, link, session=None):
        seen = look(link)
        return {"reply": {"result": "authenticationRequired", "portal": named(seen)} if seen else {"result": "success"}}

    def Logoff(self, network, link, session=None):
        memory = (session or {}).get("memory") or {}
        if "logoff" in memory:
            ask(link, memory["logoff"])
        return {"reply": {"result": "success" if "logoff" in memory else "failure"}}

class Server(varlink.ThreadingServer):
    # Seconds without a call after which the process ends. The daemon starts another one for the next call, and ends an idle one after
    # 30 s at the latest.
    timeout = 20
    idle = False

    def handle_timeout(self):
        self.idle = True

if __name__ == "__main__":
    # With LISTEN_FDS in the environment the address does not matter.
    address = sys.argv[1] if len(sys.argv) > 1 else "unix:/tmp/aroma-varlink.sock"
    # The end of the block waits for running commands.
    with Server(address, ServiceRequestHandler) as server:
        while not server.idle:
            server.handle_request()
