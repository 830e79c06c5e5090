#!/usr/bin/python3 -I
"""A hotspot helper: it reads the form on the portal's page, asks the user for its fields, and sends it. Needs curl and openssl."""
import html, json, os, re, subprocess, sys, urllib.parse
ASKED = {"text": "text", "password": "password", "email": "email", "tel": "phone", "checkbox": "checkbox"}
KEY = "openssl x509 -noout -pubkey | openssl pkey -pubin -outform der | openssl dgst -sha256 -binary | openssl base64"

def answer(**parameters):
    sys.exit(print(json.dumps({"parameters": parameters}), end="\0", flush=True))

def fetch(url, *options, body=""):  # Makes one request over this link and no other. The body is no argument: every user can read those.
    curl = ["curl", "-sm10", "--noproxy", "*", "--interface", call["link"]["interface"], "-w", "\f%{http_code} %{url_effective} %{certs}"]
    done = subprocess.run([*curl, *options, url], input=body.encode(), stdout=subprocess.PIPE)
    if done.returncode: answer(confidence="none", reply={"result": "temporaryFailure", "reason": "The portal cannot be reached."})
    text, status, url, certificate = re.fullmatch(r"(.*)\f(\d+) (\S+) (.*)", done.stdout.decode(errors="replace"), re.DOTALL).groups()
    key = subprocess.check_output(KEY, shell=True, input=certificate, text=True).strip() if url.startswith("https:") else None
    return status, text, url, {"origin": "/".join(url.split("/")[:3]), "kind": "aroma", "pin": key}

def look():  # Returns the portal's page, its address and the portal; None if the Internet answers.
    status, *page = fetch(call["link"].get("probeURL") or "http://connectivitycheck.gstatic.com/generate_204", "-L")
    return None if (call["link"].get("probeExpect") or "204") in (status, page[0].strip()) else page

def form_of(text):  # Returns the attributes of the first form and of its fields, with the first of several buttons.
    form, quoted = "".join(re.findall(r"(?is)<form.*?(?=</form|\Z)", text)[:1]), r"""([\w-]+)=("[^"]*"|'[^']*'|[^\s"']+)"""
    tags = [{"type": {"input": "text", "button": "submit"}.get(tag.lower()), "value": ""}
            | {name.lower(): html.unescape(value.strip("\"'")) for name, value in re.findall(quoted, rest)}
            for tag, rest in re.findall(r"(?i)<(form|input|button)\b([^>]*)", form)]
    return [tag for tag in tags if tag["type"] != "submit" or tag is next(other for other in tags if other["type"] == "submit")]

def log_in(page, url, portal):
    form, *fields = form_of(page) or [{"action": "none:"}]
    if not (target := urllib.parse.urljoin(url, form.get("action", ""))).startswith(portal["origin"] + "/"):
        answer(reply={"result": "unsupportedNetwork", "reason": "No form of the page stays with the portal; nothing was sent."})
    is_same = all((call.get("portal") or {}).get(word) == portal[word] for word in ("origin", "pin"))  # Else the answers are not for it.
    given, asked, pairs = {**(call.get("credential") or {}), **(call.get("answers") or {})} if is_same else {}, [], []
    for name, kind, value in ((field["name"], field["type"], field["value"]) for field in fields if "name" in field):
        if kind in ASKED:
            label, value = ("I accept the terms", value or "on") if kind == "checkbox" else (name, given.get(name) or value or None)
            asked.append({"name": name, "label": label, "kind": ASKED[kind], "required": True, "value": value if kind == "text" else None})
            given[name] = "yes" if kind == "checkbox" and is_same and call["consent"] else given.get(name, "no")
        pairs.append((name, value or ""))
    question = {"result": "uiRequired", "portal": portal, "prompt": {"title": call["network"]["ssid"], "fields": asked}}
    if any(given[field["name"]] in ("", "no", "false") for field in asked):
        return question
    options = ["--pinnedpubkey", f"sha256//{portal['pin']}", "--data", "@-"] + ["--get"] * (form.get("method", "").lower() != "post")
    text = fetch(target, *options, body=urllib.parse.urlencode(pairs))[1]
    question["prompt"]["message"] = "The portal did not accept this."
    return question if look() and form_of(text) else {"result": "success", "portal": portal}  # A form again: nothing is sent twice.

call = b""
while not call.endswith(b"\0"):
    call += os.read(0, 65536) or sys.exit()  # The end of the input: the command was cancelled.
method, call = (json.loads(call[:-1])[key] for key in ("method", "parameters"))
if "link" not in call:
    answer(**({"name": "aroma", "displayName": "Aroma portal", "version": "1"} if method.endswith("Describe") else {"annotations": []}))
page = look()
if method.endswith("Evaluate"):
    answer(confidence="high" if page and form_of(page[0]) else "none", portal=page and page[2])
if page and method.endswith("Maintain"):
    answer(reply={"result": "authenticationRequired", "portal": page[2]})
answer(reply={"result": "commandNotRecognized"} if method.endswith("Logoff") else log_in(*page) if page else {"result": "success"})
