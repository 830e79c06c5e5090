#!/usr/bin/python3
"""A hotspot helper as a Varlink server: one process for many commands, on a socket that the daemon or systemd hands over.

Needs the package varlink (python3-varlink, or pip install varlink), and the interface's text beside it or in the folder that
VARLINK_DIR names; it is installed as /usr/share/hotspotd/varlink/org.hotspotd.Helper.varlink.
"""
import http.client, os, socket, sys
from urllib.parse import urljoin, urlsplit
import varlink

FOLDER = os.environ.get("VARLINK_DIR", "/usr/share/hotspotd/varlink")
service = varlink.Service(vendor="Aroma", product="aroma", version="1", url="https://aroma.example", interface_dir=FOLDER)

class ServiceRequestHandler(varlink.RequestHandler):
    service = service

def look(link):
    """The address of the portal's page, asked for over this link and no other; None if the Internet answers."""
    where = urlsplit(link["probeURL"])
    connection = http.client.HTTPConnection(where.hostname, where.port, timeout=10)
    connection.sock = socket.socket()
    connection.sock.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, link["interface"].encode())
    connection.sock.settimeout(10)
    connection.sock.connect((where.hostname, where.port or 80))
    connection.request("GET", where.path or "/")
    location = connection.getresponse().getheader("Location")
    return urljoin(link["probeURL"], location) if location else None

def named(page):
    return {"origin": "{0.scheme}://{0.netloc}".format(urlsplit(page)), "kind": "aroma"}

@service.interface("org.hotspotd.Helper")
class Helper:
    def Describe(self):
        return {"name": "aroma-varlink", "displayName": "aroma varlink", "version": "1"}

    def FilterScanList(self, networks):
        return {"annotations": [{"ssidHex": network["ssidHex"], "confidence": "low"} for network in networks
                                if network["security"] == "open"]}

    def Evaluate(self, network, link):
        page = look(link)
        return {"confidence": "low", "portal": named(page)} if page else {"confidence": "none"}

    def Authenticate(self, network, link, portal=None, credential=None, consent=False, session=None):
        page = look(link)
        if not page:
            return {"reply": {"result": "success"}}
        prompt = {"title": network["ssid"], "message": "Log in at " + page + " and confirm here.", "fields": []}
        return {"reply": {"result": "uiRequired", "portal": named(page), "prompt": prompt}}

    def PresentUI(self, network, link, answers, portal=None, credential=None, consent=False, session=None):
        if look(link):
            return {"reply": {"result": "temporaryFailure", "reason": "The portal still wants a login."}}
        return {"reply": {"result": "success"}}

    def Maintain(self, network, link, session=None):
        page = look(link)
        return {"reply": {"result": "authenticationRequired", "portal": named(page)} if page else {"result": "success"}}

    def Logoff(self, network, link, session=None):
        return {"reply": {"result": "failure", "reason": "This portal has no way to log off."}}

class Server(varlink.ThreadingServer):
    # Seconds without a call, after which the process ends; the daemon starts another one for the next call, and would end this one
    # after half a minute.
    timeout = 20
    idle = False

    def handle_timeout(self):
        self.idle = True

if __name__ == "__main__":
    # With LISTEN_FDS in the environment the address does not matter.
    address = sys.argv[1] if len(sys.argv) > 1 else "unix:/tmp/aroma-varlink.sock"
    # At the end of the block the commands that still run are finished.
    with Server(address, ServiceRequestHandler) as server:
        while not server.idle:
            server.handle_request()
