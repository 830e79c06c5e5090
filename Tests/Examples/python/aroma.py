#!/usr/bin/python3
"""A hotspot helper: it accepts the terms on the portal's page, if the user did, and presses the button."""
import html, http.client, json, os, re, socket, sys
from urllib.parse import urlencode, urljoin, urlsplit

def ask(link, url, form=None):
    """One request over this link and no other. A redirect is an answer, too."""
    where = urlsplit(url)
    connection = http.client.HTTPConnection(where.hostname, where.port, timeout=10)
    connection.sock = socket.socket()
    connection.sock.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, link["interface"].encode())
    connection.sock.settimeout(10)
    connection.sock.connect((where.hostname, where.port or 80))
    headers = {"Content-Type": "application/x-www-form-urlencoded"} if form else {}
    path = (where.path or "/") + ("?" + where.query if where.query else "")
    connection.request("POST" if form else "GET", path, urlencode(form) if form else None, headers)
    answer = connection.getresponse()
    return answer.status, answer.getheader("Location"), answer.read(65536).decode(errors="replace")

def portal(link):
    """The address of the portal's page; None if the Internet answers."""
    status, location, _ = ask(link, link["probeURL"])
    return urljoin(link["probeURL"], location) if status in (301, 302, 303, 307) and location else None

def named(page):
    return {"origin": "{0.scheme}://{0.netloc}".format(urlsplit(page)), "kind": "aroma"}

def log_in(call):
    link, page = call["link"], portal(call["link"])
    if not page:
        return {"result": "success"}
    if not call["consent"] and call.get("answers", {}).get("terms") not in ("yes", "true"):
        field = {"name": "terms", "label": "I accept the house rules", "kind": "checkbox", "required": True}
        prompt = {"title": call["network"]["ssid"], "fields": [field], "termsURL": urljoin(page, "/terms")}
        return {"result": "uiRequired", "prompt": prompt, "portal": named(page)}
    token = re.search(r'name="token" value="([^"]*)"', ask(link, page)[2])
    if not token:
        return {"result": "temporaryFailure", "reason": "The portal's page looks different today."}
    ask(link, urljoin(page, "/login"), {"token": html.unescape(token[1]), "accept": "yes"})
    return {"result": "success", "portal": named(page), "session": {"memory": {"logoff": urljoin(page, "/logout")}}}

def answer(method, call):
    if method == "Describe":
        return {"name": "aroma", "displayName": "Aroma portal", "version": "1"}
    if method == "FilterScanList":
        return {"annotations": [{"ssidHex": network["ssidHex"], "security": "open", "confidence": "high"}
                                for network in call["networks"] if network["security"] == "open"]}
    if method == "Evaluate":
        page = portal(call["link"])
        return {"confidence": "high", "portal": named(page)} if page else {"confidence": "none"}
    if method in ("Authenticate", "PresentUI"):
        return {"reply": log_in(call)}
    if method == "Maintain":
        page = portal(call["link"])
        return {"reply": {"result": "authenticationRequired", "portal": named(page)} if page else {"result": "success"}}
    if method == "Logoff":
        memory = (call.get("session") or {}).get("memory") or {}
        if "logoff" in memory:
            ask(call["link"], memory["logoff"])
        return {"reply": {"result": "success" if "logoff" in memory else "failure"}}

def main():
    message = b""
    while not message.endswith(b"\0"):
        chunk = os.read(0, 65536)
        if not chunk:
            return  # The end of standard input: nobody waits any more.
        message += chunk
    call = json.loads(message[:-1])
    reply = answer(call["method"].rsplit(".", 1)[1], call.get("parameters", {}))
    reply = {"parameters": reply} if reply else {"error": "org.varlink.service.MethodNotFound", "parameters": {"method": call["method"]}}
    sys.stdout.write(json.dumps(reply) + "\0")

main()
